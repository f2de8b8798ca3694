/* SPDX-License-Identifier: MIT
 * Executions on their way. */
#include "gateway/rest/jobs.h"

#include "analyzer/analyze.h"
#include "analyzer/context.h"
#include "gateway/collect.h"
#include "gateway/relay.h"
#include "gateway/rest/line.h"
#include "gateway/rest/results.h"
#include "gateway/wire.h"

#include <stdlib.h>
#include <time.h>

enum { CODE_MAX = 16 * 1024 * 1024 };

struct cbx_rest_job *cbx_rest_job_new(struct cbx_rest *rest)
{
    struct cbx_rest_job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        abort();
    }
    job->rest = rest;
    cbx_buf_init(&job->policy, CBX_NAME_MAX + 1);
    cbx_buf_init(&job->source, CODE_MAX);
    cbx_buf_init(&job->context, 2 * CBX_CONTEXT_MAX_BYTES);
    cbx_uuid_make(job->id);
    return job;
}

void cbx_rest_job_free(struct cbx_rest_job *job)
{
    cbx_rest_line_leave(job);
    cbx_buf_done(&job->policy);
    cbx_buf_done(&job->source);
    cbx_buf_done(&job->context);
    cbx_judgement_done(&job->judgement);
    free(job);
}

/* The next gateway asks the executor for it by the decision that it really ran under; and one that
 * never began it begins. */
static void note_progress(void *context, enum cbx_progress progress, const char *decision)
{
    struct cbx_rest_job *job = context;
    if (progress == CBX_ADMITTED) {
        cbx_rest_line_pass(job);
        return;
    }
    cbx_store_mark_execution(job->rest->store, job->id, decision, progress == CBX_BEGUN, NULL);
    if (progress == CBX_BEGUN) {
        cbx_rest_line_leave(job);
    } else {
        cbx_rest_line_await(job);
    }
}

struct cbx_request cbx_rest_job_request(const struct cbx_rest_job *job)
{
    struct cbx_request request =
        cbx_rest_request(CBX_ACTION_RUN, job->language, cbx_buf_str(&job->policy),
                         cbx_str_of(job->session), cbx_buf_str(&job->source), &job->limits);
    request.subject.context = cbx_buf_str(&job->context);
    request.wishes = (struct cbx_run_wishes){ .keep = true,
                                              .interactive = job->interactive,
                                              .note = note_progress,
                                              .context = (void *)(uintptr_t)job };
    return request;
}

int cbx_rest_job_in_session(struct cbx_rest_job *job, struct cbx_err *err)
{
    CBX_AUTO_JSON options = NULL;
    CBX_AUTO_MEM char *policy = NULL;
    int failed = cbx_store_get_session(job->rest->store, job->session, &policy, &options, err);
    if (failed) {
        return failed;
    }
    const char *language = json_string_value(json_object_get(options, "language"));
    cbx_buf_add_cstr(&job->policy, policy);
    snprintf(job->language, sizeof(job->language), "%s", language != NULL ? language : "ipython");
    job->limits = cbx_rest_limits(options);
    cbx_rest_context_copy(job->rest, job->session, &job->context);
    return 0;
}

/* --- who hears of it ----------------------------------------------------------------------------
 */

/* Where the events of a job go, and who asks whether it should go on. */
struct run {
    struct cbx_rest_job *job;
    struct cbx_collected collected;
    struct cbx_sink sink;
};

/* One server-sent event (WHATWG HTML, 9.2); JSON has no line ends in it. */
static void send_event(struct cbx_rest_job *job, const char *name, const json_t *data)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 128 * 1024 * 1024);
    cbx_buf_printf(&text, "event: %s\ndata: ", name);
    cbx_json_write(&text, data);
    cbx_buf_add_cstr(&text, "\n\n");
    cbx_http_stream_add(job->stream, cbx_buf_str(&text));
}

