/* SPDX-License-Identifier: MIT
 * Executions: the code is judged first; a denial is recorded and returned, an allowed execution
 * becomes a job. */
#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/input.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/results.h"
#include "gateway/front/rest/acceptance.h"
#include "gateway/front/rest/client.h"
#include "gateway/front/rest/idempotency.h"
#include "gateway/front/service/decisions.h"
#include "gateway/front/service/dependencies.h"
#include "gateway/ipc/seal/mount_requests.h"

#include "analyzer/analyze.h"
#include "policies/base/time/clock.h"
#include "policies/packages.h"

#include <limits.h>
#include <stdlib.h>

enum { CODE_MAX = 8 * 1024 * 1024 };

struct body {
    struct cbx_str code, session, language, policy, approval, input;
    struct cbx_input_wanted wanted;
    const json_t *disable, *dependencies;
    struct cbx_rest_asked asked;
    double timeout_s;
    bool async, stream, interactive;
};

#define INPUT_FIELDS                                                                               \
    { "stdin", CBX_JSON_STR, offsetof(struct body, wanted.text), false, true, 0, INT_MAX },        \
    {                                                                                              \
        "stdin_base64", CBX_JSON_STR, offsetof(struct body, wanted.base64), false, true, 0,        \
            INT_MAX                                                                                \
    }

static const struct cbx_json_field legacy_fields[] = {
    { "code", CBX_JSON_STR, offsetof(struct body, code), true, false, 0, CODE_MAX },
    { "session_id", CBX_JSON_STR, offsetof(struct body, session), true, false, 1, 64 },
    { "language", CBX_JSON_STR, offsetof(struct body, language), false, false, 1, 32 },
    { "disable_validation", CBX_JSON_ANY, offsetof(struct body, disable), false, true, 0, 0 },
    INPUT_FIELDS,
};
CBX_REST_INPUT(execute, legacy_fields);

static const struct cbx_json_field fields[] = {
    { "code", CBX_JSON_STR, offsetof(struct body, code), true, false, 0, CODE_MAX },
    { "session_id", CBX_JSON_STR, offsetof(struct body, session), false, true, 1, 64 },
    { "language", CBX_JSON_STR, offsetof(struct body, language), false, true, 1, 32 },
    { "policy", CBX_JSON_STR, offsetof(struct body, policy), false, true, 1, 64 },
    CBX_REST_ASKED(struct body, asked),
    { "dependencies", CBX_JSON_ARRAY, offsetof(struct body, dependencies), false, true, 0, 64 },
    { "approval", CBX_JSON_STR, offsetof(struct body, approval), false, true, 1, CBX_ID_CHARS },
    { "timeout_seconds", CBX_JSON_NUMBER, offsetof(struct body, timeout_s), false, true, 0, 86400 },
    { "async", CBX_JSON_BOOL, offsetof(struct body, async), false, false, 0, 0 },
    { "stream", CBX_JSON_BOOL, offsetof(struct body, stream), false, false, 0, 0 },
    { "interactive", CBX_JSON_BOOL, offsetof(struct body, interactive), false, false, 0, 0 },
    INPUT_FIELDS,
    { "input", CBX_JSON_STR, offsetof(struct body, input), false, true, 1, 32 },
};
CBX_REST_INPUT(create_execution, fields);

/* Refuses options that CodeBox-AI accepts silently and no caller may use here. False if the
 * response is made. */
static bool check_legacy(struct cbx_rest_call *call, const struct body *body)
{
    struct cbx_err err = { 0 };
    const char *language = cbx_dialect_shown(cbx_dialect_default());
    bool disables = body->disable != NULL &&
                    !(json_is_array(body->disable) && json_array_size(body->disable) == 0);
    if (disables) {
        cbx_fail(&err, CBX_EINVAL,
                 "disable_validation is not possible here: the policy is the operator's, a caller "
                 "cannot weaken it");
    } else if (body->language.len > 0 && !cbx_str_is(body->language, language)) {
        cbx_fail(&err, CBX_EINVAL, "language is '%.*s', a session runs %s",
                 CBX_STR_SHOWN(body->language), language);
    } else {
        return true;
    }
    cbx_rest_fail(call, 400, &err);
    return false;
}

