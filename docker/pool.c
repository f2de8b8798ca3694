/* SPDX-License-Identifier: MIT
 * The warm pool. One lock; the threads that make and remove look for the most urgent thing to do,
 * do it without the lock, and look again. */
#include "docker/pool.h"

#include "docker/container.h"
#include "docker/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PROFILES = 32,
    READY_MAX = 64,
    CREATES_DEFAULT = 4,
    IDLE_DEFAULT_MS = 600 * 1000,
    WAIT_DEFAULT_MS = 60 * 1000,
    READY_LIFE_MS = 3600 * 1000, /* then it is made anew: images change, memory wears */
    CHECK_MS = 30 * 1000,
    RETRY_MS = 5 * 1000, /* after an engine that failed, when nobody waits */
    CALM_MS = 250,       /* without anybody who waits, before imports take the processors */
    TICK_MS = 200,
    /* A sandbox that is told to end does, and the engine removes what ended: asking for it
     * meanwhile only makes the engine do it twice. Whoever is still there after that is removed by
     * force. */
    END_MS = 1000,
};

struct ready {
    struct cbx_sandbox *sandbox;
    int64_t born_ms, checked_ms;
    bool warm;
};

struct profile {
    char kernel[32]; /* empty = free place */
    struct cbx_limits limits;
    bool announced;
    int64_t used_ms;
    int want, making; /* kept ready; on their way */
    struct ready ready[READY_MAX];
    int count;
};

/* Somebody who waits, in the order of arrival. */
struct waiter {
    struct profile *profile;
    struct cbx_sandbox *sandbox;
    int failed;
    bool done;
    struct cbx_err err;
    struct waiter *next;
};

/* Was told to end; is forgotten when the engine says that it is gone. */
struct discarded {
    struct cbx_sandbox *sandbox; /* NULL = was asked for once already */
    char id[CBX_CONTAINER_ID_CHARS + 1];
    int64_t due_ms; /* look after it then */
    bool busy;      /* a thread does */
    struct discarded *next;
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
    struct profile profiles[PROFILES];
    struct waiter *waiters;
    struct discarded *discarded;
    int in_use, unserved; /* waiters that nobody makes one for yet */
    int64_t retry_ms, calm_ms;
    struct cbx_pool_stats stats;
};

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_profile(const struct profile *p, const char *kernel, const struct cbx_limits *limits)
{
    return strcmp(p->kernel, kernel) == 0 && p->limits.memory_bytes == limits->memory_bytes &&
           p->limits.cpu_milli == limits->cpu_milli && p->limits.pids == limits->pids &&
           p->limits.disk_bytes == limits->disk_bytes;
}

/* The profile, or a new one in the place of what nobody uses; NULL when all are in use. */
static struct profile *get_profile(struct cbx_pool *pool, const char *kernel,
                                   const struct cbx_limits *limits)
{
    struct profile *place = NULL;
    for (int i = 0; i < PROFILES; i++) {
        struct profile *p = &pool->profiles[i];
        if (is_profile(p, kernel, limits)) {
            return p;
        }
        bool idle = p->kernel[0] == '\0' ||
                    (!p->announced && p->count == 0 && p->making == 0 && p->want == 0);
        for (struct waiter *w = pool->waiters; w != NULL && idle; w = w->next) {
            idle = w->profile != p;
        }
        place = idle && place == NULL ? p : place;
    }
    if (place != NULL) {
        *place = (struct profile){ .limits = *limits };
        snprintf(place->kernel, sizeof(place->kernel), "%s", kernel);
    }
    return place;
}

/* --- what there is to do
 * ---------------------------------------------------------------------------- */

static int count_all(const struct cbx_pool *pool)
{
    int all = pool->in_use;
    for (int i = 0; i < PROFILES; i++) {
        all += pool->profiles[i].count + pool->profiles[i].making;
    }
    return all;
}