/* The event as the collected items are written; streams as they come. */
static void stream_event(struct cbx_rest_job *job, const struct cbx_event *event)
{
    static const char *const streams[] = {
        [CBX_EVENT_STDOUT] = "stdout", [CBX_EVENT_STDERR] = "stderr"
    };
    if (event->kind == CBX_EVENT_STDOUT || event->kind == CBX_EVENT_STDERR) {
        CBX_AUTO_JSON data = json_pack("{s:o}", "text", cbx_json_text(event->text));
        send_event(job, streams[event->kind], data);
        return;
    }
    if (event->kind == CBX_EVENT_ASK) {
        CBX_AUTO_JSON data =
            json_pack("{s:o,s:b}", "prompt", cbx_json_text(event->text), "secret", event->secret);
        send_event(job, "input", data);
        return;
    }
    CBX_AUTO_DONE(collected) one;
    cbx_collected_init(&one);
    struct cbx_sink sink = cbx_collected_sink(&one);
    sink.event(sink.context, event);
    json_t *item = json_array_get(one.items, 0);
    if (item != NULL) {
        send_event(job, json_string_value(json_object_get(item, "kind")), item);
    }
}

static int take_event(void *context, const struct cbx_event *event)
{
    struct run *run = context;
    if (run->job->stream != NULL) {
        stream_event(run->job, event);
    }
    return run->sink.event(run->sink.context, event);
}

static void restart(void *context)
{
    struct run *run = context;
    cbx_rest_line_return(run->job);
    run->sink.restart(run->sink.context);
    if (run->job->stream != NULL) {
        CBX_AUTO_JSON nothing = json_object();
        send_event(run->job, "restart", nothing);
    }
}

/* Runs that are wanted by themselves go on without us when the gateway stops. */
static bool is_stopping(void *context)
{
    struct cbx_rest *rest = ((struct run *)context)->job->rest;
    pthread_mutex_lock(&rest->lock);
    bool stopping = rest->stopping;
    pthread_mutex_unlock(&rest->lock);
    return stopping;
}

/* The executor of a master that was killed does not come back; that we are to end, we hear in a
 * moment. */
