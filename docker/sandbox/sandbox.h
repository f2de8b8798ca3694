/* SPDX-License-Identifier: MIT
 * A sandbox is one hardened container with the supervisor as PID 1 and a kernel in it. It may be
 * created before a permit exists. A permit claims it, and from then on it belongs to the permit's
 * principal and session. It outlives the executor that created it by its lease, so that the next
 * executor can adopt it; when the lease expires, it ends itself.
 *
 * Calls on one sandbox come from one thread at a time, except those marked "from any thread". */
#ifndef CBX_DOCKER_SANDBOX_SANDBOX_H
#define CBX_DOCKER_SANDBOX_SANDBOX_H

#include "docker/engine/engine.h"
#include "docker/result.h"
#include "policies/base/buf.h"
#include "policies/permit.h"

/* Folders of the host for a sandbox. */
struct cbx_sandbox_mounts {
    struct cbx_container_mount items[16];
    size_t count;
    struct cbx_sha256 digest; /* as in permits */
    /* for records: stored with the sandbox, and restored by adoption */
    const json_t *description;
};

enum { CBX_SANDBOX_SECRET_BYTES = 32, CBX_SANDBOX_LEASE_MS = 60000 };

/* The configuration of this gateway's sandboxes; never from a caller. */
struct cbx_sandbox_config {
    const char *instance;       /* label value: the owning gateway; [a-z0-9-]{1,64} */
    const char *runtime;        /* NULL = the engine's default; "runc", "crun", ... */
    const char *gvisor_runtime; /* for limits with the isolation gvisor; NULL = none */
    const char *image_prefix;   /* NULL = "codebox"; images are PREFIX-python:latest and so on */
    const char *variant;        /* variant of the images (kernel_names.h); NULL = the full ones */
    /* authenticates the tags of this gateway's sandboxes */
    uint8_t secret[CBX_SANDBOX_SECRET_BYTES];
    uint32_t lease_ms; /* 0 = CBX_SANDBOX_LEASE_MS */
    /* Sandboxes refuse this gateway after one with a higher epoch has attached. */
    uint64_t epoch;
    const char *apparmor; /* AppArmor profile loaded by the host; NULL = the engine's default */
};

/* The packages installed in a sandbox (package_layers.h). Zeroed memory is none. */
struct cbx_sandbox_layer {
    struct cbx_sha256 set;              /* SHA-256 of the text of the set */
    char image[CBX_IMAGE_ID_CHARS + 1]; /* image with them; empty = the kernel's own image */
};

/* The network of proxies; from configuration. Ranges are in CIDR notation ("10.1.0.0/16"). */
struct cbx_network_settings {
    const char *network;     /* the engine's network of proxies; NULL = the engine's default */
    struct cbx_strs allowed; /* private ranges that granted names may resolve to */
    /* ranges that are never reached, in addition to docker/egress/addresses.def: the host's own */
    struct cbx_strs denied;
};

struct cbx_sandbox;
struct cbx_proxy_event; /* docker/egress/proxy_log.h */

/* The hosts that the programs of one sandbox may reach. */
struct cbx_network_grant {
    const struct cbx_strs *hosts; /* patterns (policies/egress.h) */
    const struct cbx_network_settings *settings;
    /* maxima in the life of the sandbox, with this process */
    int64_t connections_max, bytes_max;
    int64_t life_s; /* time in which no reaper removes the proxy */
    /* A request to the proxy by the run of this id has ended. Called from a separate thread.
     * Nonzero: recording failed, and no other connection is forwarded. */
    int (*event)(void *context, const struct cbx_sandbox *sandbox, const char *run,
                 const struct cbx_proxy_event *event);
    void *context;
};

/* Creates and starts a container for a kernel ("python", ...) within these limits, with the
 * packages of a layer (NULL = none), and waits until the supervisor replies. No program of a
 * caller runs in it. No container is left after a failure. CBX_EENGINE if the engine is absent,
 * too old or refuses, if the image is missing, or if the limits require gVisor and there is no
 * runtime for it: an operator's failure, whose text is fit for a caller. */
int cbx_sandbox_prepare(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                        const char *kernel, const struct cbx_limits *limits,
                        const struct cbx_sandbox_layer *layer, struct cbx_sandbox **out,
                        struct cbx_err *err);

/* The same with folders of the host (NULL = none). Before it returns, the supervisor has
 * reported the mounted folder and the mount flags of each place: CBX_EENGINE if one is another
 * folder than its descriptor's, is not a mount, or lacks required flags (README.md, Mounts).
 * CBX_EINVAL if the engine is on another host, and with the isolation gvisor. */
