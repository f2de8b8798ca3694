/* SPDX-License-Identifier: MIT
 * The tools that run code, and waiting for an execution. A call waits for less than a minute,
 * which is what clients grant; the program may run longer, and another call asks for its result. */
#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/input.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/results.h"
#include "gateway/front/mcp/tools/content.h"
#include "gateway/front/mcp/tools/mcp_approval.h"
#include "gateway/front/mcp/tools/tools_internal.h"
#include "gateway/front/service/accept.h"
#include "gateway/front/service/dependencies.h"
#include "gateway/front/service/service_sessions.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"
#include "policies/packages.h"

enum {
    WAIT_MS = CBX_TOOL_WAIT_S * 1000,
    ASKED_WAIT_MS = 10000, /* minimum, if a question took most of the time */
    FIRST_PROGRESS_MS = 1000,
    PROGRESS_MS = 2000,
    ROUNDS = 3 /* questions of one call: the session may have changed before each answer */
};

/* --- waiting ---------------------------------------------------------------------------------- */

/* Reports the waiting time of the call, or the number of executions before this one. */
static void report_run(const struct cbx_tool_call *call, const char *execution, int64_t elapsed_ms)
{
    char message[64];
    CBX_AUTO_JSON now = json_pack("{s:s}", "status", "running");
    cbx_live_describe(call->mcp->service, execution, now);
    const json_t *ahead = json_object_get(now, "ahead");
    if (ahead != NULL) {
        snprintf(message, sizeof(message), "queued, %lld before it",
                 (long long)json_integer_value(ahead));
    } else {
        snprintf(message, sizeof(message), "running for %lld s", (long long)(elapsed_ms / 1000));
    }
    cbx_tool_report(call, message);
}

/* Ends an execution of the caller; no effect on an ended one. */
static void cancel(const struct cbx_tool_call *call, const char *execution)
{
    bool began;
    cbx_live_cancel(call->mcp->service, cbx_mcp_caller(call->peer)->principal, execution, &began,
                    NULL);
}

/* Waits until is_over(context), which is called with the lock, up to the time limit of a call.
 * If the client cancels, the program is interrupted repeatedly until it ends. False: it still
 * runs. */
static bool await(const struct cbx_tool_call *call, const char *execution,
                  bool (*is_over)(const void *context), const void *context)
{
    enum { STEP_MS = 100, CANCELLED_MS = 3000 };
    struct cbx_mcp *mcp = call->mcp;
    int64_t began = cbx_clock_ms(), end = call->began_ms + WAIT_MS,
            progress = began + FIRST_PROGRESS_MS;
    end = end > began + ASKED_WAIT_MS ? end : began + ASKED_WAIT_MS;
    bool cancelled = false;
    pthread_mutex_lock(&mcp->lock);
    bool over = is_over(context);
    for (int64_t now = began; !over && now < end; now = cbx_clock_ms()) {
        bool asked = cbx_tool_is_cancelled(call);
        if (asked || now >= progress) {
            pthread_mutex_unlock(&mcp->lock);
            if (asked) {
                cancel(call, execution);
            } else {
                report_run(call, execution, now - began);
                progress = now + PROGRESS_MS;
            }
            pthread_mutex_lock(&mcp->lock);
        }
        end = asked && !cancelled ? now + CANCELLED_MS : end;
        cancelled |= asked;
        over = is_over(context);
        if (!over) {
            cbx_cond_wait_until(&mcp->ended, &mcp->lock, now + STEP_MS < end ? now + STEP_MS : end);
            over = is_over(context);
        }
    }
    pthread_mutex_unlock(&mcp->lock);
    return over;
}

/* --- an execution of this call ---------------------------------------------------------------- */

/* State shared by the job and the call that waits for it. */
struct pending {
    struct cbx_mcp *mcp;
    json_t *execution; /* the ended execution; NULL with an error */
    struct cbx_err err;
    bool ended, abandoned; /* abandoned: the call does not wait any more */
};

static void free_pending(struct pending *p)
{
    json_decref(p->execution);
    free(p);
}

static void note_end(void *context, const json_t *execution, const struct cbx_err *err)
{
    struct pending *p = context;
    struct cbx_mcp *mcp = p->mcp;
    pthread_mutex_lock(&mcp->lock);
    p->err = *err;
    p->execution = err->code == 0 ? json_incref((json_t *)(uintptr_t)execution) : NULL;
    p->ended = true;
    bool last = p->abandoned;
    pthread_cond_broadcast(&mcp->ended);
    pthread_mutex_unlock(&mcp->lock);
    if (last) {
        free_pending(p);
    }
}