static bool may_make(const struct cbx_pool *pool)
{
    return pool->config.max == 0 || pool->config.when_empty == CBX_POOL_GROW ||
           count_all(pool) < pool->config.max;
}

/* How many of the profile are on their way beyond those who wait for them. */
static int waiting_for(const struct cbx_pool *pool, const struct profile *p)
{
    int n = 0;
    for (const struct waiter *w = pool->waiters; w != NULL; w = w->next) {
        n += w->profile == p;
    }
    return n;
}

static struct profile *most_wanted(struct cbx_pool *pool)
{
    for (struct waiter *w = pool->waiters; w != NULL; w = w->next) {
        if (w->profile->making < waiting_for(pool, w->profile)) {
            return w->profile;
        }
    }
    return NULL;
}

static struct profile *wants_more(struct cbx_pool *pool, int64_t now)
{
    bool full = pool->config.max != 0 && count_all(pool) >= pool->config.max;
    for (int i = 0; i < PROFILES && !full && now >= pool->retry_ms; i++) {
        struct profile *p = &pool->profiles[i];
        if (p->kernel[0] != '\0' && p->count + p->making < p->want) {
            return p;
        }
    }
    return NULL;
}

/* Takes a ready sandbox out that is too old, one too many, or not looked at for long. */
static struct cbx_sandbox *take_stale(struct cbx_pool *pool, int64_t now, bool *check,
                                      struct profile **from)
{
    int64_t idle_ms = pool->config.idle_ms;
    for (int i = 0; i < PROFILES; i++) {
        struct profile *p = &pool->profiles[i];
        if (!p->announced && p->want > 0 && now - p->used_ms > idle_ms) {
            p->want = 0;
        }
        for (int k = 0; k < p->count; k++) {
            bool old = now - p->ready[k].born_ms > READY_LIFE_MS || p->count > p->want;
            if (old || now - p->ready[k].checked_ms > CHECK_MS) {
                struct cbx_sandbox *sandbox = p->ready[k].sandbox;
                *check = !old;
                *from = p;
                p->ready[k] = p->ready[--p->count];
                return sandbox;
            }
        }
    }
    return NULL;
}

static struct cbx_sandbox *find_cold(struct cbx_pool *pool)
{
    for (int i = 0; i < PROFILES; i++) {
        for (int k = 0; k < pool->profiles[i].count; k++) {
            if (!pool->profiles[i].ready[k].warm) {
                pool->profiles[i].ready[k].warm = true;
                return pool->profiles[i].ready[k].sandbox;
            }
        }
    }
    return NULL;
}

/* --- doing it: with the lock, which is given up meanwhile
 * -------------------------------------------- */

/* Of one that was told to end. */
static void discard(struct cbx_pool *pool, struct cbx_sandbox *sandbox)
{
    struct discarded *d = calloc(1, sizeof(*d));
    if (d == NULL) {
        abort();
    }
    *d = (struct discarded){ .sandbox = sandbox, .due_ms = clock_ms() + END_MS };
    memcpy(d->id, cbx_sandbox_id(sandbox), sizeof(d->id));
    d->next = pool->discarded;
    pool->discarded = d;
}

/* The first who waits for this profile, taken out of the queue; NULL = nobody. */
static struct waiter *next_waiter(struct cbx_pool *pool, const struct profile *p)
{
    struct waiter **at = &pool->waiters;
    while (*at != NULL && (*at)->profile != p) {
        at = &(*at)->next;
    }
    struct waiter *w = *at;
    if (w != NULL) {
        *at = w->next;
    }
    return w;
}

