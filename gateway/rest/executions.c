/* SPDX-License-Identifier: MIT
 * Executions: POST /execute judges and records before it answers; what is allowed runs in a thread
 * of its own. */
#include "gateway/rest/rest.h"

#include "analyzer/analyze.h"
#include "gateway/collect.h"

#include <stdlib.h>

enum { CODE_MAX = 8 * 1024 * 1024 };

struct body {
    struct cbx_str code, session, language;
    const json_t *disable;
};

static const struct cbx_json_field fields[] = {
    { .name = "code",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct body, code),
      .required = true,
      .min = 0,
      .max = CODE_MAX },
    { .name = "session_id",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct body, session),
      .required = true,
      .min = 1,
      .max = 64 },
    { .name = "language",
      .type = CBX_JSON_STR,
      .offset = offsetof(struct body, language),
      .min = 1,
      .max = 32 },
    { .name = "disable_validation",
      .type = CBX_JSON_ANY,
      .offset = offsetof(struct body, disable),
      .nullable = true },
};

/* An allowed execution on its way. Strings are its own. */
struct job {
    struct cbx_rest *rest;
    char id[37], session[65];
    char *policy;
    struct cbx_limits limits;
    struct cbx_judgement judgement;
};

/* --- results as CodeBox-AI has them ----------------------------------------------------------- */

static void add_item(json_t *output, json_t *files, const json_t *item)
{
    const char *kind = json_string_value(json_object_get(item, "kind"));
    if (strcmp(kind, "stdout") == 0 || strcmp(kind, "stderr") == 0) {
        json_array_append_new(output, json_pack("{s:s,s:s,s:O}", "type", "stream", "name", kind,
                                                "content", json_object_get(item, "text")));
        return;
    }
    if (strcmp(kind, "cut") == 0) {
        json_t *note = json_sprintf("\n[%lld bytes of output are left out here]\n",
                                    (long long)json_integer_value(json_object_get(item, "size")));
        json_array_append_new(output, json_pack("{s:s,s:s,s:o}", "type", "stream", "name", "stdout",
                                                "content", note));
        return;
    }
    json_t *data = json_object_get(item, "data"), *png = json_object_get(data, "image/png"),
           *text = json_object_get(data, "text/plain");
    if (png != NULL) {
        json_array_append(files, png);
    }
    if (data != NULL && png == NULL) { /* HTML or SVG alone has no content for a client of
                                          CodeBox-AI, but ours find it in `data` */
        json_array_append_new(output, json_pack("{s:s,s:o,s:O}", "type", "result", "content",
                                                text != NULL ? json_incref(text) : json_string(""),
                                                "data", data));
    }
}

static json_t *split_lines(const char *text)
{
    json_t *lines = json_array();
    for (const char *at = text; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        json_array_append_new(lines, cbx_json_text((struct cbx_str){ .p = at, .len = len }));
        at += len + (at[len] == '\n');
    }
    return lines;
}

static json_t *describe_error(const struct cbx_result *r)
{
    static const char *const reasons[] = { [CBX_RUN_FAILED] = "the run failed",
                                           [CBX_RUN_TIMEOUT] = "stopped at the time limit",
                                           [CBX_RUN_OOM] = "stopped at the memory limit",
                                           [CBX_RUN_KILLED] = "the program was killed",
                                           [CBX_RUN_CPU] =
                                               "stopped at the limit of processor time" };
    if (r->status == CBX_RUN_OK) {
        return json_null();
    }
    if (r->ename != NULL) {
        return json_pack("{s:o,s:o,s:o}", "ename", cbx_json_text(cbx_str_of(r->ename)), "evalue",
                         cbx_json_text(cbx_str_of(r->evalue != NULL ? r->evalue : "")), "traceback",
                         split_lines(r->traceback != NULL ? r->traceback : ""));
    }
    if (r->status == CBX_RUN_ERROR) {
        return json_sprintf("exit code %d", r->exit_code);
    }
    return json_sprintf("%s after %llu ms%s", reasons[r->status],
                        (unsigned long long)r->duration_ms,
                        r->session_lost ? "; the session's state is lost" : "");
}

static json_t *make_results(const struct cbx_collected *collected,
                            const struct cbx_outcome *outcome, const struct cbx_err *err)
{
    json_t *output = json_array(), *files = json_array();
    size_t i;
    const json_t *item;
    json_array_foreach(collected->items, i, item)
    {
        add_item(output, files, item);
    }
    const struct cbx_result *r = &outcome->result;
    json_t *error = outcome->ran && err->code == 0 ? describe_error(r) : json_string(err->text);
    return json_pack("{s:o,s:o,s:o,s:s,s:i,s:I,s:b,s:s}", "output", output, "error", error, "files",
                     files, "outcome", cbx_run_status_name(r->status), "exit_code", r->exit_code,
                     "duration_ms", (json_int_t)r->duration_ms, "truncated", r->output_truncated,
                     "decision", outcome->id);
}

