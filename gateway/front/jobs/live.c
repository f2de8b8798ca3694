/* SPDX-License-Identifier: MIT
 * Executions that have not ended: one list, in the order of their acceptance. */
#include "gateway/front/jobs/live.h"

#include "gateway/front/access.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/input.h"
#include "gateway/front/service/decisions.h"
#include "gateway/front/service/shared_quotas.h"
#include "gateway/front/store/store_use.h"
#include "gateway/identity/identity.h"
#include "policies/base/log.h"
#include "policies/base/time/deadline.h"

#include <string.h>

/* --- the list, with the lock ------------------------------------------------------------------ */

static struct cbx_job *find(const struct cbx_service *service, const char *id)
{
    struct cbx_job *job = service->live;
    while (job != NULL && strcmp(job->id, id) != 0) {
        job = job->next_live;
    }
    return job;
}

struct cbx_job *cbx_live_find(const struct cbx_service *service, const char *principal,
                              const char *id)
{
    struct cbx_job *job = find(service, id);
    bool is_of = job != NULL && !job->ended && strcmp(job->principal, principal) == 0;
    return is_of ? job : NULL;
}

static void append(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    *(service->live != NULL ? service->live_last : &service->live) = job;
    service->live_last = &job->next_live;
    job->is_live = true;
}

static int count_waiting(const struct cbx_service *service, const char *principal)
{
    int waiting = 0;
    for (const struct cbx_job *job = service->live; job != NULL; job = job->next_live) {
        waiting += !job->begun && strcmp(job->principal, principal) == 0;
    }
    return waiting;
}

int cbx_live_add(struct cbx_job *job, struct cbx_err *err)
{
    struct cbx_service *service = job->service;
    int64_t most = cbx_quotas_runs(service->quotas, job->principal, CBX_QUOTA_WAITING);
    int failed = 0;
    most = most > 0 ? most : CBX_LIVE_WAITING;
    pthread_mutex_lock(&service->lock);
    int waiting = count_waiting(service, job->principal);
    if (waiting >= most) {
        enum { RETRY_S = 1 };
        failed =
            cbx_fail(err, CBX_EQUOTA,
                     "%d executions of '%s' wait, which is as many as may; cancel some, or try "
                     "again later",
                     waiting, job->principal);
        err->retry_s = RETRY_S;
    } else {
        append(job);
    }
    pthread_mutex_unlock(&service->lock);
    return failed;
}

void cbx_live_restore(struct cbx_job *job)
{
    pthread_mutex_lock(&job->service->lock);
    append(job);
    pthread_mutex_unlock(&job->service->lock);
}

void cbx_live_remove(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    pthread_mutex_lock(&service->lock);
    struct cbx_job **at = &service->live;
    while (*at != NULL && *at != job) {
        at = &(*at)->next_live;
    }
    if (*at != NULL) {
        *at = job->next_live;
        service->live_last = job->next_live == NULL ? at : service->live_last;
        job->is_live = job->has_room = false;
        pthread_cond_broadcast(&service->queue_changed); /* another one may run */
    }
    pthread_mutex_unlock(&service->lock);
}

/* --- room ------------------------------------------------------------------------------------- */

/* FIFO among the waiting jobs of the principal. */
static bool may_run(const struct cbx_job *job, int64_t most)
{
    int64_t running = 0;
    bool first = true;
    const struct cbx_job *at = job->service->live;
    for (bool before = true; at != NULL && most > 0; at = at->next_live) {
        bool own = strcmp(at->principal, job->principal) == 0;
        before = before && at != job;
        running += own && at->has_room;
        first = first && !(own && before && at->wants_room && !at->has_room);
    }
    return most == 0 || (first && running < most);
}

static bool is_over(const struct cbx_job *job)
{
    return job->service->stopping || job->cancelled;
}

static int count_running(const struct cbx_job *job)
{
    int running = 0;
    for (const struct cbx_job *at = job->service->live; at != NULL; at = at->next_live) {
        running += at->has_room && strcmp(at->principal, job->principal) == 0;
    }
    return running;
}