static void put_ready(struct cbx_pool *pool, struct profile *p, struct cbx_sandbox *sandbox,
                      bool warm)
{
    struct waiter *w = next_waiter(pool, p);
    if (w != NULL) {
        w->sandbox = sandbox;
        w->done = true;
        pool->in_use++;
        pthread_cond_broadcast(&pool->served);
    } else if (p->count < READY_MAX && !pool->ending) {
        int64_t now = clock_ms();
        p->ready[p->count++] =
            (struct ready){ .sandbox = sandbox, .born_ms = now, .checked_ms = now, .warm = warm };
        pthread_cond_broadcast(&pool->served);
    } else {
        cbx_sandbox_end(sandbox);
        discard(pool, sandbox);
    }
}

static void tell_failure(struct cbx_pool *pool, struct profile *p, int failed,
                         const struct cbx_err *err)
{
    pool->stats.failed++;
    pool->retry_ms = clock_ms() + RETRY_MS;
    struct waiter *w = next_waiter(pool, p);
    if (w != NULL) {
        w->failed = failed;
        w->err = *err;
        w->done = true;
        pthread_cond_broadcast(&pool->served);
    }
}

static void make_one(struct cbx_pool *pool, struct profile *p)
{
    struct cbx_limits limits = p->limits;
    char kernel[sizeof(p->kernel)];
    memcpy(kernel, p->kernel, sizeof(kernel));
    p->making++;
    pthread_mutex_unlock(&pool->lock);
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err = { 0 };
    int failed =
        cbx_sandbox_prepare(pool->engine, &pool->sandboxes, kernel, &limits, &sandbox, &err);
    pthread_mutex_lock(&pool->lock);
    p->making--;
    if (failed) {
        tell_failure(pool, p, failed, &err);
    } else {
        pool->stats.made++;
        put_ready(pool, p, sandbox, false);
    }
}

/* The first that is due and that no thread removes yet. */
static struct discarded *unremoved(const struct cbx_pool *pool, int64_t now)
{
    struct discarded *d = pool->discarded;
    while (d != NULL && (d->busy || d->due_ms > now)) {
        d = d->next;
    }
    return d;
}

static void forget_discarded(struct cbx_pool *pool, struct discarded *discarded)
{
    struct discarded **at = &pool->discarded;
    while (*at != discarded) {
        at = &(*at)->next;
    }
    *at = discarded->next;
    cbx_sandbox_leave(discarded->sandbox);
    free(discarded);
}

/* An engine that fails, or is at it, is asked again: nothing may be left behind. */
static void remove_discarded(struct cbx_pool *pool, struct discarded *d)
{
    struct cbx_sandbox *sandbox = cbx_steal(&d->sandbox);
    d->busy = true;
    pthread_mutex_unlock(&pool->lock);
    cbx_sandbox_leave(sandbox);
    int failed = cbx_engine_container_remove(pool->engine, d->id, NULL);
    pthread_mutex_lock(&pool->lock);
    d->busy = false;
    d->due_ms = clock_ms() + END_MS;
    if (!failed) {
        forget_discarded(pool, d);
    }
}

static void check_one(struct cbx_pool *pool, struct profile *p, struct cbx_sandbox *sandbox,
                      bool check)
{
    p->making++; /* out of reach, and not to be made once more meanwhile */
    pthread_mutex_unlock(&pool->lock);
    bool healthy = check && cbx_sandbox_check(sandbox);
    pthread_mutex_lock(&pool->lock);
    p->making--;
    pool->stats.unhealthy += check && !healthy;
    if (healthy) {
        put_ready(pool, p, sandbox, true);
    } else {
        cbx_sandbox_end(sandbox);
        discard(pool, sandbox);
    }
}

