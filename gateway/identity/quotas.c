/* SPDX-License-Identifier: MIT
 * Quotas: one bucket per principal and resource. Time fills it and use empties it. */
#include "gateway/identity/quotas.h"

#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The remaining amount, and the time at which it was computed. It grows at a rate up to its
 * size; use may make it negative. */
struct bucket {
    double left;
    int64_t at_ms;
};

struct entry {
    char principal[CBX_NAME_MAX + 1]; /* empty = free */
    const struct cbx_principal *row;
    struct bucket requests, cpu_ms;
    size_t opening; /* number of sessions that are being opened */
    size_t at_once; /* number of running requests */
    uint64_t used;
};

struct cbx_quotas {
    pthread_mutex_t lock;
    size_t replicas; /* that share the quotas of requests */
    uint64_t uses;
    struct entry items[CBX_QUOTAS_PRINCIPALS];
};

struct cbx_quotas *cbx_quotas_new(void)
{
    struct cbx_quotas *quotas = cbx_new(sizeof(*quotas));
    pthread_mutex_init(&quotas->lock, NULL);
    quotas->replicas = 1;
    return quotas;
}

void cbx_quotas_free(struct cbx_quotas *quotas)
{
    if (quotas != NULL) {
        pthread_mutex_destroy(&quotas->lock);
        free(quotas);
    }
}

/* --- buckets ---------------------------------------------------------------------------------- */

enum { BURSTS_PER_MINUTE = 6, MINUTE_MS = 60000, HOUR_MS = 3600000 };

/* Returns the requests that this replica lets pass in a minute. */
static int64_t request_share(const struct cbx_quotas *quotas, const struct cbx_principal *row)
{
    int64_t replicas = (int64_t)quotas->replicas;
    return (row->requests_per_minute + replicas - 1) / replicas;
}

static double request_size(const struct cbx_quotas *quotas, const struct cbx_principal *row)
{
    double size = (double)request_share(quotas, row) / BURSTS_PER_MINUTE;
    return size < 1 ? 1 : size;
}

static double cpu_size(const struct cbx_principal *row)
{
    return (double)row->cpu_s_per_hour * 1000;
}

static void fill(struct bucket *bucket, double size, double per_ms, int64_t now_ms)
{
    double passed = now_ms > bucket->at_ms ? (double)(now_ms - bucket->at_ms) : 0;
    double left = bucket->left + passed * per_ms;
    *bucket = (struct bucket){ .left = left < size ? left : size, .at_ms = now_ms };
}

/* Returns whole seconds until `missing` more units have been refilled. */
static uint32_t seconds_until(double missing, double per_ms)
{
    enum { MOST = 86400 };
    double seconds = missing / per_ms / 1000;
    return seconds >= MOST ? MOST : (uint32_t)seconds + ((double)(uint32_t)seconds < seconds);
}

void cbx_quotas_share(struct cbx_quotas *quotas, size_t replicas)
{
    pthread_mutex_lock(&quotas->lock);
    quotas->replicas = replicas > 1 ? replicas : 1;
    pthread_mutex_unlock(&quotas->lock);
}

size_t cbx_quotas_replicas(struct cbx_quotas *quotas)
{
    if (quotas == NULL) {
        return 1;
    }
    pthread_mutex_lock(&quotas->lock);
    size_t replicas = quotas->replicas;
    pthread_mutex_unlock(&quotas->lock);
    return replicas;
}

/* --- principals ------------------------------------------------------------------------------- */

static struct entry *find(struct cbx_quotas *quotas, const char *principal)
{
    for (size_t i = 0; i < CBX_QUOTAS_PRINCIPALS; i++) {
        if (strcmp(quotas->items[i].principal, principal) == 0) {
            return &quotas->items[i];
        }
    }
    return NULL;
}

/* Returns true if a is dropped before b: an entry with running operations would lose their
 * count. */
