/* SPDX-License-Identifier: MIT
 * Declarations shared by sandbox*.c. */
#ifndef CBX_DOCKER_SANDBOX_SANDBOX_INTERNAL_H
#define CBX_DOCKER_SANDBOX_SANDBOX_INTERNAL_H

#include "docker/sandbox/sandbox.h"
#include "docker/sandbox/sandbox_stream.h"

#include <pthread.h>
#include <stdatomic.h>

/* The state of a silent link (docker/engine/silence.h). */
enum cbx_link_stage { CBX_LINK_QUIET = 0, CBX_LINK_PINGED, CBX_LINK_ASKED };
struct cbx_link {
    enum cbx_link_stage stage;
    /* Time that a caller has waited in this stage; other time does not count. */
    int64_t throttled; /* ASKED: throttled periods until then; -1 = unknown */
    int64_t waited_ms;
    atomic_int silent; /* enum cbx_silent, permanent; any thread sets it */
    bool broken;       /* the connection broke, and may be opened again (sandbox_reattach.c) */
    atomic_bool ends;  /* cbx_sandbox_end was called: its end is no fault */
};

/* The standard input of the run (sandbox_input.c). */
struct cbx_sandbox_input {
    pthread_mutex_t lock;   /* protects all members below; send_lock is taken while it is held */
    struct cbx_buf waiting; /* bytes that were given, */
    size_t used;            /* number of them that were sent */
    uint64_t sent,
        /* bytes sent since this host attached, and bytes known to have left the supervisor's
         * queue */
        fed;
    bool has, open,
        /* the run has an input; cbx_sandbox_feed may add to it; no bytes are added any more */
        ended;
    bool runs;                  /* true after RUN was sent, until DONE arrives */
    bool cut, told;             /* the rest was lost; FEED_END was sent */
    uint64_t bytes;             /* number of bytes given, */
    struct cbx_sha256_sum *sum; /* and their hash */
    void (*has_room)(void *context);
    void *context;
};

void cbx_sandbox_input_init(struct cbx_sandbox_input *in);
void cbx_sandbox_input_done(struct cbx_sandbox_input *in);

/* cbx_sandbox_open_input, before RUN, takes the options' input, CBX_ETOOBIG. The others: after
 * RUN, sends as many bytes as fit; after DONE, drops the rest, and notes the given bytes in the
 * result. */
int cbx_sandbox_open_input(struct cbx_sandbox *sandbox, const struct cbx_run_options *options,
                           struct cbx_err *err);
void cbx_sandbox_start_input(struct cbx_sandbox *sandbox);
void cbx_sandbox_close_input(struct cbx_sandbox *sandbox, struct cbx_result *result);

/* A connection that broke is opened again: the supervisor has ended an input that was not
 * complete, and counts its bytes anew. */
void cbx_sandbox_reset_input(struct cbx_sandbox *sandbox);

/* True for a FED frame, which is consumed: more bytes are sent. */
bool cbx_sandbox_take_fed(struct cbx_sandbox *sandbox, const struct cbx_frame *frame);

struct cbx_sandbox {
    struct cbx_engine *engine;
    struct cbx_sandbox_config config;
    struct cbx_network_grant network; /* hosts of the proxy */
    struct cbx_proxy *proxy;          /* NULL = no host may be reached */
    struct cbx_attach *attach;
    struct cbx_link link;
    struct cbx_stream stream;
    struct cbx_sandbox_input input;
    pthread_mutex_t send_lock; /* held while a frame is sent */
    char id[CBX_CONTAINER_ID_CHARS + 1];
    uint8_t secret[CBX_SANDBOX_SECRET_BYTES];
    uint32_t lease_ms;
    struct cbx_sha256 policy_sha256; /* policy of the permit that claimed it */
    struct cbx_sha256 environment;   /* variables of the permit that claimed it */
    struct cbx_sha256 mounts;        /* digest of the permit's list; zero = none */
    json_t *mounted;                 /* mounts; NULL = none */
    struct cbx_sha256 granted;       /* digest from cbx_sandbox_give */
    struct cbx_sha256 ledger;        /* ledger of the entries sent to it (policies/ledger.h) */
    struct cbx_sha256 tag_mac;       /* MAC of the last tag; zero = none */
    char kernel[32], session[CBX_NAME_MAX + 1], principal[CBX_NAME_MAX + 1],
        policy[CBX_NAME_MAX + 1];
    struct cbx_limits limits;
    struct cbx_sandbox_layer layer;
    int64_t claimed_ms; /* wall clock */
    /* touched: true if more than the claim may have reached it */
    bool claimed, alive, warm, touched;
    char run_id[CBX_FRAME_ID_BYTES];
    char *chunk; /* received bytes; NULL between requests and runs */
};

/* CBX_EENGINE and CBX_EINVAL, with a text for callers, if these limits, kernel and mounts (NULL
 * = none) are impossible with the engine and its runtimes. */
int cbx_sandbox_check_wishes(const struct cbx_sandbox *sandbox,
                             const struct cbx_sandbox_config *config,
                             const struct cbx_sandbox_mounts *mounts, struct cbx_err *err);