static bool work_once(struct cbx_pool *pool)
{
    int64_t now = clock_ms();
    struct profile *p = pool->ending ? NULL : most_wanted(pool);
    struct discarded *d;
    struct cbx_sandbox *sandbox;
    bool check;
    if (p != NULL && may_make(pool)) {
        pool->calm_ms = now + CALM_MS;
        make_one(pool, p);
    } else if ((d = pool->ending ? NULL : unremoved(pool, now)) != NULL) {
        remove_discarded(pool, d);
    } else if (pool->ending) {
        return false;
    } else if ((p = wants_more(pool, now)) != NULL) {
        make_one(pool, p);
    } else if ((sandbox = take_stale(pool, now, &check, &p)) != NULL) {
        check_one(pool, p, sandbox, check);
    } else if (now >= pool->calm_ms && (sandbox = find_cold(pool)) != NULL) {
        pool->calm_ms = now + CALM_MS;
        cbx_sandbox_warm(sandbox); /* with the lock: nobody may take it away meanwhile */
    } else {
        return false;
    }
    return true;
}

static void *work(void *context)
{
    struct cbx_pool *pool = context;
    pthread_mutex_lock(&pool->lock);
    while (!pool->ending) {
        if (!work_once(pool)) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += TICK_MS * 1000000L;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&pool->work, &pool->lock, &until);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* --- the pool
 * --------------------------------------------------------------------------------------- */

struct cbx_pool *cbx_pool_new(struct cbx_engine *engine, const struct cbx_sandbox_config *sandboxes,
                              const struct cbx_pool_config *config)
{
    struct cbx_pool *pool = calloc(1, sizeof(*pool));
    if (pool == NULL) {
        abort();
    }
    pool->engine = engine;
    pool->sandboxes = *sandboxes;
    pool->config = *config;
    struct cbx_pool_config *c = &pool->config;
    c->creates = c->creates > 0 ? c->creates : CREATES_DEFAULT;
    c->idle_ms = c->idle_ms > 0 ? c->idle_ms : IDLE_DEFAULT_MS;
    c->wait_ms = c->wait_ms > 0 ? c->wait_ms : WAIT_DEFAULT_MS;
    c->min = c->min > READY_MAX ? READY_MAX : c->min;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->served, NULL);
    int most = (int)(sizeof(pool->threads) / sizeof(pool->threads[0]));
    for (int i = 0; i < c->creates && i < most; i++) {
        if (pthread_create(&pool->threads[i], NULL, work, pool) != 0) {
            break;
        }
        pool->thread_count++;
    }
    return pool;
}

void cbx_pool_stop(struct cbx_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < PROFILES; i++) {
        struct profile *p = &pool->profiles[i];
        while (p->count > 0) {
            struct cbx_sandbox *sandbox = p->ready[--p->count].sandbox;
            cbx_sandbox_end(sandbox);
            discard(pool, sandbox);
        }
    }
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_cond_broadcast(&pool->served);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pool->thread_count = 0;
    while (pool->discarded != NULL) {
        forget_discarded(pool, pool->discarded); /* told to end; the engine removes them */
    }
}

void cbx_pool_free(struct cbx_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    cbx_pool_stop(pool);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->served);
    free(pool);
}

