/* SPDX-License-Identifier: MIT
 * Keys of issuers that are fetched. A set is parsed by the one thread that takes answers,
 * without the lock; the lock guards pointers and times alone, so no request waits for a parser.
 * Sets are counted, so one that is replaced is freed when the last request that verifies by it
 * is done. */
#include "gateway/identity/issuer_keys.h"

#include "gateway/ipc/metrics.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum state { UNKNOWN, WORKS, FAILS };

/* One issuer. */
struct entry {
    struct cbx_sha256 source;
    char name[33];
    int64_t refresh_ms;
    struct cbx_jwks *keys; /* current keys; NULL = none yet */
    int64_t fetched_ms;    /* time of their fetch */
    int64_t due_ms;        /* time of the next fetch */
    uint64_t number;       /* number of the unanswered request; 0 = none */
    int64_t asked_ms;      /* time of that request */
    bool repeated;         /* true if it was sent to a second process */
    bool renewed;          /* true if it was fetched because of an unknown key ... */
    int64_t renewed_ms;    /* ... at this time */
    int failures;          /* number of consecutive failures */
    enum state state;      /* last logged state of fetching */
    bool expired;          /* true after the log reported the expiry of the keys */
    uint64_t answers;      /* number of answers so far */
    bool silent;           /* as in the struct of all keys */
};

struct cbx_issuer_keys {
    pthread_mutex_t lock;
    pthread_cond_t answered; /* uses CLOCK_MONOTONIC */
    struct entry entries[CBX_ISSUERS_MAX];
    size_t count;
    uint64_t number; /* number of the last request */
    int waiters;
    struct cbx_key_reading reading; /* used by the thread */
    int channel, wake;              /* used by the thread; -1 = none */
    pthread_t thread;
    bool has_thread;
    atomic_bool stops;
    bool silent; /* true if another process reports the state of fetches */
};

/* --- life ------------------------------------------------------------------------------------- */