int cbx_sandbox_prepare_with(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                             const char *kernel, const struct cbx_limits *limits,
                             const struct cbx_sandbox_layer *layer,
                             const struct cbx_sandbox_mounts *mounts, struct cbx_sandbox **out,
                             struct cbx_err *err);

/* CBX_EINVAL, with the reason, if no folder of the host can be mounted in a sandbox: gVisor,
 * Podman, an engine over TCP. */
int cbx_sandbox_check_mounts(const struct cbx_engine *engine, const struct cbx_limits *limits,
                             struct cbx_err *err);

/* Returns the mounts, as in `description`, borrowed; NULL = none. Each entry has the
 * supervisor's report in "flags". Also for an adopted sandbox. */
const json_t *cbx_sandbox_mounted(const struct cbx_sandbox *sandbox);

/* Checks that a permit allows a sandbox; *kernel is the name of its kernel, static. CBX_EINVAL
 * for a language that no kernel runs, CBX_ESEAL if it is no OPEN or RUN permit. */
int cbx_sandbox_permitted(const struct cbx_permit *permit, const char **kernel,
                          struct cbx_err *err);

/* Claims the sandbox for a permit. Succeeds once, with an OPEN or RUN permit whose language the
 * kernel runs, and whose limits, packages and mounts equal the container's. Errors as
 * cbx_sandbox_permitted; CBX_ESEAL if the permit does not match or the sandbox is claimed. */
int cbx_sandbox_claim(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                      struct cbx_err *err);

/* Gives a claimed sandbox, before its first run, the variables of its program: NAME=VALUE, each
 * terminated by NUL. The container's configuration does not have them. `granted` is a digest of
 * the variables whose values an adopting executor must have too. */
int cbx_sandbox_give(struct cbx_sandbox *sandbox, struct cbx_str variables,
                     const struct cbx_sha256 *granted, struct cbx_err *err);

/* Lets programs of a claimed or adopted sandbox reach hosts (proxy.h), in runs whose permit
 * allows the network. Copies the grant; its pointers, and the pointers of the sandbox's
 * configuration, are borrowed for the life of the sandbox. */
void cbx_sandbox_grant_network(struct cbx_sandbox *sandbox, const struct cbx_network_grant *grant);

/* Returns the digest from cbx_sandbox_give, also of an earlier executor; all zero without such a
 * call. */
const struct cbx_sha256 *cbx_sandbox_granted(const struct cbx_sandbox *sandbox);

/* True while no program ran in it and no file was put into it: another sandbox can replace it
 * unnoticed. False for an adopted one. */
bool cbx_sandbox_is_untouched(const struct cbx_sandbox *sandbox);

/* Returns the SHA-256 of the text of its packages; all zero without packages. Borrowed. */
const struct cbx_sha256 *cbx_sandbox_layer(const struct cbx_sandbox *sandbox);

/* Adopts a sandbox that an earlier executor claimed. CBX_ENOTFOUND if it was never claimed;
 * CBX_EPROTO if the tag's authentication fails or the protocol is violated: the caller then
 * removes it. */
int cbx_sandbox_adopt(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                      const char *id, struct cbx_sandbox **out, struct cbx_err *err);

/* Its owner, borrowed; empty before it is claimed. */
const char *cbx_sandbox_session(const struct cbx_sandbox *sandbox);
const char *cbx_sandbox_principal(const struct cbx_sandbox *sandbox);
const char *cbx_sandbox_policy(const struct cbx_sandbox *sandbox);
const struct cbx_sha256 *cbx_sandbox_policy_sha256(const struct cbx_sandbox *sandbox);
/* Returns the ledger of all entries sent to it; the ledger of an earlier executor is continued. */
const struct cbx_sha256 *cbx_sandbox_ledger(const struct cbx_sandbox *sandbox);
const char *cbx_sandbox_kernel(const struct cbx_sandbox *sandbox);
const struct cbx_limits *cbx_sandbox_limits(const struct cbx_sandbox *sandbox);

/* Returns the time of the claim: milliseconds since 1970. */
int64_t cbx_sandbox_claimed_ms(const struct cbx_sandbox *sandbox);

/* Returns the current run, or the run whose result is not acknowledged; empty if there is none. */
const char *cbx_sandbox_run_id(const struct cbx_sandbox *sandbox);

