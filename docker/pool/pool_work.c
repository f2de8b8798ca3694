/* SPDX-License-Identifier: MIT
 * The pool's threads: each picks the most urgent task, does it without the lock, and picks again.
 */
#include "docker/pool/pool_internal.h"
#include "policies/base/list.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* age at which it is replaced: images change, and it bounds memory growth */
    READY_LIFE_MS = 3600 * 1000,
    CHECK_MS = 30 * 1000,
    RETRY_MS = 5 * 1000, /* after a failure of the engine, when no call waits */
    CALM_MS = 250,       /* without waiting calls, before imports use the processors */
    /* A sandbox ends on request, and the engine removes it (AutoRemove). A request meanwhile
     * only makes the engine do it twice; after END_MS the container is removed by force. */
    END_MS = 1000,
    TICK_MS = 200,
};

/* --- tasks ---------------------------------------------------------------------------- */

static int count_all(const struct cbx_pool *pool)
{
    int all = pool->in_use;
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        all += pool->profiles[i].count + pool->profiles[i].making;
    }
    return all;
}

bool cbx_pool_may_make(const struct cbx_pool *pool)
{
    return pool->config.max == 0 || pool->config.when_empty == CBX_POOL_GROW ||
           count_all(pool) < pool->config.max;
}

/* Returns the number of calls that wait for a sandbox of this profile. */
static int waiting_for(const struct cbx_pool *pool, const struct cbx_pool_profile *p)
{
    int n = 0;
    for (const struct cbx_pool_waiter *w = pool->waiters; w != NULL; w = w->next) {
        n += w->profile == p;
    }
    return n;
}

static struct cbx_pool_profile *oldest_unserved(struct cbx_pool *pool)
{
    for (struct cbx_pool_waiter *w = pool->waiters; w != NULL; w = w->next) {
        if (w->profile->making < waiting_for(pool, w->profile)) {
            return w->profile;
        }
    }
    return NULL;
}

/* A sandbox of this profile is missing and none may be made yet. */
static bool refills_later(const struct cbx_pool_profile *p, int64_t now)
{
    return p->count > 0 && p->count + p->making < p->want && p->refill_ms > now;
}

static struct cbx_pool_profile *next_to_prewarm(struct cbx_pool *pool, int64_t now)
{
    bool full = pool->config.max != 0 && count_all(pool) >= pool->config.max;
    for (int i = 0; i < CBX_POOL_PROFILES && !full && now >= pool->retry_ms; i++) {
        struct cbx_pool_profile *p = &pool->profiles[i];
        if (p->kernel[0] != '\0' && p->count + p->making < p->want && !refills_later(p, now)) {
            return p;
        }
    }
    return NULL;
}

/* Takes out a ready sandbox that is too old, superfluous, or not recently checked. */
static bool take_stale(struct cbx_pool *pool, int64_t now, struct cbx_pool_ready *out, bool *check,
                       struct cbx_pool_profile **from)
{
    int64_t idle_ms = pool->config.idle_ms;
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        struct cbx_pool_profile *p = &pool->profiles[i];
        if (!p->prewarmed && p->want > 0 && now - p->used_ms > idle_ms) {
            p->want = 0;
        }
        for (int k = 0; k < p->count; k++) {
            bool old = now - p->ready[k].born_ms > READY_LIFE_MS || p->count > p->want;
            if (old || p->ready[k].suspect || now - p->ready[k].checked_ms > CHECK_MS) {
                *out = p->ready[k];
                *check = !old;
                *from = p;
                p->ready[k] = p->ready[--p->count];
                return true;
            }
        }
    }
    return false;
}

/* Returns the first cold sandbox; marks the sandboxes whose imports have ended meanwhile as
 * warm. */
