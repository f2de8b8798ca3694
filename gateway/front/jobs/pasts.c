/* SPDX-License-Identifier: MIT
 * The past of each session, for the judgement of the next entry: in memory as a worker sealed
 * it, for the recently used sessions; for any other, and after a restart, as the entries of the
 * store, which a worker seals with the next judgement. */
#include "analyzer/past/past.h"
#include "gateway/front/jobs/jobs.h"
#include "gateway/ipc/wire/ipc_wire.h"

#include <stdlib.h>

/* Entries read from the store for one judgement. */
enum { ENTRIES_BYTES_MAX = 64 * 1024 * 1024 };

static void drop(struct cbx_session_past *past)
{
    if (past->session[0] != '\0') {
        cbx_buf_done(&past->sealed);
        cbx_buf_done(&past->entries);
        *past = (struct cbx_session_past){ 0 };
    }
}

static enum cbx_entry_kind kind_of(const json_t *row)
{
    struct cbx_str kind = cbx_json_str(json_object_get(row, "kind"));
    return cbx_str_is(kind, "2")   ? CBX_ENTRY_FILE
           : cbx_str_is(kind, "3") ? CBX_ENTRY_RESET
                                   : CBX_ENTRY_CELL;
}

static struct cbx_entry entry_of(const json_t *row)
{
    struct cbx_entry entry = { .kind = kind_of(row) };
    if (entry.kind != CBX_ENTRY_RESET) {
        entry.language = cbx_json_str(json_object_get(row, "language"));
        entry.name = cbx_json_str(json_object_get(row, "name"));
        entry.text = cbx_json_str(json_object_get(row, "code"));
    }
    return entry;
}

/* Appends the entries of the session before this turn. */
static int recall(struct cbx_service *service, const char *session, int64_t before,
                  struct cbx_buf *out, struct cbx_err *err)
{
    enum { PAGE = 500 };
    int64_t after = 0;
    int failed = 0;
    for (size_t count = PAGE; !failed && count == PAGE;) {
        CBX_AUTO_JSON page = NULL;
        size_t i;
        const json_t *row;
        failed = cbx_store_page_past(service->store, session, after, before, PAGE, &page, err);
        count = json_array_size(page);
        json_array_foreach(page, i, row)
        {
            struct cbx_entry entry = entry_of(row);
            cbx_entry_write(&entry, out);
            after = strtoll(json_string_value(json_object_get(row, "turn")), NULL, 10);
        }
    }
    if (!failed && out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "the code of the session has more than %d MiB and cannot be judged again; "
                        "open a new session",
                        ENTRIES_BYTES_MAX / 1024 / 1024);
    }
    return failed;
}

/* With the lock: finds the session's entry. An entry that is not in memory is read from the
 * store and replaces the least recently used one, so it never lacks an earlier entry. */
static int find(struct cbx_service *service, const char *session, struct cbx_session_past **out,
                struct cbx_err *err)
{
    struct cbx_session_past *found = NULL, *oldest = &service->pasts[0];
    for (size_t i = 0; i < CBX_SERVICE_PASTS && found == NULL; i++) {
        struct cbx_session_past *p = &service->pasts[i];
        found = strcmp(p->session, session) == 0 ? p : NULL;
        oldest = p->used < oldest->used ? p : oldest;
    }
    if (found == NULL) {
        found = oldest;
        drop(found);
        cbx_buf_init(&found->sealed, CBX_WIRE_BYTES_MAX);
        cbx_buf_init(&found->entries, ENTRIES_BYTES_MAX);
        snprintf(found->session, sizeof(found->session), "%s", session);
        found->state = ++service->past_states;
        int failed = recall(service, session, INT64_MAX, &found->entries, err);
        if (failed) {
            drop(found);
            return failed;
        }
    }
    found->used = ++service->past_uses;
    *out = found;
    return 0;
}

