/* SPDX-License-Identifier: MIT
 * Shared by sandbox*.c alone. */
#ifndef CBX_DOCKER_SANDBOX_SANDBOX_INTERNAL_H
#define CBX_DOCKER_SANDBOX_SANDBOX_INTERNAL_H

#include "docker/sandbox/sandbox.h"
#include "docker/sandbox/sandbox_stream.h"

#include <pthread.h>
#include <stdatomic.h>

/* What is known of a link that nothing arrives on (docker/sandbox/silence.h). */
enum cbx_link_stage { CBX_LINK_QUIET = 0, CBX_LINK_PINGED, CBX_LINK_ASKED };
struct cbx_link {
    enum cbx_link_stage stage;
    /* How long a caller has waited in this stage; time that it spends otherwise does not count. */
    int64_t throttled; /* ASKED: periods without the processor until then; -1 = unknown */
    int64_t waited_ms;
    atomic_int silent; /* enum cbx_silent, for good; any thread sets it */
};

/* The standard input of the run (sandbox_input.c). */
struct cbx_sandbox_input {
    pthread_mutex_t lock;   /* of all below; send_lock is taken while it is held */
    struct cbx_buf waiting; /* bytes that were given, */
    size_t used;            /* of which so many were sent */
    uint64_t sent,
        fed; /* bytes since this host attached: sent, and known not to wait in the supervisor */
    bool has, open,
        ended; /* the run has an input; cbx_sandbox_feed may add to it; nothing is added any more */
    bool runs; /* RUN was sent, DONE has not come */
    bool cut, told;             /* the rest was lost; FEED_END was sent */
    uint64_t bytes;             /* that were given, */
    struct cbx_sha256_sum *sum; /* and their hash */
    void (*has_room)(void *context);
    void *context;
};

void cbx_sandbox_input_init(struct cbx_sandbox_input *in);
void cbx_sandbox_input_done(struct cbx_sandbox_input *in);

/* Before RUN: takes the options' input, CBX_ETOOBIG. Behind RUN: sends what there is room for. Behind DONE: drops the rest, and notes what was given
 * in the result. */
int cbx_sandbox_open_input(struct cbx_sandbox *sandbox, const struct cbx_run_options *options,
                           struct cbx_err *err);
void cbx_sandbox_start_input(struct cbx_sandbox *sandbox);
void cbx_sandbox_close_input(struct cbx_sandbox *sandbox, struct cbx_result *result);

/* True for a FED frame, which is taken: more is sent. */
bool cbx_sandbox_take_fed(struct cbx_sandbox *sandbox, const struct cbx_frame *frame);

struct cbx_sandbox {
    struct cbx_engine *engine;
    struct cbx_sandbox_config config;
    struct cbx_network_grant network; /* of the proxy */
    struct cbx_proxy *proxy;          /* NULL = no host may be reached */
    struct cbx_attach *attach;
    struct cbx_link link;
    struct cbx_stream stream;
    struct cbx_sandbox_input input;
    pthread_mutex_t send_lock; /* held while a frame is sent */
    char id[CBX_CONTAINER_ID_CHARS + 1];
    uint8_t secret[CBX_SANDBOX_SECRET_BYTES];
    uint32_t lease_ms;
    struct cbx_sha256 policy_sha256; /* of the permit that claimed it */
    struct cbx_sha256 environment;   /* of the permit that claimed it */
    struct cbx_sha256 mounts;        /* of the permit's list; zero = none */
    json_t *mounted;                 /* what is mounted; NULL = nothing */
    struct cbx_sha256 granted;       /* of what cbx_sandbox_give gave it */
    struct cbx_sha256 ledger;        /* over what was sent to it (policies/ledger.h) */
    char kernel[32], session[CBX_NAME_MAX + 1], principal[CBX_NAME_MAX + 1],
        policy[CBX_NAME_MAX + 1];
    struct cbx_limits limits;
    struct cbx_sandbox_layer layer;
    int64_t claimed_ms;                 /* wall clock */
    bool claimed, alive, warm, touched; /* touched: more than the claim may have reached it */
    char run_id[CBX_FRAME_ID_BYTES];
    char *chunk; /* bytes as they arrive; NULL between requests and runs */
};