/* Waits until a place may be free again: one of this replica, at once; one of another replica is
 * looked for. */
static void await_change(const struct cbx_job *job)
{
    enum { POLL_MS = 250 };
    struct cbx_service *service = job->service;
    int64_t until = cbx_clock_ms() + POLL_MS;
    int running = count_running(job);
    while (!is_over(job) && count_running(job) >= running &&
           cbx_cond_wait_until(&service->queue_changed, &service->lock, until)) {
    }
}

/* With the lock of the service, which is released for the statement. */
static int try_shared_room(struct cbx_job *job, int64_t most, struct cbx_err *err)
{
    struct cbx_service *service = job->service;
    pthread_mutex_unlock(&service->lock);
    int failed = cbx_store_place_run(service->store, job->principal, job->id, most, err);
    pthread_mutex_lock(&service->lock);
    return failed;
}

/* Waits for a place that replicas share; of the jobs of a principal that wait here, only the first
 * one asks. A database that is away for a moment fails no job. */
static int take_shared_room(struct cbx_job *job, int64_t most, struct cbx_err *err)
{
    enum { AWAY_MS = 10000 };
    int64_t answered_ms = cbx_clock_ms();
    int failed = try_shared_room(job, most, err);
    while (failed == CBX_EQUOTA || failed == CBX_EIO) {
        answered_ms = failed == CBX_EQUOTA ? cbx_clock_ms() : answered_ms;
        if (cbx_clock_ms() - answered_ms > AWAY_MS) {
            return failed;
        }
        await_change(job);
        if (is_over(job)) {
            return 0;
        }
        failed = try_shared_room(job, most, err);
    }
    return failed;
}

static int find_most(const struct cbx_job *job, int64_t *most, struct cbx_err *err)
{
    struct cbx_service *service = job->service;
    if (service->shared_quotas != NULL) {
        return cbx_shared_quotas_runs(service->shared_quotas, job, most, err);
    }
    *most = cbx_quotas_runs(service->quotas, job->principal, CBX_QUOTA_AT_ONCE);
    return 0;
}

int cbx_live_await_room(struct cbx_job *job, bool *may_begin, struct cbx_err *err)
{
    struct cbx_service *service = job->service;
    int64_t most = 0;
    int failed = find_most(job, &most, err);
    if (failed) {
        return failed;
    }
    pthread_mutex_lock(&service->lock);
    job->wants_room = job->is_live; /* files and resets need no place */
    while (job->is_live && !is_over(job) && !may_run(job, most)) {
        pthread_cond_wait(&service->queue_changed, &service->lock);
    }
    if (service->shared_quotas != NULL && most > 0 && job->is_live && !is_over(job)) {
        failed = take_shared_room(job, most, err);
    }
    *may_begin = !is_over(job);
    job->wants_room = false;
    job->has_room = *may_begin && job->is_live && !failed;
    pthread_cond_broadcast(&service->queue_changed);
    pthread_mutex_unlock(&service->lock);
    return failed;
}

/* --- cancelling ------------------------------------------------------------------------------- */

/* The executor's reply about a run that has ended meanwhile is ignored. */
static void cancel_run(struct cbx_flow *flow, const char *run, const char *principal)
{
    const struct cbx_cancel_args args = { .run = cbx_str_of(run),
                                          .principal = cbx_str_of(principal) };
    struct cbx_err err = { 0 };
    int failed = cbx_call_cancel(flow, &args, CBX_STR(""), NULL, &err);
    if (failed && failed != CBX_ENOTFOUND) {
        cbx_log(CBX_LOG_WARNING, "run %s was not cancelled: %s", run, err.text);
    }
}

void cbx_live_note_run(struct cbx_job *job, const char *decision)
{
    struct cbx_service *service = job->service;
    pthread_mutex_lock(&service->lock);
    snprintf(job->run, sizeof(job->run), "%s", decision);
    bool cancelled = job->cancelled && decision[0] != '\0';
    pthread_mutex_unlock(&service->lock);
    if (cancelled) {
        cancel_run(service->flow, decision, job->principal);
    }
}