static bool goes_before(const struct entry *a, const struct entry *b)
{
    bool a_works = a->at_once > 0 || a->opening > 0, b_works = b->at_once > 0 || b->opening > 0;
    return a_works != b_works ? b_works : a->used < b->used;
}

/* Returns the entry of a caller; a new one has full buckets. */
static struct entry *enter(struct cbx_quotas *quotas, const struct cbx_caller *caller,
                           int64_t now_ms)
{
    struct entry *entry = find(quotas, caller->principal);
    if (entry == NULL) {
        entry = &quotas->items[0];
        for (size_t i = 1; i < CBX_QUOTAS_PRINCIPALS; i++) {
            entry = goes_before(&quotas->items[i], entry) ? &quotas->items[i] : entry;
        }
        *entry = (struct entry){ .row = caller->row,
                                 .requests = { request_size(quotas, caller->row), now_ms },
                                 .cpu_ms = { cpu_size(caller->row), now_ms } };
        snprintf(entry->principal, sizeof(entry->principal), "%s", caller->principal);
    }
    entry->row = caller->row;
    entry->used = ++quotas->uses;
    return entry;
}

static int refuse(struct cbx_err *err, uint32_t retry_s, const char *text)
{
    cbx_fail(err, CBX_EQUOTA, "%s", text);
    if (err != NULL) {
        err->retry_s = retry_s;
    }
    return CBX_EQUOTA;
}

int cbx_quotas_request(struct cbx_quotas *quotas, const struct cbx_caller *caller, int64_t now_ms,
                       struct cbx_err *err)
{
    const struct cbx_principal *row = caller->row;
    int failed = 0;
    pthread_mutex_lock(&quotas->lock);
    struct entry *entry = enter(quotas, caller, now_ms);
    if (row->requests_per_minute > 0) {
        double per_ms = (double)request_share(quotas, row) / MINUTE_MS;
        fill(&entry->requests, request_size(quotas, row), per_ms, now_ms);
        if (entry->requests.left >= 1) {
            entry->requests.left -= 1;
        } else {
            char text[240], shares[80] = "";
            if (quotas->replicas > 1) {
                snprintf(shares, sizeof(shares), ", of which %lld at each of %zu replicas",
                         (long long)request_share(quotas, row), quotas->replicas);
            }
            snprintf(text, sizeof(text), "'%s' may make %lld requests in a minute%s",
                     entry->principal, (long long)row->requests_per_minute, shares);
            failed = refuse(err, seconds_until(1 - entry->requests.left, per_ms), text);
        }
    }
    pthread_mutex_unlock(&quotas->lock);
    return failed;
}

int cbx_quotas_begin(struct cbx_quotas *quotas, const struct cbx_caller *caller, bool *counted,
                     struct cbx_err *err)
{
    enum { RETRY_S = 1 };
    int failed = 0;
    *counted = false;
    if (quotas == NULL || caller->row == NULL || caller->row->requests_at_once == 0) {
        return 0;
    }
    pthread_mutex_lock(&quotas->lock);
    struct entry *entry = enter(quotas, caller, cbx_clock_ms());
    if (entry->at_once < (size_t)caller->row->requests_at_once) {
        entry->at_once++;
        *counted = true;
    } else {
        char text[160];
        snprintf(text, sizeof(text), "'%s' may have %lld requests at the same time, and has",
                 entry->principal, (long long)caller->row->requests_at_once);
        failed = refuse(err, RETRY_S, text);
    }
    pthread_mutex_unlock(&quotas->lock);
    return failed;
}

void cbx_quotas_end(struct cbx_quotas *quotas, const char *principal)
{
    pthread_mutex_lock(&quotas->lock);
    struct entry *entry = find(quotas, principal);
    if (entry != NULL && entry->at_once > 0) {
        entry->at_once--;
    }
    pthread_mutex_unlock(&quotas->lock);
}

