/* SPDX-License-Identifier: MIT
 * Recovery of the jobs of an earlier gateway. */
#include "gateway/front/rest/recovery.h"

#include "gateway/front/executor_client.h"
#include "gateway/front/rest/jobs.h"
#include "gateway/front/rest/queue.h"
#include "policies/base/log.h"

#include <unistd.h>

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

static int starting_max(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 2 ? (int)processors : 2;
}

/* With the lock: removes and returns the first job of the backlog; NULL when none may start now. */
static struct cbx_rest_job *take_next(struct cbx_rest *rest)
{
    struct cbx_rest_job *job = rest->backlog;
    if (job == NULL || rest->stopping || rest->starting >= starting_max()) {
        return NULL;
    }
    rest->backlog = job->next_in_backlog;
    rest->starting++;
    job->starting = true;
    return job;
}

/* True when the job was counted as starting. */
static bool end_start(struct cbx_rest *rest, struct cbx_rest_job *job)
{
    pthread_mutex_lock(&rest->lock);
    bool starting = job->starting;
    job->starting = false;
    rest->starting -= starting;
    pthread_mutex_unlock(&rest->lock);
    return starting;
}

static void launch(struct cbx_rest *rest, struct cbx_rest_job *job)
{
    struct cbx_err err;
    if (cbx_rest_job_launch(job, &err) != 0) { /* its row stays in the store for the next gateway */
        cbx_log(CBX_LOG_ERROR, "execution %s of the earlier gateway: %s", job->id, err.text);
        end_start(rest, job);
        cbx_rest_job_free(job);
    }
}

static void start_backlog(struct cbx_rest *rest)
{
    for (;;) {
        pthread_mutex_lock(&rest->lock);
        struct cbx_rest_job *job = take_next(rest);
        pthread_mutex_unlock(&rest->lock);
        if (job == NULL) {
            return;
        }
        launch(rest, job);
    }
}

void cbx_rest_recovery_started(struct cbx_rest_job *job)
{
    struct cbx_rest *rest = job->rest;
    if (job->recovered && end_start(rest, job)) {
        start_backlog(rest);
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
    struct cbx_rest_job **last = &rest->backlog;
    json_array_foreach(rows, i, row)
    {
        struct cbx_rest_job *job = read_row(rest, row);
        cbx_rest_enqueue(job);
        if (job->begun) {
            launch(rest, job);
        } else {
            *last = job;
            last = &job->next_in_backlog;
        }
    }
    start_backlog(rest);
}

void cbx_rest_recovery_done(struct cbx_rest *rest)
{
    while (rest->backlog != NULL) {
        struct cbx_rest_job *job = rest->backlog;
        rest->backlog = job->next_in_backlog;
        cbx_rest_job_free(job);
    }
}