static bool has_ended(const void *context)
{
    return ((const struct pending *)context)->ended;
}

/* The call stops waiting. The last owner frees it. */
static void leave(struct pending *p)
{
    pthread_mutex_lock(&p->mcp->lock);
    p->abandoned = true;
    bool last = p->ended;
    pthread_mutex_unlock(&p->mcp->lock);
    if (last) {
        free_pending(p);
    }
}

static json_t *describe_running(struct cbx_service *service, const char *id, const char *session)
{
    CBX_AUTO_JSON execution =
        json_pack("{s:s,s:s,s:s}", "execution_id", id, "session_id", session, "status", "running");
    cbx_live_describe(service, id, execution);
    return cbx_content_of_execution(execution, 0);
}

/* Starts the accepted job, and waits for its result. */
static json_t *run_job(const struct cbx_tool_call *call, struct cbx_job *job)
{
    struct pending *p = cbx_new(sizeof(*p));
    char id[37], session[65];
    struct cbx_err err = { 0 };
    memcpy(id, job->id, sizeof(id));
    memcpy(session, job->session, sizeof(session));
    p->mcp = call->mcp;
    job->client = (struct cbx_job_client){ .done = note_end, .context = p };
    int failed = cbx_job_start(job, &err);
    if (failed) {
        free_pending(p);
        return cbx_content_of_error(&err, NULL);
    }
    json_t *result;
    if (!await(call, id, has_ended, p)) {
        if (cbx_tool_is_cancelled(call)) {
            result = cbx_content_of_failure("killed", NULL, "the call was cancelled");
        } else {
            result = describe_running(call->mcp->service, id, session);
        }
    } else if (p->err.code != 0 && (cbx_service_is_stopping(call->mcp->service) ||
                                    cbx_service_says_stop(call->mcp->service))) {
        /* the next gateway has its result */
        result = describe_running(call->mcp->service, id, session);
    } else {
        result = p->err.code != 0 ? cbx_content_of_error(&p->err, NULL)
                                  : cbx_content_of_execution(p->execution, call->mcp->idle_ms);
    }
    leave(p);
    return result;
}

/* --- the tool --------------------------------------------------------------------------------- */

static void report_line(void *context, struct cbx_str line)
{
    const struct cbx_tool_call *call = context;
    char text[200];
    snprintf(text, sizeof(text), "%.*s", (int)line.len, line.p);
    cbx_tool_report(call, text);
}

static bool is_gone(void *context)
{
    const struct cbx_tool_call *call = context;
    return cbx_tool_is_cancelled(call);
}

/* Installs the packages of the call's sandbox; `set` receives their text. `installed` are the
 * packages of the call's session, if `exists`. *took_ms is the install time, 0 if nothing was
 * installed. NULL, or the result with the impossible packages. */
static json_t *have_libraries(const struct cbx_tool_call *call,
                              const struct cbx_tool_arguments *arguments, const struct cbx_job *job,
                              bool exists, struct cbx_buf *set, int64_t *took_ms)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) denial = { 0 };
    const struct cbx_dependencies d = { .list = arguments->libraries,
                                        .language = job->language,
                                        .policy = cbx_buf_str(&job->policy),
                                        .principal = job->principal,
                                        .origin = CBX_STR("mcp"),
                                        .claims = call->claims,
                                        .exists = exists,
                                        .installed = cbx_asked_packages(&job->asked),
                                        .progress = report_line,
                                        .gone = is_gone,
                                        .context = (void *)(uintptr_t)call };
    int64_t began = cbx_clock_ms();
    int failed = cbx_service_have_dependencies(call->mcp->service, &d, set, &denial, &err);
    *took_ms = set->len > 0 ? cbx_clock_ms() - began + 1 : 0;
    return failed                        ? cbx_content_of_error(&err, NULL)
           : denial.verdict != CBX_ALLOW ? cbx_content_of_denial(&denial, CBX_STR(""), NULL)
                                         : NULL;
}

/* The same for the job's own sandbox, or for the existing one of its session. */
static json_t *have_packages(const struct cbx_tool_call *call,
                             const struct cbx_tool_arguments *arguments, struct cbx_job *job,
                             bool exists)
{
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    json_t *refusal = have_libraries(call, arguments, job, exists, &set, &job->installed_ms);
    if (set.len > 0) {
        cbx_asked_set_packages(&job->asked, cbx_buf_str(&set));
    }
    return refusal;
}

