/* SPDX-License-Identifier: MIT
 * Prewarmed sandboxes, per kernel and limits. A caller takes one with a permit and discards it
 * after use; it is never returned to the pool, so no two tenants share one. The pool's own
 * threads create and remove sandboxes: waiting callers first, then removals, then prewarming.
 * Thread-safe. */
#ifndef CBX_DOCKER_POOL_POOL_H
#define CBX_DOCKER_POOL_POOL_H

#include "docker/sandbox/sandbox.h"

/* Behaviour of cbx_pool_take if no sandbox is ready. */
enum cbx_pool_policy {
    CBX_POOL_GROW = 0, /* create one more, even beyond `max` */
    CBX_POOL_WAIT,     /* wait until fewer than `max` exist, up to wait_ms */
    CBX_POOL_FAIL,     /* CBX_EBUSY at once */
};

/* Zero-initialised: no prewarming, growth without limit. */
struct cbx_pool_config {
    int min;         /* number kept ready for each profile that is prewarmed or was used recently */
    int max;         /* maximum number of sandboxes, in use and ready; 0 = no maximum */
    int creates;     /* concurrent creations; 0 = 4 */
    int64_t idle_ms; /* time without use after which a profile has none ready; 0 = 10 minutes */
    int64_t wait_ms; /* 0 = 60 s */
    /* Delay until a taken sandbox is replaced; the last one is replaced at once. Making one
     * would take the processors from the short run of the taken one. 0 = 50 ms. */
    int64_t refill_ms;
    enum cbx_pool_policy when_empty;
};

struct cbx_pool;

/* The pool exists until its process ends. Engine and the strings of `sandboxes` are borrowed. */
struct cbx_pool *cbx_pool_new(struct cbx_engine *engine, const struct cbx_sandbox_config *sandboxes,
                              const struct cbx_pool_config *config);

/* Ends the ready sandboxes. Waiting and later calls of cbx_pool_take fail with CBX_ESTATE. A
 * sandbox that is being made ends when it is complete; no call waits for it. */
void cbx_pool_end(struct cbx_pool *pool);

/* The same, and returns after all creations have ended. The engine removes ended containers. */
void cbx_pool_stop(struct cbx_pool *pool);

/* Keeps `min` sandboxes of this kernel and these limits ready from now on, also without use. */
void cbx_pool_prewarm(struct cbx_pool *pool, const char *kernel, const struct cbx_limits *limits);

/* Takes a sandbox with the packages of a layer (NULL = none) and claims it for the permit; the
 * caller owns it until cbx_pool_discard. CBX_EBUSY if none is ready and the configuration does
 * not allow to wait or grow; errors of cbx_sandbox_prepare and cbx_sandbox_claim; CBX_ESTATE if
 * the pool stops or sink->cancelled (sink may be NULL) returned true. */
int cbx_pool_take(struct cbx_pool *pool, const struct cbx_permit *permit,
                  const struct cbx_sandbox_layer *layer, const struct cbx_sink *sink,
                  struct cbx_sandbox **out, struct cbx_err *err);

/* As cbx_pool_take, for a permit with mounts: makes a sandbox with these folders in the calling
 * thread, never a prewarmed one. Errors of cbx_sandbox_prepare_with too. It counts like the
 * others. */
int cbx_pool_make(struct cbx_pool *pool, const struct cbx_permit *permit,
                  const struct cbx_sandbox_layer *layer, const struct cbx_sandbox_mounts *mounts,
                  struct cbx_sandbox **out, struct cbx_err *err);

/* Ends a sandbox without waiting; the pool removes it. NULL is fine. */
void cbx_pool_discard(struct cbx_pool *pool, struct cbx_sandbox *sandbox);

/* Returns its configuration of sandboxes, borrowed. */
const struct cbx_sandbox_config *cbx_pool_sandboxes(const struct cbx_pool *pool);

/* Counts an adopted sandbox as in use. */
void cbx_pool_count(struct cbx_pool *pool);

/* Renews the leases of the ready sandboxes. */
void cbx_pool_renew_leases(struct cbx_pool *pool);

/* A sandbox has fallen silent: the ready ones may be on the same node, or behind the same link. None
 * is given from now on before it has answered a ping. */
void cbx_pool_suspect(struct cbx_pool *pool);

/* True if this container is ready in the pool, or being removed. */
bool cbx_pool_has(struct cbx_pool *pool, const char *id);

struct cbx_pool_stats {
    int ready, warm, in_use, making, waiting; /* warm: number of ready ones that are warm */
    int64_t taken, taken_ready, made, failed, unhealthy;
};
void cbx_pool_stats(struct cbx_pool *pool, struct cbx_pool_stats *out);

#endif
