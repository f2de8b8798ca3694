/* SPDX-License-Identifier: MIT
 * Sandboxes made ahead of their use, per kernel and limits. Whoever needs one takes it with a
 * permit and never gives it back: it is discarded after use, so no two tenants ever share one. All
 * making and removing happens in the pool's own few threads; those who wait come first, then
 * removing, then what is made ahead. Thread-safe. */
#ifndef CBX_DOCKER_POOL_H
#define CBX_DOCKER_POOL_H

#include "docker/sandbox.h"

/* What happens when nothing is ready. */
enum cbx_pool_policy {
    CBX_POOL_GROW = 0, /* make one more, whatever `max` says */
    CBX_POOL_WAIT,     /* until one of at most `max` comes free, up to wait_ms */
    CBX_POOL_FAIL,     /* CBX_EBUSY at once */
};

/* Zeroed memory makes nothing ahead and grows without end. */
struct cbx_pool_config {
    int min;         /* ready for each profile that was announced or used lately */
    int max;         /* sandboxes in all, in use and ready; 0 = any */
    int creates;     /* made at the same time; 0 = 4 */
    int64_t idle_ms; /* a profile that nobody used for this long has none ready; 0 = 10 minutes */
    int64_t wait_ms; /* 0 = 60 s */
    enum cbx_pool_policy when_empty;
};

struct cbx_pool;

/* Engine and the strings of `sandboxes` are borrowed for the pool's life. */
struct cbx_pool *cbx_pool_new(struct cbx_engine *engine, const struct cbx_sandbox_config *sandboxes,
                              const struct cbx_pool_config *config);

/* Removes what is ready and what was discarded. Whoever waits, or takes one from now on, is told
 * CBX_ESTATE. */
void cbx_pool_stop(struct cbx_pool *pool);

/* Stops it; nobody may use the pool any more. */
void cbx_pool_free(struct cbx_pool *pool);
CBX_DEFINE_AUTO(pool)

/* Sandboxes of this kernel and these limits will be wanted: they are made ahead from now on, and
 * stay however long nobody uses them. */
void cbx_pool_announce(struct cbx_pool *pool, const char *kernel, const struct cbx_limits *limits);

/* A sandbox that is the permit's from now on; owned by the caller until cbx_pool_discard. CBX_EBUSY
 * when there is none and the configuration says so; what cbx_sandbox_prepare says; CBX_ESTATE when
 * `cancelled` (may be NULL) said that nobody wants it any more. */
int cbx_pool_take(struct cbx_pool *pool, const struct cbx_permit *permit,
                  const struct cbx_sink *sink, struct cbx_sandbox **out, struct cbx_err *err);

/* Ends a sandbox and returns at once. NULL is fine. */
void cbx_pool_discard(struct cbx_pool *pool, struct cbx_sandbox *sandbox);

/* One that was adopted counts as in use from now on. */
void cbx_pool_count(struct cbx_pool *pool);

/* Renews the leases of what is ready. */
void cbx_pool_keep(struct cbx_pool *pool);

/* Is this container one of the pool's: being made, ready, or on its way out? */
bool cbx_pool_has(struct cbx_pool *pool, const char *id);

struct cbx_pool_stats {
    int ready, warm, in_use, making, waiting; /* warm: of those that are ready */
    int64_t taken, taken_ready, made, failed, unhealthy;
};
void cbx_pool_stats(struct cbx_pool *pool, struct cbx_pool_stats *out);

#endif