static bool will_stop(struct run *run, int failed)
{
    enum { STEPS = 150, STEP_MS = 20 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
    for (int i = 0; failed == CBX_EIO && i < STEPS && !is_stopping(run); i++) {
        nanosleep(&step, NULL);
    }
    return is_stopping(run);
}

static void answer(struct cbx_rest_job *job, const json_t *execution, const struct cbx_err *err)
{
    if (job->stream != NULL) {
        send_event(job, "done", execution);
        cbx_http_stream_end(cbx_steal(&job->stream));
    }
    if (job->exchange != NULL) {
        struct cbx_http_response response = { .status = 200,
                                              .json = json_incref((json_t *)(uintptr_t)execution) };
        struct cbx_rest_call call = { .rest = job->rest, .response = &response };
        if (err->code != 0) {
            json_decref(response.json);
            response.json = NULL;
            cbx_rest_fail(&call, 0, err);
        }
        cbx_http_answer(cbx_steal(&job->exchange), &response);
    }
}

/* --- the job ------------------------------------------------------------------------------------
 */

/* Stores what became of it; only then the sandbox may forget it. */
static void finish(struct run *run, struct cbx_outcome *outcome, int failed, struct cbx_err *err)
{
    struct cbx_rest_job *job = run->job;
    char now[32];
    cbx_rest_now(now);
    cbx_collected_finish(&run->collected);
    outcome->result.output_truncated |= run->collected.omitted > 0;
    outcome->result.files_truncated |= run->collected.incomplete;
    CBX_AUTO_JSON results = cbx_rest_results(run->collected.items, outcome, err);
    bool good = !failed && outcome->ran && outcome->result.status == CBX_RUN_OK;
    const char *status = good ? "completed" : "error";
    CBX_AUTO_JSON execution =
        json_pack("{s:s,s:s,s:s,s:s,s:s}", "request_id", job->id, "session_id", job->session,
                  "language", job->language, "status", status, "completed_at", now);
    json_object_set(execution, "results", results);
    CBX_AUTO_JSON json = cbx_rest_execution_json(execution);
    answer(job, json, err);
    struct cbx_err store_err;
    if (cbx_store_set_execution(job->rest->store, job->id, status, now, results, &store_err) != 0) {
        CBX_AUTO_JSON short_results =
            json_pack("{s:[],s:[],s:s}", "output", "files", "error", store_err.text);
        cbx_store_set_execution(job->rest->store, job->id, "error", now, short_results, NULL);
    }
    cbx_outcome_acknowledge(job->rest->flow, outcome);
}

static void begin(struct run *run, struct cbx_rest_job *job)
{
    *run = (struct run){ .job = job };
    cbx_collected_init(&run->collected);
    run->sink = cbx_collected_sink(&run->collected);
}

/* A decision that was not made just now. */
static int judge_again(struct cbx_rest_job *job, struct cbx_err *err)
{
    struct cbx_request request = cbx_rest_job_request(job);
    cbx_judgement_done(&job->judgement);
    return cbx_review_judge_again(job->rest->flow, &request, &job->judgement, err);
}

/* When its turn has come. */
static int submit(struct cbx_rest_job *job, const struct cbx_sink *sink,
                  struct cbx_outcome *outcome, struct cbx_err *err)
{
    enum { FRESH_MS = 10000 }; /* a third of what a judgement is good for */
    int64_t began = cbx_clock_ms();
    if (!cbx_rest_line_await(job)) {
        return cbx_fail(err, CBX_EIO, "the gateway stops");
    }
    int failed = cbx_clock_ms() - began > FRESH_MS ? judge_again(job, err) : 0;
    struct cbx_request request = cbx_rest_job_request(job);
    return failed
               ? failed
               : cbx_review_submit(job->rest->flow, &request, &job->judgement, sink, outcome, err);
}

/* What became of it, or, if it never began, a beginning. */
static int recover(struct cbx_rest_job *job, const struct cbx_sink *sink,
                   struct cbx_outcome *outcome, struct cbx_err *err)
{
    snprintf(outcome->id, sizeof(outcome->id), "%s", job->decision);
    struct cbx_request request = cbx_rest_job_request(job);
    int failed = cbx_review_resume(job->rest->flow, &request.wishes, sink, outcome, err);
    if (failed != CBX_ENOTFOUND) {
        return failed;
    }
    if (job->begun || outcome->begun) {
        return cbx_fail(err, CBX_EENGINE,
                        "the gateway was restarted while this ran, and its sandbox is gone");
    }
    outcome->id[0] = '\0';
    if (job->session[0] != '\0') {
        cbx_rest_context_copy(job->rest, job->session, &job->context);
    }
    failed = judge_again(job, err);
    return failed ? failed : submit(job, sink, outcome, err);
}

static void run_job(void *context)
{
    struct cbx_rest_job *job = context;
    struct cbx_rest *rest = job->rest;
    struct cbx_err err = { 0 };
    struct run run;
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    begin(&run, job);
    struct cbx_sink sink = {
        .event = take_event, .cancelled = is_stopping, .restart = restart, .context = &run
    };
    int failed =
        job->recovered ? recover(job, &sink, &outcome, &err) : submit(job, &sink, &outcome, &err);
    if (!failed) {
        err = (struct cbx_err){ 0 }; /* of a try before the one that succeeded */
    }
    if (!failed && !outcome.ran) { /* it was allowed when it was accepted */
        failed = cbx_fail(&err, CBX_EPOLICY,
                          "the gateway was restarted before this began, and its policy does not "
                          "allow it any more");
    }
    if (failed && will_stop(&run, failed)) {
        /* It goes on in its sandbox; the next gateway stores its result. */
        CBX_AUTO_JSON nothing = json_object();
        cbx_fail(&err, CBX_EBUSY, "the gateway stops; ask the next one for this execution");
        answer(job, nothing, &err);
    } else {
        if (failed == CBX_ENOTFOUND && job->session[0] != '\0') {
            /* Closed, for it was idle: the next call is told at once. */
            cbx_flow_ask(rest->flow, "close", job->session, NULL, NULL);
            cbx_store_remove_session(rest->store, job->session, NULL);
        }
        finish(&run, &outcome, failed, &err);
    }
    cbx_collected_done(&run.collected);
    cbx_rest_job_free(job);
}

static int start_thread(struct cbx_rest_job *job, struct cbx_err *err)
{
    struct cbx_rest *rest = job->rest;
    pthread_mutex_lock(&rest->lock);
    bool stopping = rest->stopping;
    pthread_mutex_unlock(&rest->lock);
    return !stopping && cbx_threads_run(rest->jobs, run_job, job)
               ? 0
               : cbx_fail(err, CBX_EBUSY, "%d executions are in work already; try again later",
                          rest->jobs_max);
}

static json_t *describe_request(const struct cbx_rest_job *job)
{
    json_t *request = json_object();
    json_object_set_new(request, "policy", cbx_json_text(cbx_buf_str(&job->policy)));
    json_object_set_new(request, "interactive", json_boolean(job->interactive));
#define CBX_LIMIT(member, ...)                                                                     \
    json_object_set_new(request, #member, json_integer(job->limits.member));
#include "policies/limits.def"
#undef CBX_LIMIT
    return request;
}

int cbx_rest_job_start(struct cbx_rest_job *job, struct cbx_err *err)
{
    char now[32], decision[CBX_ID_CHARS + 1], id[37];
    struct cbx_rest *rest = job->rest;
    cbx_rest_now(now);
    cbx_judgement_id(&job->judgement, decision);
    memcpy(id, job->id, sizeof(id));
    if (job->session[0] != '\0') {
        cbx_rest_context_add(rest, job->session, cbx_buf_str(&job->source));
    }
    CBX_AUTO_JSON request = describe_request(job);
    snprintf(job->decision, sizeof(job->decision), "%s", decision);
    struct cbx_stored_execution stored = { .id = job->id,
                                           .session = job->session,
                                           .created_at = now,
                                           .decision = decision,
                                           .language = job->language,
                                           .code = job->source.p,
                                           .request = request };
    int failed = cbx_store_add_execution(rest->store, &stored, err);
    cbx_rest_line_up(job);
    failed = failed ? failed : start_thread(job, err);
    if (failed) {
        CBX_AUTO_JSON results = json_pack("{s:[],s:[],s:s}", "output", "files", "error", err->text);
        cbx_store_set_execution(rest->store, id, "error", now, results, NULL);
        cbx_rest_job_free(job);
    }
    return failed;
}

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
    job->limits = cbx_rest_limits(request);
    job->begun = strcmp(text_of(row, "begun"), "0") != 0;
    job->recovered = true;
    return job;
}

/* An executor that cannot be asked now keeps what it has until its time is over. */
static void tell_wanted(struct cbx_rest *rest, const json_t *rows)
{
    CBX_AUTO_JSON sessions = NULL;
    struct cbx_err err;
    size_t i;
    const json_t *row;
    if (cbx_store_list_sessions(rest->store, &sessions, &err) != 0) {
        return;
    }
    json_t *ids = json_array(), *runs = json_array();
    json_array_foreach(sessions, i, row)
    {
        json_array_append(ids, json_object_get(row, "id"));
    }
    json_array_foreach(rows, i, row)
    {
        json_array_append(runs, json_object_get(row, "decision"));
    }
    CBX_AUTO_JSON header =
        json_pack("{s:s,s:o,s:o}", "op", "wanted", "sessions", ids, "runs", runs);
    cbx_flow_request(rest->flow, header, CBX_STR(""), NULL, NULL, &err);
}

void cbx_rest_jobs_recover(struct cbx_rest *rest)
{
    CBX_AUTO_JSON rows = NULL;
    size_t i;
    const json_t *row;
    struct cbx_err err;
    if (cbx_store_list_running(rest->store, &rows, &err) != 0) {
        return;
    }
    tell_wanted(rest, rows);
    json_array_foreach(rows, i, row)
    {
        struct cbx_rest_job *job = read_row(rest, row);
        cbx_rest_line_up(job);
        if (start_thread(job, &err) != 0) {
            cbx_rest_job_free(job);
        }
    }
}
