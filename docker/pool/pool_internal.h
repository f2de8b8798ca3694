/* SPDX-License-Identifier: MIT
 * Declarations shared by pool*.c and their test. The pool's lock protects all members. */
#ifndef CBX_DOCKER_POOL_POOL_INTERNAL_H
#define CBX_DOCKER_POOL_POOL_INTERNAL_H

#include "docker/engine/engine.h"
#include "docker/pool/pool.h"
#include "docker/sandbox/container.h"

#include <pthread.h>

enum { CBX_POOL_PROFILES = 32, CBX_POOL_READY_MAX = 64 };

/* A sandbox that waits for a permit. WARMING: its kernel imports common modules; a run waits for
 * the current import. */
enum cbx_pool_warmth { CBX_POOL_WARMING = 0, CBX_POOL_COLD, CBX_POOL_WARM };
struct cbx_pool_ready {
    struct cbx_sandbox *sandbox;
    int64_t born_ms, checked_ms;
    bool suspect; /* not given before it has answered a ping */
    enum cbx_pool_warmth warmth;
};

struct cbx_pool_profile {
    char kernel[32]; /* empty = free slot */
    struct cbx_limits limits;
    struct cbx_sandbox_layer layer;
    bool prewarmed, failing;    /* failing: the last one could not be made */
    int64_t used_ms, refill_ms; /* time of its last use; earliest time of a replacement */
    int want, making;           /* number to keep ready; number being created or checked */
    struct cbx_pool_ready ready[CBX_POOL_READY_MAX];
    int count;
};

/* A waiting call of cbx_pool_take, in a FIFO queue. */
struct cbx_pool_waiter {
    struct cbx_pool_profile *profile;
    struct cbx_sandbox *sandbox;
    int failed;
    bool done;
    struct cbx_err err;
    struct cbx_pool_waiter *next;
};

/* A discarded sandbox, until the engine confirms its removal. */
struct cbx_pool_removal {
    struct cbx_sandbox *sandbox; /* NULL = removal was requested already */
    char id[CBX_CONTAINER_ID_CHARS + 1];
    int64_t due_ms; /* time to request the removal */
    bool busy;      /* true while a thread requests it */
    struct cbx_pool_removal *next;
};

struct cbx_pool {
    struct cbx_engine *engine;
    struct cbx_sandbox_config sandboxes;
    struct cbx_pool_config config;
    pthread_mutex_t lock;
    pthread_cond_t work, served;
    pthread_t threads[16];
    int thread_count;
    bool ending;
    struct cbx_pool_profile profiles[CBX_POOL_PROFILES];
    struct cbx_pool_waiter *waiters;
    struct cbx_pool_removal *removals;
    int in_use;
    int64_t retry_ms, calm_ms;
    struct cbx_pool_stats stats;
};

/* True if the configuration allows one more. Call it with the lock held. */
bool cbx_pool_may_make(const struct cbx_pool *pool);

/* Waits for the condition, or a tick, with the lock held. */
void cbx_pool_wait(struct cbx_pool *pool, pthread_cond_t *condition);

/* The main function of the pool's threads; `context` is the pool. */
void *cbx_pool_work(void *context);

/* Queues the removal of a sandbox that is being ended; takes ownership. */
void cbx_pool_await_removal(struct cbx_pool *pool, struct cbx_sandbox *sandbox);

/* Removes a removal from the queue and frees it. */
void cbx_pool_drop(struct cbx_pool *pool, struct cbx_pool_removal *removal);

#endif
