/* SPDX-License-Identifier: MIT
 * Recovery of the jobs of an earlier gateway. */
#include "gateway/front/jobs/recovery.h"

#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/backlog.h"
#include "gateway/front/jobs/input.h"
#include "policies/base/log.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text != NULL ? text : "";
}

/* Reads the format of cbx_service_now; 0, long ago, for other texts. */
static int64_t time_of(const char *created_at)
{
    struct tm utc = { 0 };
    const char *rest = strptime(created_at, "%Y-%m-%dT%H:%M:%S", &utc);
    return rest != NULL ? (int64_t)timegm(&utc) * 1000 + (int64_t)(strtod(rest, NULL) * 1000) : 0;
}

static struct cbx_job *read_row(struct cbx_service *service, const json_t *row)
{
    struct cbx_job *job = cbx_job_new(service, text_of(row, "principal"));
    const char *decision = text_of(row, "decision");
    struct cbx_err err;
    CBX_AUTO_JSON request = NULL;
    cbx_json_parse(cbx_str_of(text_of(row, "request")), CBX_STORED_OPTIONS_MAX, &request, &err);
    snprintf(job->id, sizeof(job->id), "%s", text_of(row, "id"));
    job->created_ms = time_of(text_of(row, "created_at"));
    snprintf(job->session, sizeof(job->session), "%s", text_of(row, "session"));
    snprintf(job->language, sizeof(job->language), "%s", text_of(row, "language"));
    snprintf(job->decision, sizeof(job->decision), "%s", decision[0] != '\0' ? decision : "-");
    cbx_buf_add_cstr(&job->source, text_of(row, "code"));
    cbx_buf_add(&job->policy, cbx_json_str(json_object_get(request, "policy")));
    job->interactive = json_is_true(json_object_get(request, "interactive"));
    const struct cbx_input_wanted input = { .text = json_is_true(json_object_get(request, "input"))
                                                        ? CBX_STR("")
                                                        : (struct cbx_str){ 0 } };
    cbx_input_give(job, &input, &err); /* it had an input; the bytes are lost */
    snprintf(job->approval.client, sizeof(job->approval.client), "%s",
             text_of(request, "approved_client"));
    snprintf(job->approval.client_version, sizeof(job->approval.client_version), "%s",
             text_of(request, "approved_version"));
    snprintf(job->approval.approver, sizeof(job->approval.approver), "%s",
             text_of(request, "approved_principal"));
    cbx_asked_read(request, &job->asked, &err);
    cbx_claims_read(request, &job->claims);
    snprintf(job->voucher, sizeof(job->voucher), "%s", text_of(request, "voucher"));
    snprintf(job->voucher_subject, sizeof(job->voucher_subject), "%s",
             text_of(request, "voucher_subject"));
    job->claims.proof = cbx_str_of(job->voucher);
    job->claims.voucher_subject = cbx_str_of(job->voucher_subject);
    job->origin = strcmp(text_of(request, "origin"), "mcp") == 0 ? "mcp" : "rest";
    job->begun = strcmp(text_of(row, "begun"), "0") != 0;
    job->audit_seq = strtoull(text_of(row, "audit_seq"), NULL, 10);
    job->turn = strtoll(text_of(row, "turn"), NULL, 10);
    job->recovered = true;
    return job;
}

/* Has the executor drop the sessions and results without a record in the store. After a failed
 * call they stay until they expire. */
static void reconcile(struct cbx_service *service, const json_t *rows)
{
    CBX_AUTO_JSON sessions = NULL;
    struct cbx_err err;
    size_t i;
    const json_t *row;
    if (cbx_store_list_sessions(service->store, NULL, &sessions, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "sessions of the earlier gateway: %s", err.text);
        return;
    }
    CBX_AUTO_JSON ids = json_array();
    CBX_AUTO_JSON runs = json_array();
    json_array_foreach(sessions, i, row)
    {
        json_array_append(ids, json_object_get(row, "id"));
    }
    json_array_foreach(rows, i, row)
    {
        json_array_append(runs, json_object_get(row, "decision"));
    }
    struct cbx_reconcile_args args = { .sessions = ids, .runs = runs };
    if (cbx_call_reconcile(service->flow, &args, CBX_STR(""), NULL, &err) != 0) {
        cbx_log(CBX_LOG_WARNING, "sandboxes of the earlier gateway: %s", err.text);
    }
}

/* Reads the session's ledger in the executor; false if it is not known. */
static bool find_ledger(struct cbx_service *service, const char *session, struct cbx_sha256 *out)
{
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    const struct cbx_list_sessions_args args = { .session = cbx_str_of(session) };
    size_t i;
    const json_t *row;
    if (cbx_call_list_sessions(service->flow, &args, CBX_STR(""), &answer, NULL) != 0) {
        return false;
    }
    json_array_foreach(json_object_get(answer.header, "sessions"), i, row)
    {
        if (cbx_str_is(cbx_json_str(json_object_get(row, "session")), session)) {
            return cbx_sha256_from_hex(cbx_json_str(json_object_get(row, "ledger")), out);
        }
    }
    return false;
}

/* A file or a reset without its caller is not retried. The session's ledger shows whether it was
 * done. */
static void settle(struct cbx_service *service, const json_t *row)
{
    struct cbx_job *job = read_row(service, row);
    struct cbx_sha256 have, before, entry;
    struct cbx_err err;
    char now[32];
    const struct cbx_entry reset = { .kind = CBX_ENTRY_RESET },
                           file = { .kind = CBX_ENTRY_FILE,
                                    .language = cbx_str_of(job->language),
                                    .name = cbx_json_str(json_object_get(row, "name")),
                                    .text = cbx_buf_str(&job->source) };
    entry = cbx_entry_hash(strcmp(text_of(row, "kind"), "3") == 0 ? &reset : &file);
    bool done = find_ledger(service, job->session, &have) && cbx_job_recall_past(job, &err) == 0 &&
                cbx_job_past_ledger(job, &before, &err) == 0;
    if (done) {
        before = cbx_ledger_add(&before, &entry);
        done = cbx_sha256_equal(&before, &have) &&
               cbx_store_begin_execution(service->store, job->id, 0, &err) == 0;
    }
    cbx_service_now(now);
    cbx_store_set_execution(service->store, job->id, done ? "completed" : "error", now, NULL, NULL);
    cbx_job_free(job);
}

void cbx_service_recover_rows(struct cbx_service *service, const json_t *rows)
{
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        cbx_service_drop_past(service, text_of(row, "session"));
        if (strcmp(text_of(row, "kind"), "1") == 0) {
            cbx_job_recover(read_row(service, row));
        } else {
            settle(service, row);
        }
    }
    cbx_service_start_backlog(service);
}

void cbx_service_recover(struct cbx_service *service)
{
    CBX_AUTO_JSON rows = NULL;
    struct cbx_err err;
    if (cbx_store_list_running(service->store, &rows, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "executions of the earlier gateway: %s", err.text);
        return;
    }
    reconcile(service, rows);
    cbx_service_recover_rows(service, rows);
}