/* --- the job ---------------------------------------------------------------------------------- */

static void free_job(struct job *job)
{
    cbx_judgement_done(&job->judgement);
    free(job->policy);
    free(job);
}

static bool is_stopping(struct cbx_rest *rest)
{
    pthread_mutex_lock(&rest->lock);
    bool stopping = rest->stopping;
    pthread_mutex_unlock(&rest->lock);
    return stopping;
}

static void end_job(struct cbx_rest *rest)
{
    pthread_mutex_lock(&rest->lock);
    if (--rest->jobs == 0) {
        pthread_cond_broadcast(&rest->idle);
    }
    pthread_mutex_unlock(&rest->lock);
}

/* Where the events of a job go, and who asks whether it should go on. */
struct run {
    struct cbx_collected collected;
    struct cbx_sink sink;
    struct cbx_rest *rest;
};

static int take_event(void *context, const struct cbx_event *event)
{
    struct run *run = context;
    return run->sink.event(run->sink.context, event);
}

static bool is_cancelled(void *context)
{
    return is_stopping(((struct run *)context)->rest);
}

static int run_submission(struct job *job, struct run *run, struct cbx_outcome *outcome,
                          struct cbx_err *err)
{
    struct cbx_sink sink = { .event = take_event, .cancelled = is_cancelled, .context = run };
    struct cbx_request request =
        cbx_rest_request(CBX_ACTION_RUN, "ipython", cbx_str_of(job->policy),
                         cbx_str_of(job->session), cbx_buf_str(&job->judgement.text), &job->limits);
    int failed = cbx_review_submit(job->rest->flow, &request, &job->judgement, &sink, outcome, err);
    cbx_collected_finish(&run->collected);
    if (failed && is_stopping(job->rest)) {
        cbx_fail(err, failed, "the gateway was stopped while this ran");
    } else if (failed == CBX_ENOTFOUND) { /* closed, for it was idle, or not to be opened again: the
                                             next call is told at once */
        cbx_flow_ask(job->rest->flow, "close", job->session, NULL, NULL);
        cbx_store_remove_session(job->rest->store, job->session, NULL);
    }
    return failed;
}

static void store_results(const struct job *job, const struct run *run,
                          const struct cbx_outcome *outcome, bool good, struct cbx_err *err)
{
    char now[32];
    cbx_rest_now(now);
    CBX_AUTO_JSON results = make_results(&run->collected, outcome, err);
    if (cbx_store_set_execution(job->rest->store, job->id, good ? "completed" : "error", now,
                                results, err) != 0) {
        CBX_AUTO_JSON short_results =
            json_pack("{s:[],s:[],s:s}", "output", "files", "error", err->text);
        cbx_store_set_execution(job->rest->store, job->id, "error", now, short_results, NULL);
    }
}

static void *run_job(void *context)
{
    struct job *job = context;
    struct cbx_rest *rest = job->rest;
    struct cbx_err err = { 0 };
    struct run run = { .rest = rest };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    cbx_collected_init(&run.collected);
    run.sink = cbx_collected_sink(&run.collected);
    int failed = run_submission(job, &run, &outcome, &err);
    store_results(job, &run, &outcome,
                  !failed && outcome.ran && outcome.result.status == CBX_RUN_OK, &err);
    cbx_collected_done(&run.collected);
    free_job(job);
    end_job(rest);
    return NULL;
}

static int start_job(struct job *job, struct cbx_err *err)
{
    struct cbx_rest *rest = job->rest;
    pthread_mutex_lock(&rest->lock);
    bool full = rest->stopping || rest->jobs >= rest->jobs_max;
    rest->jobs += !full;
    pthread_mutex_unlock(&rest->lock);
    if (full) {
        return cbx_fail(err, CBX_EBUSY, "%d executions are in work already; try again later",
                        rest->jobs_max);
    }
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &detached, run_job, job);
    pthread_attr_destroy(&detached);
    if (failed) {
        end_job(rest);
        return cbx_fail(err, CBX_EBUSY, "no thread could be made");
    }
    return 0;
}

/* --- the calls -------------------------------------------------------------------------------- */

/* What no caller may do, and what CodeBox-AI accepts silently. False when the answer is made. */
static bool check_body(struct cbx_rest_call *call, const struct body *body)
{
    struct cbx_err err = { 0 };
    bool disables = body->disable != NULL &&
                    !(json_is_array(body->disable) && json_array_size(body->disable) == 0);
    if (disables) {
        cbx_fail(&err, CBX_EINVAL,
                 "disable_validation is not possible here: the policy is the operator's, a caller "
                 "cannot weaken it");
    } else if (body->language.len > 0 && !cbx_str_is(body->language, "python")) {
        cbx_fail(&err, CBX_EINVAL, "language is '%.*s', a session runs python",
                 CBX_STR_ARG(body->language));
    } else {
        return true;
    }
    cbx_rest_fail(call, 400, &err);
    return false;
}

