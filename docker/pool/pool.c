/* SPDX-License-Identifier: MIT
 * The warm pool: one lock, a FIFO of waiting calls, and a few threads (pool_work.c). */
#include "docker/pool/pool_internal.h"
#include "policies/base/list.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <stdlib.h>
#include <string.h>

enum {
    CREATES_DEFAULT = 4,
    IDLE_DEFAULT_MS = 600 * 1000,
    WAIT_DEFAULT_MS = 60 * 1000,
    REFILL_DEFAULT_MS = 50,
};

static const struct cbx_sandbox_layer no_layer;

static bool is_profile(const struct cbx_pool_profile *p, const char *kernel,
                       const struct cbx_limits *limits, const struct cbx_sandbox_layer *layer)
{
    return strcmp(p->kernel, kernel) == 0 && cbx_limits_same_container(&p->limits, limits) &&
           cbx_sha256_equal(&p->layer.set, &layer->set) &&
           strcmp(p->layer.image, layer->image) == 0;
}

static bool has_waiter(const struct cbx_pool *pool, const struct cbx_pool_profile *p)
{
    const struct cbx_pool_waiter *w = pool->waiters;
    while (w != NULL && w->profile != p) {
        w = w->next;
    }
    return w != NULL;
}

static void end_ready(struct cbx_pool *pool, struct cbx_pool_profile *p)
{
    while (p->count > 0) {
        struct cbx_sandbox *sandbox = p->ready[--p->count].sandbox;
        cbx_sandbox_end(sandbox);
        cbx_pool_await_removal(pool, sandbox);
    }
}

/* Returns an unused slot, or else the least recently used profile's, without its ready
 * sandboxes. */
static struct cbx_pool_profile *free_slot(struct cbx_pool *pool)
{
    struct cbx_pool_profile *oldest = NULL;
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        struct cbx_pool_profile *p = &pool->profiles[i];
        bool busy = p->prewarmed || p->making > 0 || has_waiter(pool, p);
        if (p->kernel[0] == '\0' || (!busy && p->count == 0 && p->want == 0)) {
            return p;
        }
        oldest = !busy && (oldest == NULL || p->used_ms < oldest->used_ms) ? p : oldest;
    }
    if (oldest != NULL) {
        end_ready(pool, oldest);
    }
    return oldest;
}

/* Returns the profile, or a new one; NULL if sandboxes of all profiles are being made. */
static struct cbx_pool_profile *get_profile(struct cbx_pool *pool, const char *kernel,
                                            const struct cbx_limits *limits,
                                            const struct cbx_sandbox_layer *layer)
{
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        struct cbx_pool_profile *p = &pool->profiles[i];
        if (is_profile(p, kernel, limits, layer)) {
            return p;
        }
    }
    struct cbx_pool_profile *slot = free_slot(pool);
    if (slot != NULL) {
        *slot = (struct cbx_pool_profile){ .limits = *limits, .layer = *layer };
        snprintf(slot->kernel, sizeof(slot->kernel), "%s", kernel);
    }
    return slot;
}

struct cbx_pool *cbx_pool_new(struct cbx_engine *engine, const struct cbx_sandbox_config *sandboxes,
                              const struct cbx_pool_config *config)
{
    struct cbx_pool *pool = cbx_new(sizeof(*pool));
    pool->engine = engine;
    pool->sandboxes = *sandboxes;
    pool->config = *config;
    struct cbx_pool_config *c = &pool->config;
    c->creates = c->creates > 0 ? c->creates : CREATES_DEFAULT;
    c->idle_ms = c->idle_ms > 0 ? c->idle_ms : IDLE_DEFAULT_MS;
    c->wait_ms = c->wait_ms > 0 ? c->wait_ms : WAIT_DEFAULT_MS;
    c->refill_ms = c->refill_ms > 0 ? c->refill_ms : REFILL_DEFAULT_MS;
    c->min = c->min > CBX_POOL_READY_MAX ? CBX_POOL_READY_MAX : c->min;
    pthread_mutex_init(&pool->lock, NULL);
    cbx_cond_init(&pool->work);
    cbx_cond_init(&pool->served);
    int most = (int)(sizeof(pool->threads) / sizeof(pool->threads[0]));
    for (int i = 0; i < c->creates && i < most; i++) {
        if (pthread_create(&pool->threads[i], NULL, cbx_pool_work, pool) != 0) {
            break;
        }
        pool->thread_count++;
    }
    return pool;
}

void cbx_pool_end(struct cbx_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        end_ready(pool, &pool->profiles[i]);
    }
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_cond_broadcast(&pool->served);
    pthread_mutex_unlock(&pool->lock);
}