void cbx_pool_announce(struct cbx_pool *pool, const char *kernel, const struct cbx_limits *limits)
{
    pthread_mutex_lock(&pool->lock);
    struct profile *p = get_profile(pool, kernel, limits);
    if (p != NULL) {
        p->announced = true;
        p->want = pool->config.min;
    }
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

/* The one that is warm, else any. */
static struct cbx_sandbox *take_ready(struct cbx_pool *pool, struct profile *p)
{
    int best = -1;
    for (int k = 0; k < p->count; k++) {
        best = best < 0 || (p->ready[k].warm && !p->ready[best].warm) ? k : best;
    }
    if (best < 0) {
        return NULL;
    }
    struct cbx_sandbox *sandbox = p->ready[best].sandbox;
    p->ready[best] = p->ready[--p->count];
    pool->in_use++;
    pool->stats.taken_ready++;
    return sandbox;
}

static void forget_waiter(struct cbx_pool *pool, struct waiter *waiter)
{
    for (struct waiter **at = &pool->waiters; *at != NULL; at = &(*at)->next) {
        if (*at == waiter) {
            *at = waiter->next;
            return;
        }
    }
}

static int await(struct cbx_pool *pool, struct profile *p, const struct cbx_sink *sink,
                 struct cbx_sandbox **out, struct cbx_err *err)
{
    struct waiter waiter = { .profile = p }, **last = &pool->waiters;
    int64_t deadline = clock_ms() + pool->config.wait_ms;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = &waiter;
    pthread_cond_signal(&pool->work);
    while (!waiter.done) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&pool->served, &pool->lock, &until);
        if (!waiter.done && pool->ending) {
            forget_waiter(pool, &waiter);
            return cbx_fail(err, CBX_ESTATE, "the gateway is ending");
        }
        bool unwanted = !waiter.done && sink != NULL && sink->cancelled != NULL &&
                        sink->cancelled(sink->context);
        bool late =
            !waiter.done && pool->config.when_empty == CBX_POOL_WAIT && clock_ms() >= deadline;
        if (unwanted || late) {
            forget_waiter(pool, &waiter);
            return unwanted ? cbx_fail(err, CBX_ESTATE, "cancelled before it began")
                            : cbx_fail(err, CBX_EBUSY,
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

int cbx_pool_take(struct cbx_pool *pool, const struct cbx_permit *permit,
                  const struct cbx_sink *sink, struct cbx_sandbox **out, struct cbx_err *err)
{
    const char *kernel;
    int failed = cbx_sandbox_permitted(permit, &kernel, err);
    if (failed) {
        return failed;
    }
    struct cbx_sandbox *sandbox = NULL;
    pthread_mutex_lock(&pool->lock);
    struct profile *p = get_profile(pool, kernel, &permit->limits);
    if (pool->ending) {
        failed = cbx_fail(err, CBX_ESTATE, "the gateway is ending");
    } else if (p == NULL) {
        failed = cbx_fail(err, CBX_EBUSY, "sandboxes of %d different limits are in use already",
                          PROFILES);
    } else {
        pool->stats.taken++;
        p->used_ms = clock_ms();
        sandbox = take_ready(pool, p);
    }
    if (!failed && sandbox == NULL) {
        failed = pool->config.when_empty == CBX_POOL_FAIL && pool->config.min > 0
                     ? cbx_fail(err, CBX_EBUSY, "no sandbox is ready; try again later")
                     : await(pool, p, sink, &sandbox, err);
    }
    if (p != NULL) {
        p->want = p->want > pool->config.min ? p->want : pool->config.min;
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

void cbx_pool_discard(struct cbx_pool *pool, struct cbx_sandbox *sandbox)
{
    if (sandbox == NULL) {
        return;
    }
    cbx_sandbox_end(sandbox); /* what runs in it stops now, not when its turn has come */
    pthread_mutex_lock(&pool->lock);
    discard(pool, sandbox);
    pool->in_use--;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

void cbx_pool_count(struct cbx_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->in_use++;
    pthread_mutex_unlock(&pool->lock);
}

void cbx_pool_keep(struct cbx_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < PROFILES; i++) {
        for (int k = 0; k < pool->profiles[i].count; k++) {
            cbx_sandbox_keep(pool->profiles[i].ready[k].sandbox);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

bool cbx_pool_has(struct cbx_pool *pool, const char *id)
{
    bool has = false;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < PROFILES; i++) {
        for (int k = 0; k < pool->profiles[i].count; k++) {
            has = has || strcmp(cbx_sandbox_id(pool->profiles[i].ready[k].sandbox), id) == 0;
        }
    }
    for (const struct discarded *d = pool->discarded; d != NULL; d = d->next) {
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
    for (int i = 0; i < PROFILES; i++) {
        out->ready += pool->profiles[i].count;
        out->making += pool->profiles[i].making;
    }
    for (const struct waiter *w = pool->waiters; w != NULL; w = w->next) {
        out->waiting++;
    }
    pthread_mutex_unlock(&pool->lock);
}