/* Sends a request without payload and waits for its reply, borrowed until the next request. */
int cbx_sandbox_ask(struct cbx_sandbox *sandbox, uint8_t type, struct cbx_str *out,
                    struct cbx_err *err);

/* Compares the supervisor's report of the mounts with the requested ones; CBX_EENGINE. Adds the
 * flags to the sandbox's description of them. */
int cbx_sandbox_verify_mounts(struct cbx_sandbox *sandbox, const struct cbx_sandbox_mounts *mounts,
                              struct cbx_err *err);

/* Authenticates this host on a new connection, which the sandbox owns from then on, instead of an
 * earlier one; skips bytes that were sent to earlier hosts. `tag` is borrowed. */
int cbx_sandbox_greet(struct cbx_sandbox *sandbox, struct cbx_attach *attach, int timeout_ms,
                      struct cbx_str *tag, struct cbx_err *err);

/* Notes that a request or poll has failed with this code: the sandbox cannot be used, at least
 * until its connection is opened again. */
void cbx_sandbox_note_failed(struct cbx_sandbox *sandbox, int failed);

/* sandbox_reattach.c: opens a connection that broke again, with attempts until the deadline. The
 * sandbox's run_id is what its supervisor has then. CBX_ENOTFOUND if the sandbox has ended, or
 * misses frames that were on their way; CBX_ESTATE if another gateway has taken it over; else the
 * error of the last attempt. */
int cbx_sandbox_reattach(struct cbx_sandbox *sandbox, int64_t deadline, struct cbx_err *err);

/* Sends one frame whose payload is a followed by b. From any thread. */
int cbx_sandbox_send(struct cbx_sandbox *sandbox, uint8_t type, struct cbx_str a, struct cbx_str b,
                     struct cbx_err *err);

/* Appends one frame to bytes for cbx_sandbox_send_bytes, so that several are sent at once.
 * CBX_ETOOBIG if it is too large for a sandbox. */
int cbx_sandbox_add_frame(struct cbx_buf *frames, uint8_t type, struct cbx_str a, struct cbx_str b,
                          struct cbx_err *err);
int cbx_sandbox_send_bytes(struct cbx_sandbox *sandbox, struct cbx_str frames, struct cbx_err *err);

/* Checks that the permit was given for this action with these bytes (CBX_ESEAL) and for the
 * sandbox's present state (CBX_ESTALE), and that the sandbox has at least its isolation
 * (CBX_ESTATE). */
int cbx_sandbox_check_permit(const struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                             enum cbx_action action, struct cbx_str bytes, struct cbx_err *err);

/* sandbox_tag.c: binds a sandbox to the permit that claims it; its ledger begins. */
void cbx_sandbox_bind(struct cbx_sandbox *sandbox, const struct cbx_permit *permit);

/* Compares a permit for `action` with what the sandbox is bound to: CBX_ESEAL, CBX_ESTALE. */
int cbx_sandbox_check_bound(const struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                            enum cbx_action action, struct cbx_err *err);

/* Write the tag as JSON, without its MAC (CBX_ETOOBIG), and read it (CBX_EPROTO). */
int cbx_sandbox_write_tag(struct cbx_sandbox *sandbox, struct cbx_buf *out, struct cbx_err *err);
int cbx_sandbox_read_tag(struct cbx_sandbox *sandbox, struct cbx_str text, struct cbx_err *err);

/* Sets the ledger, and appends the frame that makes the sandbox store it. */
int cbx_sandbox_set_ledger(struct cbx_sandbox *sandbox, const struct cbx_sha256 *ledger,
                           struct cbx_buf *frames, struct cbx_err *err);

/* sandbox_link.c: a caller begins to wait, or bytes have arrived: resets the state of the link. */
void cbx_sandbox_hear(struct cbx_sandbox *sandbox);

/* Returns the time to wait for bytes until cbx_sandbox_check_link is due. */
int64_t cbx_sandbox_link_left_ms(const struct cbx_sandbox *sandbox);

/* Called after a caller has waited waited_ms since the last call, and no byte arrived. Sends
 * PING, or asks the engine, if that is due. 0: continue waiting. CBX_EENGINE if the engine is
 * silent, CBX_EIO if the sandbox is, or has ended; link.silent has the silent part. */
int cbx_sandbox_check_link(struct cbx_sandbox *sandbox, int64_t waited_ms, struct cbx_err *err);

/* No byte could be sent for stalled_ms. The same results; waits for a paused sandbox until
 * CBX_SANDBOX_STALL_MAX_MS. From any thread. */
enum { CBX_SANDBOX_STALL_MAX_MS = 30000 };
int cbx_sandbox_check_stall(struct cbx_sandbox *sandbox, int64_t stalled_ms, struct cbx_err *err);

/* Releases unused receive memory: a sandbox is idle for most of its life. The last reply must
 * not be used after this call. */
void cbx_sandbox_trim(struct cbx_sandbox *sandbox);

/* Receives the next frame before the deadline: CBX_ETIMEDOUT, CBX_EIO at the end of the stream,
 * CBX_EPROTO; CBX_EENGINE and CBX_EIO for a silent link. Call it after cbx_sandbox_hear. */
int cbx_sandbox_receive(struct cbx_sandbox *sandbox, int64_t deadline, struct cbx_frame *out,
                        struct cbx_err *err);

#endif
