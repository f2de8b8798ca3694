/* SPDX-License-Identifier: MIT
 * Records of refused requests. */
#include "gateway/front/access.h"

#include "gateway/front/executor_client.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <pthread.h>

static const struct {
    const char *type;
    bool limited;
} rows[] = {
#define CBX_ACCESS(ID, type, limited) { type, limited },
#include "gateway/ipc/seal/access.def"
#undef CBX_ACCESS
};

/* A token bucket of records, of this process. */
static struct {
    pthread_mutex_t lock;
    int64_t filled_ms; /* time of the last update; 0 = never */
    int64_t left_ms;   /* a record takes 1,000 of it */
    int64_t omitted;
} bucket = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* True if one more may be recorded. *omitted is the number of omitted ones since the last
 * record. */
static bool take(int64_t *omitted)
{
    enum { EACH_MS = 1000 };
    const int64_t most = (int64_t)CBX_ACCESS_BURST * EACH_MS;
    int64_t now = cbx_clock_ms();
    pthread_mutex_lock(&bucket.lock);
    bucket.left_ms = bucket.filled_ms == 0 ? most : bucket.left_ms + (now - bucket.filled_ms);
    bucket.left_ms = bucket.left_ms < most ? bucket.left_ms : most;
    bucket.filled_ms = now;
    bool may = bucket.left_ms >= EACH_MS;
    bucket.left_ms -= may ? EACH_MS : 0;
    *omitted = bucket.omitted;
    bucket.omitted = may ? 0 : bucket.omitted + 1;
    pthread_mutex_unlock(&bucket.lock);
    return may;
}

static struct cbx_str str_of(const char *text)
{
    return cbx_str_of(text != NULL ? text : "");
}

void cbx_access_note(struct cbx_flow *flow, enum cbx_access what,
                     const struct cbx_access_entry *entry, const struct cbx_claims *claims)
{
    static const struct cbx_claims none;
    struct cbx_err err = { 0 };
    int64_t omitted = 0;
    char number[24] = "";
    claims = claims != NULL ? claims : &none;
    if (rows[what].limited && !take(&omitted)) {
        return;
    }
    if (omitted > 0) {
        snprintf(number, sizeof(number), "%lld", (long long)omitted);
    }
    const struct cbx_note_args args = {
        .type = cbx_str_of(rows[what].type),
        .principal = str_of(entry->principal),
        .decision = str_of(entry->decision),
        .reason = str_of(entry->reason),
        .omitted = cbx_str_of(number),
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) .member = cbx_str_of(claims->member),
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
    };
    if (cbx_call_note(flow, &args, CBX_STR(""), NULL, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "%s is not recorded: %s", rows[what].type, err.text);
    }
}