int64_t cbx_quotas_runs(struct cbx_quotas *quotas, const char *principal, enum cbx_quota_runs which)
{
    int64_t most = 0;
    if (quotas == NULL) {
        return 0;
    }
    pthread_mutex_lock(&quotas->lock);
    const struct entry *entry = find(quotas, principal);
    if (entry != NULL) {
        most = which == CBX_QUOTA_AT_ONCE ? entry->row->runs : entry->row->runs_waiting;
    }
    pthread_mutex_unlock(&quotas->lock);
    return most;
}

int cbx_quotas_check_cpu(const char *principal, const struct cbx_principal *row, double left_ms,
                         struct cbx_err *err)
{
    char text[200];
    if (left_ms > 0) {
        return 0;
    }
    snprintf(text, sizeof(text),
             "the programs of '%s' may use %lld seconds of processor time in an hour, and have",
             principal, (long long)row->cpu_s_per_hour);
    return refuse(err, seconds_until(1 - left_ms, cpu_size(row) / HOUR_MS), text);
}

int cbx_quotas_run(struct cbx_quotas *quotas, const char *principal, int64_t now_ms,
                   struct cbx_err *err)
{
    int failed = 0;
    if (quotas == NULL) {
        return 0;
    }
    pthread_mutex_lock(&quotas->lock);
    struct entry *entry = find(quotas, principal);
    if (entry != NULL && entry->row->cpu_s_per_hour > 0) {
        double per_ms = cpu_size(entry->row) / HOUR_MS;
        fill(&entry->cpu_ms, cpu_size(entry->row), per_ms, now_ms);
        failed = cbx_quotas_check_cpu(entry->principal, entry->row, entry->cpu_ms.left, err);
    }
    pthread_mutex_unlock(&quotas->lock);
    return failed;
}

void cbx_quotas_charge(struct cbx_quotas *quotas, const char *principal, int64_t cpu_ms,
                       int64_t now_ms)
{
    if (quotas == NULL) {
        return;
    }
    pthread_mutex_lock(&quotas->lock);
    struct entry *entry = find(quotas, principal);
    if (entry != NULL && entry->row->cpu_s_per_hour > 0) {
        fill(&entry->cpu_ms, cpu_size(entry->row), cpu_size(entry->row) / HOUR_MS, now_ms);
        entry->cpu_ms.left -= (double)cpu_ms;
    }
    pthread_mutex_unlock(&quotas->lock);
}

size_t cbx_quotas_opening(struct cbx_quotas *quotas, const char *principal)
{
    if (quotas == NULL) {
        return 0;
    }
    pthread_mutex_lock(&quotas->lock);
    struct entry *entry = find(quotas, principal);
    size_t opening = entry != NULL ? ++entry->opening : 0;
    pthread_mutex_unlock(&quotas->lock);
    return opening;
}

int cbx_quotas_open(struct cbx_quotas *quotas, const char *principal, size_t sessions,
                    struct cbx_err *err)
{
    enum { RETRY_S = 10 };
    int failed = 0;
    if (quotas == NULL) {
        return 0;
    }
    pthread_mutex_lock(&quotas->lock);
    struct entry *entry = find(quotas, principal);
    if (entry != NULL && entry->row->sessions > 0 && sessions > (size_t)entry->row->sessions) {
        char text[160];
        snprintf(text, sizeof(text), "'%s' may have %lld sessions at the same time; close one",
                 entry->principal, (long long)entry->row->sessions);
        failed = refuse(err, RETRY_S, text);
    }
    pthread_mutex_unlock(&quotas->lock);
    return failed;
}

void cbx_quotas_opened(struct cbx_quotas *quotas, const char *principal)
{
    if (quotas == NULL) {
        return;
    }
    pthread_mutex_lock(&quotas->lock);
    struct entry *entry = find(quotas, principal);
    if (entry != NULL && entry->opening > 0) {
        entry->opening--;
    }
    pthread_mutex_unlock(&quotas->lock);
}
