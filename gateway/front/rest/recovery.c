/* SPDX-License-Identifier: MIT
 * Recovery of the jobs of an earlier gateway. */
#include "gateway/front/rest/recovery.h"

#include "gateway/front/executor_client.h"
#include "gateway/front/rest/jobs.h"
#include "policies/base/log.h"

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text != NULL ? text : "";
}

static struct cbx_rest_job *read_row(struct cbx_rest *rest, const json_t *row)
{
    struct cbx_rest_job *job = cbx_rest_job_new(rest);
    const char *decision = text_of(row, "decision");
    struct cbx_err err;
    CBX_AUTO_JSON request = NULL;
    cbx_json_parse(cbx_str_of(text_of(row, "request")), 64 * 1024, &request, &err);
    snprintf(job->id, sizeof(job->id), "%s", text_of(row, "id"));
    snprintf(job->session, sizeof(job->session), "%s", text_of(row, "session"));
    snprintf(job->language, sizeof(job->language), "%s", text_of(row, "language"));
    snprintf(job->decision, sizeof(job->decision), "%s", decision[0] != '\0' ? decision : "-");
    cbx_buf_add_cstr(&job->source, text_of(row, "code"));
    cbx_buf_add(&job->policy, cbx_json_str(json_object_get(request, "policy")));
    job->interactive = json_is_true(json_object_get(request, "interactive"));
    cbx_limits_read(request, &job->limits);
    job->begun = strcmp(text_of(row, "begun"), "0") != 0;
    job->audit_seq = strtoull(text_of(row, "audit_seq"), NULL, 10);
    job->recovered = true;
    return job;
}

/* Has the executor drop the sessions and results that the store has no record of. After a failed
 * call they stay until they expire. */
static void reconcile(struct cbx_rest *rest, const json_t *rows)
{
    CBX_AUTO_JSON sessions = NULL;
    struct cbx_err err;
    size_t i;
    const json_t *row;
    if (cbx_store_list_sessions(rest->store, &sessions, &err) != 0) {
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
    if (cbx_call_reconcile(rest->flow, &args, CBX_STR(""), NULL, &err) != 0) {
        cbx_log(CBX_LOG_WARNING, "sandboxes of the earlier gateway: %s", err.text);
    }
}

void cbx_rest_recover(struct cbx_rest *rest)
{
    CBX_AUTO_JSON rows = NULL;
    size_t i;
    const json_t *row;
    struct cbx_err err;
    if (cbx_store_list_running(rest->store, &rows, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "executions of the earlier gateway: %s", err.text);
        return;
    }
    reconcile(rest, rows);
    json_array_foreach(rows, i, row)
    {
        cbx_rest_job_recover(read_row(rest, row));
    }
    cbx_rest_start_backlog(rest);
}