struct cbx_issuer_keys *cbx_issuer_keys_new(void)
{
    struct cbx_issuer_keys *k = cbx_new(sizeof(*k));
    pthread_condattr_t monotonic;
    pthread_mutex_init(&k->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&k->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    cbx_buf_init(&k->reading.bytes, CBX_JWKS_MAX);
    k->channel = k->wake = -1;
    return k;
}

/* Interrupts the thread's poll: the next due time has changed. */
static void wake_thread(const struct cbx_issuer_keys *k)
{
    static const uint64_t one = 1;
    if (k->wake >= 0) {
        (void)!write(k->wake, &one, sizeof(one));
    }
}

void cbx_issuer_keys_free(struct cbx_issuer_keys *k)
{
    if (k == NULL) {
        return;
    }
    if (k->has_thread) {
        k->stops = true;
        wake_thread(k);
        pthread_join(k->thread, NULL);
    }
    for (size_t i = 0; i < k->count; i++) {
        cbx_jwks_free(k->entries[i].keys);
    }
    cbx_fd_auto(&k->wake);
    cbx_buf_done(&k->reading.bytes);
    pthread_cond_destroy(&k->answered);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

static struct entry *find(struct cbx_issuer_keys *k, const struct cbx_sha256 *source)
{
    for (size_t i = 0; i < k->count; i++) {
        if (cbx_sha256_equal(&k->entries[i].source, source)) {
            return &k->entries[i];
        }
    }
    return NULL;
}

void cbx_issuer_keys_silence(struct cbx_issuer_keys *k)
{
    k->silent = true;
    for (size_t i = 0; i < k->count; i++) {
        k->entries[i].silent = true;
    }
}

void cbx_issuer_keys_configure(struct cbx_issuer_keys *k, const struct cbx_issuer *issuers,
                               size_t count)
{
    struct entry next[CBX_ISSUERS_MAX];
    size_t used = 0;
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < count && used < CBX_ISSUERS_MAX; i++) {
        struct entry *before = issuers[i].refresh_s > 0 ? find(k, &issuers[i].source) : NULL;
        if (issuers[i].refresh_s == 0) {
            continue;
        }
        struct entry *e = &next[used++];
        *e = before != NULL ? *before : (struct entry){ .source = issuers[i].source };
        if (before != NULL) {
            before->keys = NULL; /* they were moved */
        }
        snprintf(e->name, sizeof(e->name), "%s", issuers[i].name);
        e->refresh_ms = issuers[i].refresh_s * 1000;
        e->silent = k->silent;
        int64_t due = e->fetched_ms + e->refresh_ms;
        e->due_ms = e->keys != NULL && due < e->due_ms ? due : e->due_ms;
    }
    for (size_t i = 0; i < k->count; i++) {
        cbx_jwks_free(k->entries[i].keys);
    }
    memcpy(k->entries, next, used * sizeof(next[0]));
    k->count = used;
    pthread_cond_broadcast(&k->answered);
    wake_thread(k);
    pthread_mutex_unlock(&k->lock);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Returns a number that an earlier front did not use: an answer to it may still arrive. */
static uint64_t next_number(struct cbx_issuer_keys *k)
{
    while (k->number == 0) {
        cbx_random(&k->number, sizeof(k->number));
    }
    k->number += k->number == UINT64_MAX ? 2 : 1;
    return k->number;
}

static bool is_expired(const struct entry *e, int64_t now)
{
    return e->keys != NULL && now - e->fetched_ms > CBX_KEYS_STAY_MS;
}

/* With the lock held. Takes ownership of the keys. */
static void use(struct entry *e, struct cbx_jwks *keys, int64_t fetched_ms)
{
    cbx_jwks_free(e->keys);
    e->keys = keys;
    e->fetched_ms = fetched_ms;
    e->expired = false;
}

static void note_success(struct entry *e, int64_t now)
{
    if (e->state != WORKS && !e->silent) {
        cbx_log(CBX_LOG_INFO, "issuer '%s': its keys were fetched%s", e->name,
                e->state == FAILS ? " again" : "");
    }
    e->state = WORKS;
    e->failures = 0;
    e->due_ms = now + e->refresh_ms;
}

static void note_failure(struct entry *e, int64_t now, const char *reason)
{
    int64_t pause = CBX_KEYS_RETRY_MIN_MS;
    for (int i = 0; i < e->failures && pause < CBX_KEYS_RETRY_MAX_MS; i++) {
        pause *= 2;
    }
    e->failures++;
    e->due_ms = now + (pause < CBX_KEYS_RETRY_MAX_MS ? pause : CBX_KEYS_RETRY_MAX_MS);
    if (!e->silent) {
        cbx_metric_count(CBX_METRIC_KEY_FAILURES, cbx_str_of(e->name), CBX_STR(""));
    }
    if (e->state != FAILS && !e->silent) {
        cbx_log(CBX_LOG_WARNING, "issuer '%s': its keys cannot be fetched: %s; %s", e->name, reason,
                e->keys != NULL && !is_expired(e, now)
                    ? "those in use stay until they are 24 hours old"
                    : "its tokens are answered 503");
    }
    e->state = FAILS;
}

/* The end of a request; with the lock held. */
static void end_request(struct cbx_issuer_keys *k, struct entry *e)
{
    e->number = 0;
    e->repeated = false;
    e->answers++;
    pthread_cond_broadcast(&k->answered);
}

static void send_request(int channel, const struct entry *e)
{
    const struct cbx_key_request request = { .source = e->source,
                                             .number = e->number,
                                             .wants_last = e->keys == NULL };
    /* A request that cannot be sent gets no answer, and fails then. */
    cbx_key_request_send(channel, &request);
}

/* Returns the entry that waits for this answer; NULL = none. */
static struct entry *find_asked(struct cbx_issuer_keys *k, const struct cbx_key_answer *a)
{
    struct entry *e = find(k, &a->source);
    return e != NULL && a->number != 0 && e->number == a->number ? e : NULL;
}

static void take_answer(struct cbx_issuer_keys *k, int64_t now)
{
    const struct cbx_key_answer *a = &k->reading.head;
    struct cbx_err err = { 0 };
    CBX_AUTO(jwks) keys = NULL;
    pthread_mutex_lock(&k->lock);
    bool wanted = find_asked(k, a) != NULL;
    pthread_mutex_unlock(&k->lock);
    if (!wanted) {
        return;
    }
    bool good = a->bytes > 0 && cbx_jwks_read(cbx_buf_str(&k->reading.bytes), &keys, &err) == 0;
    bool fetched = a->event == CBX_KEYS_FETCHED && good;
    const char *reason = a->event == CBX_KEYS_FAILED ? a->reason
                         : a->bytes == 0             ? "the answer is empty"
                                                     : err.text;
    pthread_mutex_lock(&k->lock);
    struct entry *e = find_asked(k, a); /* a reload may have come between */
    if (e != NULL && good && (fetched || e->keys == NULL)) {
        use(e, cbx_steal(&keys), now - a->age_ms);
    }
    if (e != NULL && fetched) {
        note_success(e, now);
    } else if (e != NULL) {
        note_failure(e, now, reason);
    }
    if (e != NULL) {
        end_request(k, e);
    }
    pthread_mutex_unlock(&k->lock);
}

/* The previous process was killed together with its requests. Each is sent to one more process
 * only: an answer may be the cause of the crash. */
static void repeat_requests(struct cbx_issuer_keys *k, int channel, int64_t now)
{
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->count; i++) {
        struct entry *e = &k->entries[i];
        if (e->number != 0 && e->repeated) {
            note_failure(e, now, "the process that fetches them ended");
            end_request(k, e);
        } else if (e->number != 0) {
            e->repeated = true;
            send_request(channel, e);
        }
    }
    pthread_mutex_unlock(&k->lock);
}

/* --- asking ----------------------------------------------------------------------------------- */

static void note_expiry(struct entry *e, int64_t now)
{
    if (is_expired(e, now) && !e->expired) {
        e->expired = true;
        if (!e->silent) {
            cbx_log(CBX_LOG_ERROR,
                    "issuer '%s': its keys are older than %d hours; its tokens are answered 503",
                    e->name, CBX_KEYS_STAY_MS / 3600000);
        }
    }
}

/* Returns the next due time of the entry. */
static int64_t next_time(const struct entry *e)
{
    int64_t due = e->number != 0 ? e->asked_ms + CBX_KEYS_ANSWER_MS : e->due_ms;
    int64_t end = e->fetched_ms + CBX_KEYS_STAY_MS + 1;
    return e->keys != NULL && !e->expired && end < due ? end : due;
}

static void ask(struct cbx_issuer_keys *k, int channel, struct entry *e, int64_t now)
{
    e->number = next_number(k);
    e->asked_ms = now;
    send_request(channel, e);
}

static int64_t ask_due(struct cbx_issuer_keys *k, int channel, int64_t now)
{
    enum { IDLE_MS = 60000 };
    int64_t next = now + IDLE_MS;
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->count; i++) {
        struct entry *e = &k->entries[i];
        note_expiry(e, now);
        if (e->number != 0 && now - e->asked_ms >= CBX_KEYS_ANSWER_MS) {
            note_failure(e, now, "the process that fetches them does not answer");
            end_request(k, e);
        }
        if (channel >= 0 && e->number == 0 && now >= e->due_ms) {
            ask(k, channel, e, now);
        }
        next = next_time(e) < next ? next_time(e) : next;
    }
    pthread_mutex_unlock(&k->lock);
    return next > now ? next - now : 0;
}