static struct cbx_pool_ready *find_cold(struct cbx_pool *pool)
{
    struct cbx_pool_ready *cold = NULL;
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        for (int k = 0; k < pool->profiles[i].count; k++) {
            struct cbx_pool_ready *ready = &pool->profiles[i].ready[k];
            if (ready->warmth == CBX_POOL_WARMING && cbx_sandbox_is_warm(ready->sandbox)) {
                ready->warmth = CBX_POOL_WARM;
            }
            cold = cold == NULL && ready->warmth == CBX_POOL_COLD ? ready : cold;
        }
    }
    return cold;
}

/* --- the work: the lock is held, and released meanwhile --------------------------------------- */

void cbx_pool_await_removal(struct cbx_pool *pool, struct cbx_sandbox *sandbox)
{
    struct cbx_pool_removal *d = cbx_new(sizeof(*d));
    *d = (struct cbx_pool_removal){ .sandbox = sandbox, .due_ms = cbx_clock_ms() + END_MS };
    memcpy(d->id, cbx_sandbox_id(sandbox), sizeof(d->id));
    d->next = pool->removals;
    pool->removals = d;
}

/* Dequeues the first call that waits for this profile; NULL = none. */
static struct cbx_pool_waiter *next_waiter(struct cbx_pool *pool, const struct cbx_pool_profile *p)
{
    struct cbx_pool_waiter *w = pool->waiters;
    while (w != NULL && w->profile != p) {
        w = w->next;
    }
    CBX_LIST_REMOVE(pool->waiters, w, next);
    return w;
}

static void put_ready(struct cbx_pool *pool, struct cbx_pool_profile *p,
                      const struct cbx_pool_ready *ready)
{
    struct cbx_pool_waiter *w = next_waiter(pool, p);
    if (w != NULL) {
        w->sandbox = ready->sandbox;
        w->done = true;
        pool->in_use++;
        pthread_cond_broadcast(&pool->served);
    } else if (p->count < CBX_POOL_READY_MAX && !pool->ending) {
        p->ready[p->count++] = *ready;
        pthread_cond_broadcast(&pool->served);
    } else {
        cbx_sandbox_end(ready->sandbox);
        cbx_pool_await_removal(pool, ready->sandbox);
    }
}

static void fail_waiter(struct cbx_pool *pool, struct cbx_pool_profile *p, int failed,
                        const struct cbx_err *err)
{
    pool->stats.failed++;
    pool->retry_ms = cbx_clock_ms() + RETRY_MS;
    struct cbx_pool_waiter *w = next_waiter(pool, p);
    if (w != NULL) {
        w->failed = failed;
        w->err = *err;
        w->done = true;
        pthread_cond_broadcast(&pool->served);
    }
}

/* Logs that sandboxes of a profile cannot be made, and that they can again: once for each change,
 * because a pool that has none tries again every few seconds. */