/* Opens the session that a call requests. NULL, or the result with the reason for a refusal. */
static json_t *open_session(const struct cbx_tool_call *call,
                            const struct cbx_tool_arguments *arguments, struct cbx_job *job)
{
    CBX_AUTO_DONE(buf) set;
    int64_t took_ms;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    json_t *refusal = have_libraries(call, arguments, job, false, &set, &took_ms);
    if (refusal != NULL) {
        return refusal;
    }
    CBX_AUTO_DONE(opening)
    opening = { .principal = job->principal,
                .language = job->language,
                .policy = cbx_buf_str(&job->policy),
                .origin = CBX_STR("mcp"),
                .claims = call->claims,
                .asked = cbx_asked_nothing };
    cbx_asked_set_packages(&opening.asked, cbx_buf_str(&set));
    opening.asked.mounts = json_incref((json_t *)(uintptr_t)call->mcp->service->flow->mounts);
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    int failed = cbx_service_open_session(call->mcp->service, &opening, &outcome, &err);
    if (failed) {
        return cbx_content_of_error(&err, &outcome);
    }
    if (outcome.verdict != CBX_ALLOW) {
        return cbx_content_of_denial(&outcome, CBX_STR(""), NULL);
    }
    failed = cbx_job_join(job, cbx_str_of(opening.id), &err);
    job->installed_ms = took_ms;
    return failed ? cbx_content_of_error(&err, NULL) : NULL;
}

/* Adds the job to a session, or to none. NULL, or the result with the reason for a refusal. */
static json_t *join(const struct cbx_tool_call *call, const struct cbx_tool_arguments *arguments,
                    struct cbx_job *job)
{
    struct cbx_err err = { 0 };
    const char *language = cbx_dialect_of(arguments->language, &err);
    bool named = json_object_get(call->arguments, "language") != NULL;
    if (language == NULL) {
        return cbx_content_of_error(&err, NULL);
    }
    if (cbx_str_is(arguments->session, "new") || arguments->session.len == 0) {
        const struct cbx_policy *policy =
            cbx_mcp_policy(call->mcp, cbx_mcp_caller(call->peer), &err);
        if (policy == NULL) {
            return cbx_content_of_error(&err, NULL);
        }
        cbx_buf_add(&job->policy, policy->name);
        snprintf(job->language, sizeof(job->language), "%s", language);
        return arguments->session.len > 0 ? open_session(call, arguments, job)
                                          : have_packages(call, arguments, job, false);
    }
    int failed = cbx_job_join(job, arguments->session, &err);
    if (failed == CBX_ENOTFOUND) {
        cbx_fail(
            &err, CBX_ENOTFOUND,
            "there is no session '%.*s': it was closed, or never opened; session \"new\" opens one",
            CBX_STR_SHOWN(arguments->session));
    }
    if (!failed && named && strcmp(job->language, language) != 0) {
        failed = cbx_fail(&err, CBX_EINVAL, "the session runs %s; leave 'language' out",
                          cbx_dialect_shown(job->language));
    }
    return failed ? cbx_content_of_error(&err, NULL) : have_packages(call, arguments, job, true);
}

/* Takes the limits and claims of the call. Until the job starts, the call reports the progress
 * of installs. */
static struct cbx_job *make_job(const struct cbx_tool_call *call,
                                const struct cbx_tool_arguments *arguments)
{
    struct cbx_job *job = cbx_job_new(call->mcp->service, cbx_mcp_caller(call->peer)->principal);
    job->origin = "mcp";
    job->asked.mounts = json_incref((json_t *)(uintptr_t)call->mcp->service->flow->mounts);
    job->client = (struct cbx_job_client){ .progress = report_line,
                                           .gone = is_gone,
                                           .context = (void *)(uintptr_t)call };
    if (call->claims != NULL) {
        job->claims = *call->claims;
    }
    cbx_buf_add(&job->source, arguments->code);
    return job;
}

static void set_timeout(const struct cbx_tool_arguments *arguments, struct cbx_job *job)
{
    struct cbx_limits timeout;
    if (arguments->timeout_s > 0) {
        cbx_limits_unset(&timeout);
        timeout.wall_ms = (int64_t)(arguments->timeout_s * 1000);
        cbx_limits_tighten(&job->asked.limits, &timeout);
    }
}

/* True if the approver must be another principal: the client to ask is the one that requests the
 * run. */
static bool needs_another(const struct cbx_tool_call *call, const struct cbx_job *job)
{
    const struct cbx_policy *policy =
        cbx_policies_find(cbx_flow_policies(call->mcp->service->flow), cbx_buf_str(&job->policy));
    return policy == NULL || policy->four_eyes;
}

/* Returns NULL if the job was accepted; else the result with the reason, or with the question to
 * the client. *asks: the result waits for the client, which may repeat the call. */