int64_t cbx_issuer_keys_turn(struct cbx_issuer_keys *k, int channel, int64_t now_ms)
{
    while (channel >= 0 && cbx_key_answer_take(channel, &k->reading)) {
        if (k->reading.head.event == CBX_KEYS_STARTED) {
            repeat_requests(k, channel, now_ms);
        } else {
            take_answer(k, now_ms);
        }
    }
    return ask_due(k, channel, now_ms);
}

static void *run(void *context)
{
    struct cbx_issuer_keys *k = context;
    uint64_t count;
    while (!k->stops) {
        int64_t wait = cbx_issuer_keys_turn(k, k->channel, cbx_clock_ms());
        struct pollfd ready[] = { { .fd = k->channel, .events = POLLIN },
                                  { .fd = k->wake, .events = POLLIN } };
        poll(ready, 2, (int)wait);
        if ((ready[0].revents & (POLLHUP | POLLERR)) != 0) {
            break; /* the gateway ends */
        }
        if ((ready[1].revents & POLLIN) != 0) {
            (void)!read(k->wake, &count, sizeof(count));
        }
    }
    return NULL;
}

int cbx_issuer_keys_start(struct cbx_issuer_keys *k, int channel, struct cbx_err *err)
{
    k->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    k->channel = channel;
    k->has_thread = k->wake >= 0 && pthread_create(&k->thread, NULL, run, k) == 0;
    if (!k->has_thread) {
        return cbx_fail(err, CBX_EIO, "a thread cannot be started");
    }
    return 0;
}