void cbx_pool_stop(struct cbx_pool *pool)
{
    cbx_pool_end(pool);
    for (int i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pool->thread_count = 0;
    bool removes = cbx_engine_abilities(pool->engine)->keeps_ended;
    while (pool->removals != NULL) { /* they are being ended */
        /* An engine that fails once is away: what is left, the next gateway removes. */
        removes =
            removes && cbx_engine_container_remove(pool->engine, pool->removals->id, NULL) == 0;
        cbx_pool_drop(pool, pool->removals);
    }
}

void cbx_pool_prewarm(struct cbx_pool *pool, const char *kernel, const struct cbx_limits *limits)
{
    pthread_mutex_lock(&pool->lock);
    struct cbx_pool_profile *p = get_profile(pool, kernel, limits, &no_layer);
    if (p != NULL) {
        p->prewarmed = true;
        p->want = pool->config.min;
    }
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

/* Takes out a warm sandbox, else one whose kernel is idle, else any; NULL if there is none. */
static struct cbx_sandbox *take_best(struct cbx_pool_profile *p)
{
    int best = -1;
    for (int k = 0; k < p->count; k++) {
        bool better = best < 0 || p->ready[k].warmth > p->ready[best].warmth;
        best = better && !p->ready[k].suspect ? k : best;
    }
    if (best < 0) {
        return NULL;
    }
    struct cbx_sandbox *sandbox = p->ready[best].sandbox;
    p->ready[best] = p->ready[--p->count];
    return sandbox;
}

/* The same for a call. The connections of all may have broken since they were checked, as when an
 * API server restarts: such a sandbox has no state, and another one is made in its place. */
static struct cbx_sandbox *take_ready(struct cbx_pool *pool, struct cbx_pool_profile *p)
{
    struct cbx_sandbox *sandbox;
    while ((sandbox = take_best(p)) != NULL && !cbx_sandbox_poll(sandbox)) {
        pool->stats.unhealthy++;
        cbx_sandbox_end(sandbox);
        cbx_pool_await_removal(pool, sandbox);
    }
    if (sandbox == NULL) {
        return NULL;
    }
    int64_t now = cbx_clock_ms();
    if (p->refill_ms <= now) { /* later takes do not postpone it */
        p->refill_ms = now + pool->config.refill_ms;
    }
    pool->in_use++;
    pool->stats.taken_ready++;
    return sandbox;
}

static int await(struct cbx_pool *pool, struct cbx_pool_profile *p, const struct cbx_sink *sink,
                 struct cbx_sandbox **out, struct cbx_err *err)
{
    struct cbx_pool_waiter waiter = { .profile = p };
    int64_t deadline = cbx_clock_ms() + pool->config.wait_ms;
    CBX_LIST_APPEND(pool->waiters, &waiter, next);
    pthread_cond_signal(&pool->work);
    while (!waiter.done) {
        cbx_pool_wait(pool, &pool->served);
        if (!waiter.done && pool->ending) {
            CBX_LIST_REMOVE(pool->waiters, &waiter, next);
            return cbx_fail(err, CBX_ESTATE, "the gateway is shutting down");
        }
        bool cancelled = !waiter.done && sink != NULL && sink->cancelled != NULL &&
                         sink->cancelled(sink->context);
        bool late =
            !waiter.done && pool->config.when_empty == CBX_POOL_WAIT && cbx_clock_ms() >= deadline;
        if (cancelled || late) {
            CBX_LIST_REMOVE(pool->waiters, &waiter, next);
            if (cancelled) {
                return cbx_fail(err, CBX_ESTATE, "cancelled before it started");
            }
            return cbx_fail(err, CBX_EBUSY,
                            "all %d sandboxes are in use; none came free within %lld s",
                            pool->config.max, (long long)pool->config.wait_ms / 1000);
        }
    }
    if (waiter.failed) {
        *err = waiter.err;
        return waiter.failed;
    }
    *out = waiter.sandbox;
    return 0;
}

/* There are as many layers as requested sets of packages, so only one sandbox of each is kept
 * ready. */
static int min_of(const struct cbx_pool *pool, const struct cbx_pool_profile *p)
{
    return p->layer.image[0] != '\0' && pool->config.min > 1 ? 1 : pool->config.min;
}

int cbx_pool_take(struct cbx_pool *pool, const struct cbx_permit *permit,
                  const struct cbx_sandbox_layer *layer, const struct cbx_sink *sink,
                  struct cbx_sandbox **out, struct cbx_err *err)
{
    const char *kernel;
    int failed = cbx_sandbox_permitted(permit, &kernel, err);
    if (failed) {
        return failed;
    }
    struct cbx_sandbox *sandbox = NULL;
    pthread_mutex_lock(&pool->lock);
    struct cbx_pool_profile *p =
        get_profile(pool, kernel, &permit->limits, layer != NULL ? layer : &no_layer);
    if (pool->ending) {
        failed = cbx_fail(err, CBX_ESTATE, "the gateway is shutting down");
    } else if (p == NULL) {
        failed = cbx_fail(err, CBX_EBUSY,
                          "sandboxes of %d different limits or packages are being made already",
                          CBX_POOL_PROFILES);
    } else {
        pool->stats.taken++;
        p->used_ms = cbx_clock_ms();
        sandbox = take_ready(pool, p);
    }
    if (!failed && sandbox == NULL) {
        if (pool->config.when_empty == CBX_POOL_FAIL && pool->config.min > 0) {
            failed = cbx_fail(err, CBX_EBUSY, "no sandbox is ready; try again later");
        } else {
            failed = await(pool, p, sink, &sandbox, err);
        }
    }
    if (p != NULL) {
        int keep = min_of(pool, p);
        p->want = p->want > keep ? p->want : keep;
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_claim(sandbox, permit, err);
    if (failed) {
        cbx_pool_discard(pool, sandbox);
        return failed;
    }
    *out = sandbox;
    return 0;
}

/* Counts a sandbox that a caller makes itself. */
static int count_one(struct cbx_pool *pool, struct cbx_err *err)
{
    int failed = 0;
    pthread_mutex_lock(&pool->lock);
    if (pool->ending) {
        failed = cbx_fail(err, CBX_ESTATE, "the gateway is shutting down");
    } else if (!cbx_pool_may_make(pool)) {
        failed = cbx_fail(err, CBX_EBUSY, "all %d sandboxes are in use", pool->config.max);
    } else {
        pool->in_use++;
        pool->stats.taken++;
    }
    pthread_mutex_unlock(&pool->lock);
    return failed;
}

int cbx_pool_make(struct cbx_pool *pool, const struct cbx_permit *permit,
                  const struct cbx_sandbox_layer *layer, const struct cbx_sandbox_mounts *mounts,
                  struct cbx_sandbox **out, struct cbx_err *err)
{
    const char *kernel;
    struct cbx_sandbox *sandbox = NULL;
    int failed = cbx_sandbox_permitted(permit, &kernel, err);
    if (failed) {
        return failed;
    }
    failed = count_one(pool, err);
    if (failed) {
        return failed;
    }
    failed = cbx_sandbox_prepare_with(pool->engine, &pool->sandboxes, kernel, &permit->limits,
                                      layer, mounts, &sandbox, err);
    pthread_mutex_lock(&pool->lock);
    pool->stats.made += !failed;
    pool->stats.failed += failed != 0;
    pool->in_use -= failed != 0;
    pthread_mutex_unlock(&pool->lock);
    if (!failed) {
        failed = cbx_sandbox_claim(sandbox, permit, err);
    }
    if (failed) {
        cbx_pool_discard(pool, sandbox);
        return failed;
    }
    *out = sandbox;
    return 0;
}

void cbx_pool_discard(struct cbx_pool *pool, struct cbx_sandbox *sandbox)
{
    if (sandbox == NULL) {
        return;
    }
    cbx_sandbox_end(sandbox); /* its run stops now, not when a thread removes it */
    pthread_mutex_lock(&pool->lock);
    cbx_pool_await_removal(pool, sandbox);
    pool->in_use--;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

const struct cbx_sandbox_config *cbx_pool_sandboxes(const struct cbx_pool *pool)
{
    return &pool->sandboxes;
}

void cbx_pool_count(struct cbx_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->in_use++;
    pthread_mutex_unlock(&pool->lock);
}

void cbx_pool_renew_leases(struct cbx_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        for (int k = 0; k < pool->profiles[i].count; k++) {
            cbx_sandbox_renew_lease(pool->profiles[i].ready[k].sandbox);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

void cbx_pool_suspect(struct cbx_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        for (int k = 0; k < pool->profiles[i].count; k++) {
            pool->profiles[i].ready[k].suspect = true;
        }
    }
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

bool cbx_pool_has(struct cbx_pool *pool, const char *id)
{
    bool has = false;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        for (int k = 0; k < pool->profiles[i].count; k++) {
            has = has || strcmp(cbx_sandbox_id(pool->profiles[i].ready[k].sandbox), id) == 0;
        }
    }
    for (const struct cbx_pool_removal *d = pool->removals; d != NULL; d = d->next) {
        has = has || strcmp(d->id, id) == 0;
    }
    pthread_mutex_unlock(&pool->lock);
    return has;
}

void cbx_pool_stats(struct cbx_pool *pool, struct cbx_pool_stats *out)
{
    pthread_mutex_lock(&pool->lock);
    *out = pool->stats;
    out->in_use = pool->in_use;
    for (int i = 0; i < CBX_POOL_PROFILES; i++) {
        out->ready += pool->profiles[i].count;
        for (int k = 0; k < pool->profiles[i].count; k++) {
            out->warm += pool->profiles[i].ready[k].warmth == CBX_POOL_WARM;
        }
        out->making += pool->profiles[i].making;
    }
    for (const struct cbx_pool_waiter *w = pool->waiters; w != NULL; w = w->next) {
        out->waiting++;
    }
    pthread_mutex_unlock(&pool->lock);
}