void cbx_rest_execute(struct cbx_rest_call *call)
{
    struct body body = { 0 };
    if (!cbx_rest_body(call, legacy_fields, sizeof(legacy_fields) / sizeof(legacy_fields[0]),
                       &body) ||
        !check_legacy(call, &body)) {
        return;
    }
    struct cbx_job *job = cbx_rest_job(call);
    struct cbx_err err = { 0 };
    char id[37], now[32];
    memcpy(id, job->id, sizeof(id));
    cbx_service_now(now);
    cbx_buf_add(&job->source, body.code);
    if (cbx_input_give(job, &body.wanted, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        cbx_job_free(job);
        return;
    }
    struct cbx_rest_opening opening = { .call = call };
    job->client = cbx_rest_opening_client(&opening);
    if (!cbx_rest_find_session(call, job, body.session) || !cbx_rest_accept(call, job)) {
        cbx_job_free(job);
        return;
    }
    job->client = (struct cbx_job_client){ 0 };
    if (cbx_job_start(job, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(
        call, 200,
        json_pack("{s:s,s:s,s:s}", "request_id", id, "status", "created", "created_at", now));
}

/* False if the response is made. */
static bool read_input(struct cbx_rest_call *call, const struct body *body, struct cbx_job *job)
{
    struct cbx_err err = { 0 };
    struct cbx_input_wanted wanted = body->wanted;
    wanted.streams = cbx_str_is(body->input, "stream");
    if (body->input.p != NULL && !wanted.streams) {
        cbx_fail(&err, CBX_EINVAL, "'input' is '%.*s', allowed is stream",
                 CBX_STR_SHOWN(body->input));
    } else {
        cbx_input_give(job, &wanted, &err);
    }
    if (err.code != 0) {
        cbx_rest_fail(call, 0, &err);
    }
    return err.code == 0;
}

/* For a one-shot; a session has the packages of its opening. False if the response is made. */
static bool have_dependencies(struct cbx_rest_call *call, const struct body *body,
                              struct cbx_job *job)
{
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    const struct cbx_dependencies d = { .list = body->dependencies,
                                        .policy = cbx_buf_str(&job->policy),
                                        .language = job->language,
                                        .principal = cbx_rest_principal(call),
                                        .origin = CBX_STR("rest"),
                                        .claims = &call->claims,
                                        .exists = job->session[0] != '\0',
                                        .installed = cbx_asked_packages(&job->asked),
                                        .progress = job->client.progress,
                                        .gone = job->client.gone,
                                        .context = job->client.context };
    int64_t began = cbx_clock_ms();
    if (!cbx_rest_have_dependencies(call, &d, &set)) {
        return false;
    }
    if (set.len > 0) {
        cbx_asked_set_packages(&job->asked, cbx_buf_str(&set));
    }
    job->installed_ms = set.len > 0 ? cbx_clock_ms() - began + 1 : 0;
    return true;
}

/* Joins the session of the request, or takes policy and language for a one-shot. False: the
 * response is made. */
static bool choose_session(struct cbx_rest_call *call, const struct body *body,
                           const char *language, struct cbx_job *job)
{
    struct cbx_err err = { 0 };
    const struct cbx_asked *asked = &job->asked;
    if (body->session.len == 0) {
        struct cbx_str policy;
        if (!cbx_rest_policy(call, body->policy, &policy)) {
            return false;
        }
        cbx_buf_add(&job->policy, policy);
        snprintf(job->language, sizeof(job->language), "%s", language);
        return true;
    }
    if (asked->environment != NULL || asked->mounts != NULL) {
        cbx_fail(&err, CBX_EINVAL, "'%s' is set when a session is opened, not for one of its runs",
                 asked->mounts != NULL ? "mounts" : "environment");
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    if (!cbx_rest_find_session(call, job, body->session)) {
        return false;
    }
    if (body->language.len > 0 && strcmp(job->language, language) != 0) {
        cbx_fail(&err, CBX_EINVAL, "language is '%.*s', this session runs %s",
                 CBX_STR_SHOWN(body->language), job->language);
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    return true;
}

static bool read_job(struct cbx_rest_call *call, const struct body *body, struct cbx_job *job)
{
    struct cbx_err err = { 0 };
    const char *language = cbx_dialect_of(body->language, &err);
    if (language == NULL || cbx_rest_read_asked(&body->asked, &job->asked, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    job->interactive = body->interactive;
    if (!read_input(call, body, job)) {
        return false;
    }
    /* joining a session sets the limits of the job */
    struct cbx_limits requested = job->asked.limits;
    cbx_buf_add(&job->source, body->code);
    if (!choose_session(call, body, language, job) || !have_dependencies(call, body, job)) {
        return false;
    }
    cbx_limits_tighten(&job->asked.limits, &requested);
    if (body->timeout_s > 0) {
        struct cbx_limits timeout;
        cbx_limits_unset(&timeout);
        timeout.wall_ms = (int64_t)(body->timeout_s * 1000);
        cbx_limits_tighten(&job->asked.limits, &timeout);
    }
    if (body->approval.len > 0 &&
        cbx_decisions_approval(call->service->decisions, cbx_rest_principal(call), body->approval,
                               cbx_clock_ms(), &job->approval, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    return true;
}

static bool requests_stream(const struct cbx_rest_call *call, const struct body *body)
{
    struct cbx_str accept = call->request->accept;
    return body->stream ||
           (accept.len > 0 && memmem(accept.p, accept.len, "text/event-stream", 17) != NULL);
}

void cbx_rest_create_execution(struct cbx_rest_call *call)
{
    struct body body = { 0 };
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, fields, sizeof(fields) / sizeof(fields[0]), &body)) {
        return;
    }
    struct cbx_job *job = cbx_rest_job(call);
    struct cbx_rest_opening opening = { .call = call };
    char id[37];
    memcpy(id, job->id, sizeof(id));
    bool once = cbx_rest_once(call, CBX_ONCE_EXECUTION, id), streams = requests_stream(call, &body);
    if (streams) {
        opening.stream = cbx_http_stream_new();
        memcpy(opening.id, id, sizeof(id));
    }
    job->client = cbx_rest_opening_client(&opening);
    if (!once || !read_job(call, &body, job) || !cbx_rest_accept(call, job)) {
        if (once) {
            cbx_rest_undo_once(call, id);
        }
        cbx_job_free(job);
        if (streams) {
            cbx_rest_opening_fail(&opening);
        }
        return;
    }
    bool waits = !streams && !body.async;
    job->client = (struct cbx_job_client){ 0 };
    struct cbx_rest_waiting waiting = { .exchange = call->request->exchange };
    if (waits) {
        snprintf(waiting.request_id, sizeof(waiting.request_id), "%s", call->request->id);
        job->client = cbx_rest_wait_for(&waiting);
    } else if (streams) {
        job->client = cbx_rest_opening_run(&opening);
    }
    if (cbx_job_start(job, &err) != 0) {
        cbx_rest_undo_once(call, id);
        cbx_rest_fail(call, 0, &err);
        if (streams) {
            cbx_rest_opening_fail(&opening);
        }
    } else if (streams) {
        cbx_rest_opening_answer(&opening);
    } else if (waits) {
        call->response->answered = true;
    } else {
        CBX_AUTO_JSON now = json_pack("{s:s,s:s}", "execution_id", id, "status", "running");
        cbx_live_describe(call->service, id, now);
        cbx_rest_answer(call, 202, cbx_steal(&now));
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Returns NULL if the response is made; a new reference otherwise. */
static json_t *find_execution(struct cbx_rest_call *call, const char *missing)
{
    json_t *execution = NULL;
    struct cbx_err err = { 0 };
    int failed = cbx_store_get_execution(call->service->store, cbx_rest_principal(call), call->id,
                                         &execution, &err);
    if (failed) {
        if (failed == CBX_ENOTFOUND) {
            cbx_fail(&err, CBX_ENOTFOUND, "%s", missing);
        }
        cbx_rest_fail(call, 0, &err);
        return NULL;
    }
    cbx_live_describe(call->service, call->id, execution);
    return execution;
}

/* The same for a caller that requests the results: status 410 for results that the store
 * dropped. */
static json_t *find_results(struct cbx_rest_call *call, const char *missing)
{
    CBX_AUTO_JSON e = find_execution(call, missing);
    if (e != NULL && json_is_true(json_object_get(e, "dropped"))) {
        char text[160];
        snprintf(
            text, sizeof(text),
            "the execution ended (%s), and its results were removed to make room for newer ones",
            json_string_value(json_object_get(e, "status")));
        cbx_rest_gone(call, text);
        return NULL;
    }
    return cbx_steal(&e);
}

/* Clients of CodeBox-AI wait for one of its statuses. */
static const char *legacy_status(const json_t *execution)
{
    const char *status = json_string_value(json_object_get(execution, "status"));
    return strcmp(status, "queued") == 0      ? "running"
           : strcmp(status, "cancelled") == 0 ? "error"
                                              : status;
}

void cbx_rest_get_status(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON e = find_execution(call, "Request not found");
    if (e != NULL) {
        cbx_rest_answer(call, 200,
                        json_pack("{s:O,s:s,s:O,s:O}", "request_id",
                                  json_object_get(e, "request_id"), "status", legacy_status(e),
                                  "created_at", json_object_get(e, "created_at"), "completed_at",
                                  json_object_get(e, "completed_at")));
    }
}

void cbx_rest_get_results(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON e = find_results(call, "Results not available");
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
    json_t *legacy = cbx_results_legacy(results);
    json_object_set_new(legacy, "status", json_string(legacy_status(e)));
    json_object_set(legacy, "completed_at", json_object_get(e, "completed_at"));
    cbx_rest_answer(call, 200, legacy);
}

void cbx_rest_get_execution(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON e = find_results(call, "there is no such execution");
    if (e != NULL) {
        cbx_rest_answer(call, 200, cbx_execution_json(e));
    }
}

/* Finds the current decision of an execution, which names its run in calls to the executor.
 * False if the response is made. */
static bool find_run(struct cbx_rest_call *call, char decision[CBX_ID_CHARS + 1])
{
    CBX_AUTO_JSON e = find_execution(call, "there is no such execution");
    if (e == NULL) {
        return false;
    }
    const char *id = json_string_value(json_object_get(e, "decision"));
    const char *status = json_string_value(json_object_get(e, "status"));
    if (strcmp(status, "running") != 0 || id == NULL) {
        struct cbx_err err;
        cbx_fail(&err, CBX_ESTATE, "the execution %s",
                 strcmp(status, "queued") == 0 ? "has not begun" : "is over");
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    snprintf(decision, CBX_ID_CHARS + 1, "%s", id);
    return true;
}

void cbx_rest_cancel_execution(struct cbx_rest_call *call)
{
    struct cbx_err err = { 0 };
    bool began = false;
    CBX_AUTO_JSON e = find_execution(call, "there is no such execution");
    if (e == NULL) {
        return;
    }
    int failed = cbx_live_cancel(call->service, cbx_rest_principal(call), call->id, &began, &err);
    if (failed == CBX_ENOTFOUND) {
        cbx_fail(&err, CBX_ESTATE, "the execution is over");
    }
    if (failed) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(call, 202, json_pack("{s:s}", "status", began ? "interrupted" : "cancelled"));
}

struct input {
    struct cbx_str text;
};
static const struct cbx_json_field input_fields[] = {
    { "text", CBX_JSON_STR, offsetof(struct input, text), false, true, 0, 60000 },
};
CBX_REST_INPUT(answer, input_fields);

struct feeding {
    bool end;
};
static const struct cbx_json_field feeding_fields[] = {
    { "end", CBX_JSON_BOOL, offsetof(struct feeding, end), false, false, 0, 0 },
};
CBX_REST_INPUT(feeding, feeding_fields);

/* True for bytes for a program that streams its standard input; a request without a body may end
 * the input. */
static bool brings_bytes(const struct cbx_http_request *request)
{
    return cbx_str_starts(request->content_type, CBX_STR("application/octet-stream")) ||
           (request->body.len == 0 && request->query.len > 0);
}

static void feed_execution(struct cbx_rest_call *call)
{
    struct feeding feeding = { 0 };
    struct cbx_err err = { 0 };
    if (!cbx_rest_query(call, feeding_fields, 1, &feeding)) {
        return;
    }
    CBX_AUTO_JSON e = find_execution(call, "there is no such execution");
    if (e == NULL) {
        return;
    }
    const struct cbx_input_part part = { .principal = cbx_rest_principal(call),
                                         .id = call->id,
                                         .proof = call->claims.proof,
                                         .bytes = call->request->body,
                                         .end = feeding.end };
    if (cbx_input_feed(call->service, &part, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(call, 202, json_pack("{s:s}", "status", feeding.end ? "ended" : "accepted"));
}

void cbx_rest_answer_execution(struct cbx_rest_call *call)
{
    if (brings_bytes(call->request)) {
        feed_execution(call);
        return;
    }
    struct input input = { 0 };
    char decision[CBX_ID_CHARS + 1];
    struct cbx_err err = { 0 };
    if (!cbx_rest_body(call, input_fields, 1, &input) || !find_run(call, decision)) {
        return;
    }
    CBX_AUTO_DONE(buf) line; /* without a text: the end of the input */
    cbx_buf_init(&line, 64 * 1024);
    cbx_buf_add(&line, input.text);
    if (input.text.p != NULL) {
        cbx_buf_add_char(&line, '\n');
    }
    struct cbx_input_args args = { .session = cbx_str_of(decision),
                                   .principal = cbx_str_of(cbx_rest_principal(call)),
                                   .proof = call->claims.proof };
    if (cbx_call_input(call->service->flow, &args, cbx_buf_str(&line), NULL, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    cbx_rest_answer(call, 202, json_pack("{s:s}", "status", "answered"));
}