/* Options of a run; zero-initialised, or NULL, for defaults. */
enum { CBX_RUN_ACCEPT_MAX = 4096 };
struct cbx_run_options {
    /* SHA-256 values of files that were judged as part of the session's program, in a language
     * that the kernel loads. From this run on the kernel loads files with exactly these bytes as
     * code, and no others that the program can write; also after a reset. Borrowed; at most
     * CBX_RUN_ACCEPT_MAX, and 65,536 different ones in the life of a sandbox: the run fails
     * beyond that. */
    const struct cbx_sha256 *accept;
    size_t accept_count;
    const struct cbx_sink *sink; /* sink of the events; NULL: they are discarded */
    bool interactive;            /* the sink's owner answers CBX_EVENT_ASK by cbx_sandbox_input */
    bool has_input; /* the program has a standard input; else the input is at its end at once */
    bool streams;   /* cbx_sandbox_feed adds to it; else it ends after `input` */
    struct cbx_str input; /* its first bytes, at most CBX_INPUT_WAITING_MAX; borrowed */
    /* Called after the program has read some of the input, from the thread of the run; may be
     * NULL. */
    void (*has_room)(void *context);
    /* Called after RUN was sent and before the first event; the run can be resumed from now on. */
    void (*begun)(void *context);
    void *context;
};

/* Continues the ledger of a sandbox whose container has ended, in its replacement. */
int cbx_sandbox_continue(struct cbx_sandbox *sandbox, const struct cbx_sandbox *ended,
                         struct cbx_err *err);

/* Runs `source` in the sandbox's kernel; its state stays. Requires a RUN permit whose
 * source_sha256 is the SHA-256 of `source` (CBX_ESEAL otherwise, nothing runs), whose session,
 * principal and policy equal the claim's, whose ledger is the sandbox's (CBX_ESTALE),
 * which has no stricter isolation than the sandbox (CBX_ESTATE), and no network that was not
 * granted (CBX_ESEAL); the permit's entry is added to the ledger. Returns 0 if the program ran,
 * with any end; *out then owns the result. Events go to the options' sink during the run. If the
 * wall clock or processor time limit is exceeded, the program is interrupted, and its whole
 * process tree killed within a second. The supervisor stores the events and the result until
 * cbx_sandbox_acknowledge or the next run. A connection that breaks meanwhile is opened again, and
 * no event is lost or repeated. If the engine, or only the sandbox, does not reply
 * any more, the result is LOST, within 10 s (docker/engine/silence.h): the program may still
 * run, until the sandbox's lease ends. A paused sandbox is not lost. CBX_ETOOBIG for a source,
 * or a list of accepted files, that is too large for a sandbox. */
int cbx_sandbox_run(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                    struct cbx_str source, const struct cbx_run_options *options,
                    struct cbx_result *out, struct cbx_err *err);

/* Replays a run that another process began, from its first event, and follows it to its result.
 * CBX_ENOTFOUND if the sandbox has no such run: it never began, or it was acknowledged. */
int cbx_sandbox_resume(struct cbx_sandbox *sandbox, const char *run_id, const struct cbx_sink *sink,
                       struct cbx_result *out, struct cbx_err *err);

/* The result of this run is stored: the supervisor drops it, and it cannot be resumed any more. */
void cbx_sandbox_acknowledge(struct cbx_sandbox *sandbox, const char *run_id);

/* From any thread; no effect if nothing runs. Interrupt: KeyboardInterrupt in Python. Input: the
 * line that the program requested; CBX_ETOOBIG over 64 KiB. */
void cbx_sandbox_interrupt(struct cbx_sandbox *sandbox);
int cbx_sandbox_input(struct cbx_sandbox *sandbox, struct cbx_str line, struct cbx_err *err);

/* Adds bytes to the standard input of a run that streams it, all or none; `end`: no more follow.
 * *waiting is the number of bytes not yet sent to the sandbox, because the program has not read
 * the earlier ones. From any thread, does not wait for the program. CBX_ESTATE if no run takes
 * input; CBX_ETOOBIG if more than CBX_INPUT_WAITING_MAX would wait, or CBX_INPUT_BYTES_MAX were
 * given. */
int cbx_sandbox_feed(struct cbx_sandbox *sandbox, struct cbx_str bytes, bool end, size_t *waiting,
                     struct cbx_err *err);

size_t cbx_sandbox_input_waiting(struct cbx_sandbox *sandbox);

/* Cuts an incomplete standard input of the run: it ends after the bytes given so far, and the
 * result reports this. No effect on a complete input. From any thread. */
void cbx_sandbox_cut_input(struct cbx_sandbox *sandbox);

/* cbx_sandbox_renew_lease renews the lease; cbx_sandbox_warm makes the kernel import common
 * modules. From any thread. */
void cbx_sandbox_renew_lease(struct cbx_sandbox *sandbox);
void cbx_sandbox_warm(struct cbx_sandbox *sandbox);

/* True if its kernel has completed the last cbx_sandbox_warm. Reads arrived frames, without
 * waiting. Only while nothing runs in it. */