static void note_making(const struct cbx_pool *pool, struct cbx_pool_profile *p, bool fails,
                        const struct cbx_err *err)
{
    if (p->failing == fails || pool->ending) {
        return;
    }
    p->failing = fails;
    if (fails) {
        cbx_log(CBX_LOG_ERROR, "no %s sandbox can be made: %s", p->kernel,
                cbx_err_full(err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    } else {
        cbx_log(CBX_LOG_INFO, "%s sandboxes can be made again", p->kernel);
    }
}

static void make_one(struct cbx_pool *pool, struct cbx_pool_profile *p)
{
    struct cbx_limits limits = p->limits;
    struct cbx_sandbox_layer layer = p->layer;
    char kernel[sizeof(p->kernel)];
    memcpy(kernel, p->kernel, sizeof(kernel));
    p->making++;
    pthread_mutex_unlock(&pool->lock);
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err = { 0 };
    int failed = cbx_sandbox_prepare(pool->engine, &pool->sandboxes, kernel, &limits, &layer,
                                     &sandbox, &err);
    pthread_mutex_lock(&pool->lock);
    p->making--;
    note_making(pool, p, failed != 0, &err);
    if (failed) {
        fail_waiter(pool, p, failed, &err);
    } else {
        pool->stats.made++;
        int64_t now = cbx_clock_ms();
        put_ready(
            pool, p,
            &(struct cbx_pool_ready){
                .sandbox = sandbox, .born_ms = now, .checked_ms = now, .warmth = CBX_POOL_COLD });
    }
}

/* Returns the first due removal that no thread has taken. */
static struct cbx_pool_removal *due_removal(const struct cbx_pool *pool, int64_t now)
{
    struct cbx_pool_removal *d = pool->removals;
    while (d != NULL && (d->busy || d->due_ms > now)) {
        d = d->next;
    }
    return d;
}

void cbx_pool_drop(struct cbx_pool *pool, struct cbx_pool_removal *removal)
{
    CBX_LIST_REMOVE(pool->removals, removal, next);
    cbx_sandbox_detach(removal->sandbox);
    free(removal);
}

/* Retried if the engine fails or is still removing: no container may be left. */
static void do_removal(struct cbx_pool *pool, struct cbx_pool_removal *d)
{
    struct cbx_sandbox *sandbox = cbx_steal(&d->sandbox);
    d->busy = true;
    pthread_mutex_unlock(&pool->lock);
    cbx_sandbox_detach(sandbox);
    int failed = cbx_engine_container_remove(pool->engine, d->id, NULL);
    pthread_mutex_lock(&pool->lock);
    d->busy = false;
    d->due_ms = cbx_clock_ms() + END_MS;
    if (!failed) {
        cbx_pool_drop(pool, d);
    }
}

static void check_one(struct cbx_pool *pool, struct cbx_pool_profile *p,
                      struct cbx_pool_ready ready, bool check)
{
    p->making++; /* no call can take it, and no other one is created in its place meanwhile */
    pthread_mutex_unlock(&pool->lock);
    bool healthy = check && cbx_sandbox_ping(ready.sandbox);
    pthread_mutex_lock(&pool->lock);
    p->making--;
    pool->stats.unhealthy += check && !healthy;
    if (healthy) {
        ready.checked_ms = cbx_clock_ms();
        ready.suspect = false;
        put_ready(pool, p, &ready);
    } else {
        cbx_sandbox_end(ready.sandbox);
        cbx_pool_await_removal(pool, ready.sandbox);
    }
}

static bool work_once(struct cbx_pool *pool)
{
    int64_t now = cbx_clock_ms();
    struct cbx_pool_profile *p = oldest_unserved(pool);
    struct cbx_pool_removal *d;
    struct cbx_pool_ready stale, *cold;
    bool check;
    if (p != NULL && cbx_pool_may_make(pool)) {
        pool->calm_ms = now + CALM_MS;
        make_one(pool, p);
    } else if ((d = due_removal(pool, now)) != NULL) {
        do_removal(pool, d);
    } else if ((p = next_to_prewarm(pool, now)) != NULL) {
        make_one(pool, p);
    } else if (take_stale(pool, now, &stale, &check, &p)) {
        check_one(pool, p, stale, check);
    } else if (now >= pool->calm_ms && (cold = find_cold(pool)) != NULL) {
        pool->calm_ms = now + CALM_MS;
        cold->warmth = CBX_POOL_WARMING;
        cbx_sandbox_warm(cold->sandbox); /* with the lock: no call can take it meanwhile */
    } else {
        return false;
    }
    return true;
}

void cbx_pool_wait(struct cbx_pool *pool, pthread_cond_t *condition)
{
    cbx_cond_wait_ms(condition, &pool->lock, TICK_MS);
}

/* Waits for work, at the longest until the next replacement may be made. */
static void await_work(struct cbx_pool *pool)
{
    int64_t now = cbx_clock_ms(), until = now + TICK_MS;
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        const struct cbx_pool_profile *p = &pool->profiles[i];
        until = refills_later(p, now) && p->refill_ms < until ? p->refill_ms : until;
    }
    cbx_cond_wait_until(&pool->work, &pool->lock, until);
}

void *cbx_pool_work(void *context)
{
    struct cbx_pool *pool = context;
    pthread_mutex_lock(&pool->lock);
    while (!pool->ending) {
        if (!work_once(pool)) {
            await_work(pool);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}