/* --- requests --------------------------------------------------------------------------------- */

static int fail_busy(int64_t left_ms, struct cbx_err *err)
{
    cbx_fail(err, CBX_EBUSY, "its keys are not here now");
    if (err != NULL) {
        err->retry_s = (uint32_t)(left_ms > 1000 ? (left_ms + 999) / 1000 : 1);
    }
    return CBX_EBUSY;
}

int cbx_issuer_keys_take(struct cbx_issuer_keys *k, const struct cbx_sha256 *source, int64_t now_ms,
                         struct cbx_jwks **out, struct cbx_err *err)
{
    pthread_mutex_lock(&k->lock);
    const struct entry *e = find(k, source);
    bool there = e != NULL && e->keys != NULL && !is_expired(e, now_ms);
    int64_t left = e != NULL && e->number == 0 ? e->due_ms - now_ms : 0;
    if (there) {
        *out = cbx_jwks_ref(e->keys);
    }
    pthread_mutex_unlock(&k->lock);
    if (!there) {
        return fail_busy(left, err);
    }
    return 0;
}

/* Requests a fetch if that is allowed; true if there is an answer to wait for. */
static bool has_fetch(struct cbx_issuer_keys *k, struct entry *e, int64_t now)
{
    bool allowed = !e->renewed || now - e->renewed_ms >= CBX_KEYS_RENEW_MS;
    if (e->number == 0 && allowed) {
        e->renewed = true;
        e->renewed_ms = now;
        e->due_ms = now; /* for the thread, which is notified */
        wake_thread(k);
        return true;
    }
    return e->number != 0 || now >= e->due_ms;
}

/* Waits until the entry has another answer; the list of entries may change meanwhile. */
static void await_answer(struct cbx_issuer_keys *k, const struct cbx_sha256 *source,
                         uint64_t before, int64_t wait_ms)
{
    struct timespec until = cbx_timespec_of(cbx_clock_ms() + wait_ms);
    const struct entry *e;
    int failed = 0;
    k->waiters++;
    while (failed != ETIMEDOUT && !k->stops && (e = find(k, source)) != NULL &&
           e->answers == before) {
        failed = pthread_cond_timedwait(&k->answered, &k->lock, &until);
    }
    k->waiters--;
}

int cbx_issuer_keys_renew(struct cbx_issuer_keys *k, const struct cbx_sha256 *source,
                          int64_t now_ms, int64_t wait_ms, struct cbx_err *err)
{
    int failed = 0;
    pthread_mutex_lock(&k->lock);
    struct entry *e = find(k, source);
    if (e != NULL && has_fetch(k, e, now_ms)) {
        if (k->waiters >= CBX_KEYS_WAITERS_MAX) {
            failed = fail_busy(0, err);
        }
        if (!failed && wait_ms > 0) { /* without a wait it takes no place of another caller */
            await_answer(k, source, e->answers, wait_ms);
        }
    }
    pthread_mutex_unlock(&k->lock);
    return failed;
}

bool cbx_issuer_keys_age(struct cbx_issuer_keys *k, size_t index, int64_t now_ms, char name[33],
                         int64_t *age_ms)
{
    pthread_mutex_lock(&k->lock);
    bool there = index < k->count;
    if (there) {
        const struct entry *e = &k->entries[index];
        snprintf(name, 33, "%s", e->name);
        *age_ms = e->keys != NULL ? now_ms - e->fetched_ms : -1;
    }
    pthread_mutex_unlock(&k->lock);
    return there;
}