static json_t *accept(const struct cbx_tool_call *call, struct cbx_job *job, bool *asks)
{
    struct cbx_err err = { 0 };
    struct cbx_str code = cbx_buf_str(&job->source);
    *asks = false;
    for (int i = 0;; i++) {
        CBX_AUTO_DONE(outcome) denial = { 0 };
        int failed = cbx_job_accept(job, &denial, &err);
        if (failed) {
            return cbx_content_of_error(&err, &denial);
        }
        if (denial.verdict == CBX_ALLOW) {
            return NULL;
        }
        if (denial.verdict == CBX_ASK && needs_another(call, job)) {
            return cbx_content_of_denial(&denial, code, CBX_APPROVAL_OF_ANOTHER);
        }
        *asks = denial.verdict == CBX_ASK && call->asking == CBX_ASKS_BY_RESULT;
        if (*asks) {
            return cbx_mcp_ask_by_result(call, job, &denial);
        }
        if (denial.verdict != CBX_ASK || call->asking == CBX_ASKS_NOT) {
            return cbx_content_of_denial(&denial, code, CBX_APPROVAL_UNASKED);
        }
        json_t *refusal = i < ROUNDS ? cbx_mcp_ask_by_request(call, job, &denial)
                                     : cbx_content_of_denial(&denial, code, CBX_APPROVAL_CHANGED);
        if (refusal != NULL) {
            return refusal;
        }
    }
}

json_t *cbx_tool_run(const struct cbx_tool_call *call, const struct cbx_tool_arguments *arguments)
{
    char session[65];
    bool asks = false, opens = cbx_str_is(arguments->session, "new");
    struct cbx_err err = { 0 };
    struct cbx_tool_arguments joined = *arguments;
    struct cbx_job *job = make_job(call, arguments);
    const struct cbx_input_wanted input = { .text = arguments->input };
    if (cbx_input_give(job, &input, &err) != 0) {
        cbx_job_free(job);
        return cbx_content_of_error(&err, NULL);
    }
    json_t *refusal = cbx_mcp_take_retry(call, &job->approval, session);
    /* The session that was opened before the client was asked; if it is closed by now, another
     * one, and the client is asked again. */
    if (opens && cbx_store_get_session(call->mcp->service->store, job->principal, session, NULL,
                                       NULL, &err) == 0) {
        joined.session = cbx_str_of(session);
    }
    if (refusal == NULL) {
        refusal = join(call, &joined, job);
    }
    if (refusal != NULL) {
        cbx_job_free(job);
        return refusal;
    }
    set_timeout(arguments, job);
    refusal = accept(call, job, &asks);
    if (refusal != NULL) {
        if (opens && !asks) { /* nothing ran: no session is left */
            cbx_service_close_session(call->mcp->service, job->principal, job->session, NULL);
        }
        cbx_job_free(job);
        return refusal;
    }
    return run_job(call, job);
}

/* --- an execution of an earlier call ---------------------------------------------------------- */

/* A stored execution, with the lock of the server. */
struct stored {
    struct cbx_store *store;
    const char *principal, *id;
    json_t **row;
    int *failed;
    struct cbx_err *err;
};

static bool is_stored(const void *context)
{
    const struct stored *s = context;
    json_decref(*s->row);
    *s->row = NULL;
    *s->failed = cbx_store_get_execution(s->store, s->principal, s->id, s->row, s->err);
    const char *status = json_string_value(json_object_get(*s->row, "status"));
    return *s->failed || status == NULL || strcmp(status, "running") != 0;
}

json_t *cbx_tool_await(const struct cbx_tool_call *call, const char *execution)
{
    CBX_AUTO_JSON row = NULL;
    struct cbx_err err = { 0 };
    int failed = 0;
    struct stored stored = { call->mcp->service->store,
                             cbx_mcp_caller(call->peer)->principal,
                             execution,
                             &row,
                             &failed,
                             &err };
    await(call, execution, is_stored, &stored);
    if (failed == CBX_ENOTFOUND) {
        cbx_fail(&err, CBX_ENOTFOUND, "there is no execution '%.64s'", execution);
    }
    if (failed) {
        return cbx_content_of_error(&err, NULL);
    }
    if (json_is_true(json_object_get(row, "dropped"))) {
        return cbx_content_of_failure(
            "invalid", NULL,
            "the execution ended, and its results were removed to make room for newer ones");
    }
    CBX_AUTO_JSON json = cbx_execution_json(row);
    cbx_live_describe(call->mcp->service, execution, json);
    return cbx_content_of_execution(json, call->mcp->idle_ms);
}
