/* SPDX-License-Identifier: MIT
 * What the two files of the pool share; nobody else includes it. Everything is under the pool's
 * lock. */
#ifndef CBX_DOCKER_POOL_PARTS_H
#define CBX_DOCKER_POOL_PARTS_H

#include "docker/container.h"
#include "docker/engine.h"
#include "docker/pool.h"

#include <pthread.h>

enum { CBX_POOL_PROFILES = 32, CBX_POOL_READY_MAX = 64 };

/* A sandbox that waits for a permit. WARMING: its kernel imports what programs usually need, and
 * who takes it waits for the import that is under way. */
enum cbx_pool_warmth { CBX_POOL_WARMING = 0, CBX_POOL_COLD, CBX_POOL_WARM };
struct cbx_pool_ready {
    struct cbx_sandbox *sandbox;
    int64_t born_ms, checked_ms;
    enum cbx_pool_warmth warmth;
};

struct cbx_pool_profile {
    char kernel[32]; /* empty = free place */
    struct cbx_limits limits;
    bool announced;
    int64_t used_ms;
    int want, making; /* kept ready; on their way */
    struct cbx_pool_ready ready[CBX_POOL_READY_MAX];
    int count;
};

/* Somebody who waits, in the order of arrival. */
struct cbx_pool_waiter {
    struct cbx_pool_profile *profile;
    struct cbx_sandbox *sandbox;
    int failed;
    bool done;
    struct cbx_err err;
    struct cbx_pool_waiter *next;
};

/* Was told to end; is forgotten when the engine says that it is gone. */
struct cbx_pool_discarded {
    struct cbx_sandbox *sandbox; /* NULL = was asked for once already */
    char id[CBX_CONTAINER_ID_CHARS + 1];
    int64_t due_ms; /* look after it then */
    bool busy;      /* a thread does */
    struct cbx_pool_discarded *next;
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
    struct cbx_pool_discarded *discarded;
    int in_use;
    int64_t retry_ms, calm_ms;
    struct cbx_pool_stats stats;
};

/* Waits for the condition, or a tick, with the lock. */
void cbx_pool_wait(struct cbx_pool *pool, pthread_cond_t *condition);

/* What a thread of the pool does until the pool ends; `context` is the pool. */
void *cbx_pool_work(void *context);

/* Takes over a sandbox that was told to end, until the engine says that it is gone. */
void cbx_pool_look_after(struct cbx_pool *pool, struct cbx_sandbox *sandbox);

/* Frees what is kept of it. */
void cbx_pool_forget(struct cbx_pool *pool, struct cbx_pool_discarded *discarded);

#endif