static void answer_denial(struct cbx_rest_call *call, const struct cbx_request *request,
                          const struct cbx_judgement *judgement)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    if (cbx_review_submit(call->rest->flow, request, judgement, NULL, &outcome, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_deny(call, &outcome);
}

static void start_execution(struct cbx_rest_call *call, struct job *job, struct cbx_str code,
                            struct cbx_err *err)
{
    char now[32];
    cbx_rest_now(now);
    cbx_uuid_make(job->id);
    char id[37];
    snprintf(id, sizeof(id), "%s", job->id);
    cbx_rest_context_add(call->rest, job->session, code);
    int failed = cbx_store_add_execution(call->rest->store, job->id, job->session, now, err);
    failed = failed
                 ? failed
                 : cbx_store_set_execution(call->rest->store, job->id, "running", NULL, NULL, err);
    failed = failed ? failed : start_job(job, err);
    if (failed) {
        cbx_store_set_execution(call->rest->store, id, "error", now, NULL, NULL);
        free_job(job);
        cbx_rest_fail(call, 0, err);
        return;
    }
    cbx_rest_answer(
        call, 200,
        json_pack("{s:s,s:s,s:s}", "request_id", id, "status", "created", "created_at", now));
}

void cbx_rest_execute(struct cbx_rest_call *call)
{
    struct body body = { 0 };
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, fields, sizeof(fields) / sizeof(fields[0]), &body) ||
        !check_body(call, &body)) {
        return;
    }
    struct job *job = calloc(1, sizeof(*job));
    CBX_AUTO_JSON options = NULL;
    if (job == NULL) {
        abort();
    }
    job->rest = call->rest;
    snprintf(job->session, sizeof(job->session), "%.*s", CBX_STR_ARG(body.session));
    bool cut = strlen(job->session) != body.session.len; /* at a NUL */
    int failed =
        cut ? CBX_ENOTFOUND
            : cbx_store_get_session(call->rest->store, job->session, &job->policy, &options, &err);
    if (failed) {
        if (failed == CBX_ENOTFOUND) {
            cbx_fail(&err, CBX_ENOTFOUND, "Session not found");
        }
        free_job(job);
        cbx_rest_fail(call, 0, &err);
        return;
    }
    job->limits = cbx_rest_limits(options);
    struct cbx_request request =
        cbx_rest_request(CBX_ACTION_RUN, "ipython", cbx_str_of(job->policy),
                         cbx_str_of(job->session), body.code, &job->limits);
    CBX_AUTO_DONE(buf) context;
    cbx_buf_init(&context, 2 * CBX_CONTEXT_MAX_BYTES);
    cbx_rest_context_copy(call->rest, job->session, &context);
    request.subject.context = cbx_buf_str(&context);
    if (cbx_review_judge(call->rest->flow, &request, &job->judgement, &err) != 0) {
        free_job(job);
        cbx_rest_fail(call, 0, &err);
    } else if (job->judgement.verdict != CBX_ALLOW) {
        answer_denial(call, &request, &job->judgement);
        free_job(job);
    } else {
        start_execution(call, job, body.code, &err);
    }
}

/* NULL when the answer is made. New reference otherwise. */
static json_t *find_execution(struct cbx_rest_call *call, const char *missing)
{
    json_t *execution = NULL;
    struct cbx_err err = { 0 };
    int failed = cbx_store_get_execution(call->rest->store, call->id, &execution, &err);
    if (failed) {
        if (failed == CBX_ENOTFOUND) {
            cbx_fail(&err, CBX_ENOTFOUND, "%s", missing);
        }
        cbx_rest_fail(call, 0, &err);
        return NULL;
    }
    return execution;
}

void cbx_rest_get_status(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON e = find_execution(call, "Request not found");
    if (e != NULL) {
        cbx_rest_answer(
            call, 200,
            json_pack("{s:O,s:O,s:O,s:O}", "request_id", json_object_get(e, "request_id"), "status",
                      json_object_get(e, "status"), "created_at", json_object_get(e, "created_at"),
                      "completed_at", json_object_get(e, "completed_at")));
    }
}

void cbx_rest_get_results(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON e = find_execution(call, "Results not available");
    if (e == NULL) {
        return;
    }
    json_t *results = json_object_get(e, "results");
    if (!json_is_object(results)) {
        struct cbx_err err;
        cbx_fail(&err, CBX_ENOTFOUND, "Results not available");
        cbx_rest_fail(call, 0, &err);
        return;
    }
    json_object_set(results, "status", json_object_get(e, "status"));
    json_object_set(results, "completed_at", json_object_get(e, "completed_at"));
    cbx_rest_answer(call, 200, json_incref(results));
}