void cbx_live_note_ahead(struct cbx_job *job, int ahead)
{
    pthread_mutex_lock(&job->service->lock);
    job->ahead = ahead;
    pthread_mutex_unlock(&job->service->lock);
}

void cbx_live_note_begun(struct cbx_job *job)
{
    pthread_mutex_lock(&job->service->lock);
    job->begun = true;
    bool flushes = cbx_input_begin(job);
    pthread_mutex_unlock(&job->service->lock);
    if (flushes) {
        cbx_input_flush(job);
    }
}

bool cbx_live_is_cancelled(struct cbx_job *job)
{
    pthread_mutex_lock(&job->service->lock);
    bool cancelled = job->cancelled;
    pthread_mutex_unlock(&job->service->lock);
    return cancelled;
}

bool cbx_live_end(struct cbx_job *job)
{
    pthread_mutex_lock(&job->service->lock);
    job->ended = true;
    bool cancelled = job->cancelled;
    pthread_mutex_unlock(&job->service->lock);
    return cancelled;
}

/* The next gateway finds no waiting execution: neither it nor the executor (reconcile) begins
 * the run. */
static int store_cancelled(struct cbx_service *service, const char *id, struct cbx_err *err)
{
    char now[32];
    cbx_service_now(now);
    CBX_AUTO_JSON results =
        json_pack("{s:[],s:[],s:s}", "output", "files", "error", "cancelled before it began");
    return cbx_store_set_execution(service->store, id, "cancelled", now, results, err);
}

int cbx_live_cancel(struct cbx_service *service, const char *principal, const char *id, bool *began,
                    struct cbx_err *err)
{
    char run[CBX_ID_CHARS + 1] = "", own_id[37];
    pthread_mutex_lock(&service->lock);
    struct cbx_job *job = cbx_live_find(service, principal, id);
    bool found = job != NULL;
    if (found) {
        job->cancelled = true;
        *began = job->begun;
        memcpy(run, job->run, sizeof(run));
        memcpy(own_id, job->id, sizeof(own_id));
        pthread_cond_broadcast(&service->queue_changed);
    }
    pthread_mutex_unlock(&service->lock);
    if (!found) {
        return cbx_fail(err, CBX_ENOTFOUND, "there is no such execution that has not ended");
    }
    int failed = 0;
    if (!*began) {
        failed = store_cancelled(service, own_id, err);
    }
    if (run[0] != '\0') {
        cancel_run(service->flow, run, principal);
    }
    return failed;
}

/* --- rights ----------------------------------------------------------------------------------- */

int cbx_live_check(struct cbx_job *job, struct cbx_err *err)
{
    const struct cbx_flow *flow = job->service->flow;
    const struct cbx_policy *policy;
    struct cbx_caller caller;
    if (flow->identity == NULL) {
        return 0;
    }
    const struct cbx_begun begun = { .principal = job->principal,
                                     .credential = job->claims.credential,
                                     .asked_ms = job->created_ms };
    int failed = cbx_identity_still(flow->identity, &begun, CBX_RIGHT_EXECUTE, err);
    if (failed) {
        return failed;
    }
    cbx_identity_caller(flow->identity, cbx_str_of(job->principal),
                        cbx_str_of(job->claims.credential), &caller);
    failed = cbx_caller_policy(&caller, cbx_flow_policies(flow), cbx_buf_str(&job->policy), &policy,
                               err);
    if (failed) {
        return cbx_fail(err, CBX_EFORBIDDEN, "principal '%s' may not use policy '%s' any more",
                        job->principal, job->policy.len > 0 ? job->policy.p : "default");
    }
    return 0;
}