int cbx_job_copy_past(struct cbx_job *job, struct cbx_err *err)
{
    struct cbx_service *service = job->service;
    struct cbx_session_past *past;
    cbx_buf_reset(&job->past);
    cbx_buf_reset(&job->entries);
    if (job->session[0] == '\0') {
        return 0;
    }
    pthread_mutex_lock(&service->lock);
    int failed = find(service, job->session, &past, err);
    if (!failed) {
        cbx_buf_add(&job->past, cbx_buf_str(&past->sealed));
        cbx_buf_add(&job->entries, cbx_buf_str(&past->entries));
        job->past_state = past->state;
    }
    pthread_mutex_unlock(&service->lock);
    return failed;
}

int cbx_job_recall_past(struct cbx_job *job, struct cbx_err *err)
{
    cbx_buf_reset(&job->past);
    cbx_buf_reset(&job->entries);
    cbx_service_drop_past(job->service, job->session);
    return recall(job->service, job->session, job->turn, &job->entries, err);
}

bool cbx_job_add_past(struct cbx_job *job)
{
    struct cbx_session_past *past;
    if (find(job->service, job->session, &past, NULL) != 0 || past->state != job->past_state) {
        return false;
    }
    if (job->kind == CBX_ENTRY_RESET) {
        const struct cbx_entry reset = { .kind = CBX_ENTRY_RESET };
        cbx_entry_write(&reset, &past->entries);
    } else {
        cbx_buf_reset(&past->sealed);
        cbx_buf_reset(&past->entries);
        cbx_buf_add(&past->sealed, cbx_buf_str(&job->judgement.past));
    }
    past->state = ++job->service->past_states;
    return true;
}

void cbx_service_drop_past(struct cbx_service *service, const char *session)
{
    pthread_mutex_lock(&service->lock);
    for (size_t i = 0; i < CBX_SERVICE_PASTS; i++) {
        if (strcmp(service->pasts[i].session, session) == 0) {
            drop(&service->pasts[i]);
        }
    }
    pthread_mutex_unlock(&service->lock);
}

void cbx_service_pasts_done(struct cbx_service *service)
{
    for (size_t i = 0; i < CBX_SERVICE_PASTS; i++) {
        drop(&service->pasts[i]);
    }
}

/* --- ledgers ---------------------------------------------------------------------------------- */

/* Reads the ledger of a sealed past, without its key: the executor compares it with its own. */
static bool sealed_ledger(struct cbx_str sealed, struct cbx_sha256 *out)
{
    CBX_AUTO_DONE(past) past = { 0 };
    bool read = cbx_past_read(cbx_str_sub(sealed, CBX_SHA256_BYTES, sealed.len), &past, NULL) == 0;
    *out = past.ledger;
    return read;
}

int cbx_job_past_ledger(struct cbx_job *job, struct cbx_sha256 *out, struct cbx_err *err)
{
    const struct cbx_policy *policy =
        cbx_policies_find(cbx_flow_policies(job->service->flow), cbx_buf_str(&job->policy));
    struct cbx_str rest = cbx_buf_str(&job->entries);
    struct cbx_entry entry;
    if (policy == NULL) {
        return cbx_policies_fail(cbx_flow_policies(job->service->flow), cbx_buf_str(&job->policy),
                                 err);
    }
    if (job->past.len == 0) {
        *out = cbx_ledger_begin(cbx_str_of(job->session), &policy->sha256);
    } else if (!sealed_ledger(cbx_buf_str(&job->past), out)) {
        return cbx_fail(err, CBX_EPROTO, "the past of the session is malformed");
    }
    while (cbx_entry_next(&rest, &entry)) {
        struct cbx_sha256 hash = cbx_entry_hash(&entry);
        *out = cbx_ledger_add(out, &hash);
    }
    return 0;
}

bool cbx_job_is_done(const struct cbx_job *job, const struct cbx_sha256 *ledger)
{
    struct cbx_sha256 after;
    return sealed_ledger(cbx_buf_str(&job->judgement.past), &after) &&
           cbx_sha256_equal(&after, ledger);
}