bool cbx_sandbox_is_warm(struct cbx_sandbox *sandbox);

/* Kills every process in it and starts a new kernel; files stay. `ledger` is the caller's view
 * of the sandbox's ledger: CBX_ESTALE if it differs; a reset is added to it. A repeated call
 * with the same ledger succeeds, and adds nothing. CBX_ESTATE, CBX_EIO. */
int cbx_sandbox_reset(struct cbx_sandbox *sandbox, const struct cbx_sha256 *ledger,
                      struct cbx_err *err);

/* Files of the workspace by paths relative to it. Links are not followed; only regular files are
 * accessed. CBX_ENOTFOUND; CBX_EINVAL for a path that leaves the workspace, a folder, a device;
 * CBX_ETOOBIG if the file, or the workspace with it, is larger than allowed; CBX_EIO;
 * CBX_EENGINE if the engine does not reply any more. */
int cbx_sandbox_put(struct cbx_sandbox *sandbox, struct cbx_str path, struct cbx_str bytes,
                    struct cbx_err *err);

/* Puts a judged file: a FILE permit, whose path, bytes and ledger are checked like a run's. The
 * permit's entry is added to the ledger. */
int cbx_sandbox_put_judged(struct cbx_sandbox *sandbox, const struct cbx_permit *permit,
                           struct cbx_str bytes, struct cbx_err *err);

int cbx_sandbox_get(struct cbx_sandbox *sandbox, struct cbx_str path, struct cbx_buf *out,
                    struct cbx_err *err);
int cbx_sandbox_delete(struct cbx_sandbox *sandbox, struct cbx_str path, struct cbx_err *err);

/* Lists a folder's files and folders, or the workspace's with an empty path: [{name, size,
 * modified, folder}], sorted by name (new reference). *complete is false if there are more. */
int cbx_sandbox_list(struct cbx_sandbox *sandbox, struct cbx_str path, json_t **out, bool *complete,
                     struct cbx_err *err);

/* Passes the guard's refusals since the end of the last run to the sink, as events BLOCKED: a
 * thread or process of a program may continue after its run. Otherwise the next run reports
 * them. Only while nothing runs in it; waits two seconds at most. */
int cbx_sandbox_take_refusals(struct cbx_sandbox *sandbox, const struct cbx_sink *sink,
                              struct cbx_err *err);

/* The container's id (64 hex digits), borrowed. */
const char *cbx_sandbox_id(const struct cbx_sandbox *sandbox);

/* Sends PING and waits for PONG, at most CBX_SILENCE_MAX_MS; false if none arrives. Only while
 * nothing runs in it. */
bool cbx_sandbox_ping(struct cbx_sandbox *sandbox);

/* Ends the lease: the sandbox ends itself and the engine removes the container. Does not wait. From
 * any thread. */
void cbx_sandbox_end(struct cbx_sandbox *sandbox);

/* True if the connection is still open, without waiting. Only while nothing runs in it. */
bool cbx_sandbox_poll(struct cbx_sandbox *sandbox);

/* True if the connection broke, without waiting, and cbx_sandbox_reach may open it again. Only while
 * nothing runs in it. */
bool cbx_sandbox_is_broken(struct cbx_sandbox *sandbox);

/* The same as cbx_sandbox_poll, and opens a connection that broke again, as when an API server
 * restarts: waits up to CBX_SILENCE_BROKEN_MS for that, or without `wait` makes one attempt. *gone:
 * the sandbox has ended, or cannot be used any more; nothing is lost then if
 * cbx_sandbox_is_untouched. CBX_EENGINE: whether it has ended is not known, because its engine does
 * not answer. Only while nothing runs in it. */
int cbx_sandbox_reach(struct cbx_sandbox *sandbox, bool wait, bool *gone, struct cbx_err *err);

/* Kills and removes the container. */
void cbx_sandbox_free(struct cbx_sandbox *sandbox);
CBX_DEFINE_AUTO(sandbox)

/* Detaches without stopping it: it continues until its lease expires or it is adopted. */
void cbx_sandbox_detach(struct cbx_sandbox *sandbox);

/* The containers to remove: those with this instance's label that are at least age_s seconds
 * old, except those for which `keeps` (may be NULL) returns true. */
struct cbx_reap {
    const char *instance;
    int64_t age_s;
    bool (*keeps)(void *context, const char *id);
    void *context;
};

/* Removes them; *removed is their number. A container that cannot be removed is the error; the
 * others are removed nevertheless. */
int cbx_sandbox_reap(struct cbx_engine *engine, const struct cbx_reap *reap, size_t *removed,
                     struct cbx_err *err);

#endif