/* Finds the first one that may not run and is not cancelled: its principal and id. */
static bool find_forbidden(struct cbx_service *service, char principal[CBX_NAME_MAX + 1],
                           char id[37], struct cbx_err *why)
{
    bool found = false;
    pthread_mutex_lock(&service->lock);
    for (struct cbx_job *job = service->live; job != NULL && !found; job = job->next_live) {
        found = !job->cancelled && !job->ended && cbx_live_check(job, why) != 0;
        if (found) {
            snprintf(principal, CBX_NAME_MAX + 1, "%s", job->principal);
            snprintf(id, 37, "%s", job->id);
        }
    }
    pthread_mutex_unlock(&service->lock);
    return found;
}

void cbx_live_enforce(struct cbx_service *service)
{
    char principal[CBX_NAME_MAX + 1], id[37];
    struct cbx_err why = { 0 };
    bool began;
    while (service->flow->identity != NULL && find_forbidden(service, principal, id, &why)) {
        cbx_log(CBX_LOG_WARNING, "execution %s of '%s' is cancelled: %s", id, principal, why.text);
        cbx_live_cancel(service, principal, id, &began, NULL);
    }
}

static void note_expired(struct cbx_service *service)
{
    char id[CBX_ID_CHARS + 1], principal[CBX_NAME_MAX + 1];
    while (cbx_decisions_take_expired(service->decisions, cbx_clock_ms(), id, principal)) {
        const struct cbx_access_entry entry = { .principal = principal, .decision = id };
        cbx_access_note(service->flow, CBX_ACCESS_APPROVAL_EXPIRED, &entry, NULL);
    }
}

static void *watch(void *context)
{
    enum { STEP_MS = 1000 };
    struct cbx_service *service = context;
    pthread_mutex_lock(&service->lock);
    while (!service->stopping) {
        cbx_cond_wait_ms(&service->watch_changed, &service->lock, STEP_MS);
        pthread_mutex_unlock(&service->lock);
        cbx_live_enforce(service);
        note_expired(service);
        pthread_mutex_lock(&service->lock);
    }
    pthread_mutex_unlock(&service->lock);
    return NULL;
}

void cbx_live_watch(struct cbx_service *service)
{
    service->watches = pthread_create(&service->watcher, NULL, watch, service) == 0;
    if (!service->watches) {
        cbx_log(CBX_LOG_ERROR, "a thread cannot be started: tokens that are revoked end nothing "
                               "that has begun");
    }
}

/* --- looking ---------------------------------------------------------------------------------- */

/* Counts the jobs of its session before it that have not begun, and the jobs of its principal that
 * wait for a place as it does; adds the executor's number. */
static int count_ahead(const struct cbx_job *job)
{
    int ahead = job->ahead > 0 ? job->ahead : 0;
    for (const struct cbx_job *at = job->service->live; at != job; at = at->next_live) {
        bool session =
                 job->session[0] != '\0' && !at->begun && strcmp(at->session, job->session) == 0,
             room = job->wants_room && at->wants_room && strcmp(at->principal, job->principal) == 0;
        ahead += session || room;
    }
    return ahead;
}

void cbx_live_describe(struct cbx_service *service, const char *id, json_t *execution)
{
    if (strcmp(json_string_value(json_object_get(execution, "status")), "running") != 0) {
        return;
    }
    pthread_mutex_lock(&service->lock);
    const struct cbx_job *job = find(service, id);
    if (job != NULL && !job->begun) {
        json_object_set_new(execution, "status", json_string("queued"));
        json_object_set_new(execution, "ahead", json_integer(count_ahead(job)));
    }
    pthread_mutex_unlock(&service->lock);
}

json_t *cbx_live_stats(struct cbx_service *service)
{
    int queued = 0, running = 0;
    pthread_mutex_lock(&service->lock);
    for (const struct cbx_job *job = service->live; job != NULL; job = job->next_live) {
        queued += !job->begun;
        running += job->begun;
    }
    pthread_mutex_unlock(&service->lock);
    return json_pack("{s:i,s:i}", "queued", queued, "running", running);
}