/* CBX_EENGINE and CBX_EINVAL, with a text for callers, where these limits, kernel and mounts (NULL = none) do not go together with the
 * engine and its runtimes. */
int cbx_sandbox_check_wishes(const struct cbx_sandbox *sandbox,
                             const struct cbx_sandbox_config *config,
                             const struct cbx_sandbox_mounts *mounts, struct cbx_err *err);

/* Sends a request without payload and waits for its answer, borrowed until the next request. */
int cbx_sandbox_ask(struct cbx_sandbox *sandbox, uint8_t type, struct cbx_str *out,
                    struct cbx_err *err);

/* Compares what the supervisor reports of the mounts with what is to be mounted; CBX_EENGINE. Adds the flags to the
 * sandbox's description of them. */
int cbx_sandbox_verify_mounts(struct cbx_sandbox *sandbox, const struct cbx_sandbox_mounts *mounts,
                              struct cbx_err *err);

/* Sends one frame whose payload is a followed by b. From any thread. */
int cbx_sandbox_send(struct cbx_sandbox *sandbox, uint8_t type, struct cbx_str a, struct cbx_str b,
                     struct cbx_err *err);

/* Appends one frame to bytes for cbx_sandbox_send_bytes, so that several are sent at once.
 * CBX_ETOOBIG when it is larger than a sandbox takes. */
int cbx_sandbox_add_frame(struct cbx_buf *frames, uint8_t type, struct cbx_str a, struct cbx_str b,
                          struct cbx_err *err);
int cbx_sandbox_send_bytes(struct cbx_sandbox *sandbox, struct cbx_str frames, struct cbx_err *err);

/* Checks that the permit was given for this action with these bytes (CBX_ESEAL) and for the sandbox as it is now
 * (CBX_ESTALE), and that the sandbox has at least its isolation (CBX_ESTATE). */
int cbx_sandbox_check_permit(const struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                             enum cbx_action action, struct cbx_str bytes, struct cbx_err *err);

/* Sets the ledger, and appends the frame that makes the sandbox keep it. */
int cbx_sandbox_set_ledger(struct cbx_sandbox *sandbox, const struct cbx_sha256 *ledger,
                           struct cbx_buf *frames, struct cbx_err *err);

/* sandbox_link.c: a caller begins to wait, or bytes have arrived: nothing is wrong with the link. */
void cbx_sandbox_hear(struct cbx_sandbox *sandbox);

/* How long to wait for bytes until cbx_sandbox_check_link is due. */
int64_t cbx_sandbox_link_left_ms(const struct cbx_sandbox *sandbox);

/* A caller has waited for so long since the last call, and no byte arrived. Sends PING, or asks the engine, when that is due. 0: wait on.
 * CBX_EENGINE when the engine is silent, CBX_EIO when the sandbox is, or has ended; link.silent says which. */
int cbx_sandbox_check_link(struct cbx_sandbox *sandbox, int64_t waited_ms, struct cbx_err *err);

/* No byte could be sent for stalled_ms. The same results; a paused sandbox is waited for until CBX_SANDBOX_STALL_MAX_MS. From any thread. */
enum { CBX_SANDBOX_STALL_MAX_MS = 30000 };
int cbx_sandbox_check_stall(struct cbx_sandbox *sandbox, int64_t stalled_ms, struct cbx_err *err);

/* Releases the memory that receiving took, as far as it holds nothing: a sandbox is idle for most of its life. What the last request
 * answered must not be used any more. */
void cbx_sandbox_trim(struct cbx_sandbox *sandbox);

/* The next frame before the deadline: CBX_ETIMEDOUT, CBX_EIO at the end of the stream, CBX_EPROTO; CBX_EENGINE and CBX_EIO for a link that is
 * silent. After cbx_sandbox_hear. */
int cbx_sandbox_receive(struct cbx_sandbox *sandbox, int64_t deadline, struct cbx_frame *out,
                        struct cbx_err *err);

#endif
