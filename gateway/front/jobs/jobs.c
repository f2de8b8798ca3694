/* SPDX-License-Identifier: MIT
 * Jobs: executions from their acceptance to their stored result. */
#include "gateway/front/jobs/jobs.h"

#include "analyzer/analyze.h"
#include "analyzer/past/past.h"
#include "gateway/front/collect.h"
#include "gateway/front/dialect.h"
#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/input.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/queue.h"
#include "gateway/front/jobs/results.h"
#include "gateway/front/jobs/takeover.h"
#include "gateway/front/service/decisions.h"
#include "gateway/front/service/service_packages.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "gateway/ipc/wire/relay.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/packages.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CODE_MAX = 16 * 1024 * 1024 };

struct cbx_job *cbx_job_new(struct cbx_service *service, const char *principal)
{
    struct cbx_job *job = cbx_new(sizeof(*job));
    job->service = service;
    snprintf(job->principal, sizeof(job->principal), "%s", principal);
    job->created_ms = cbx_time_ms();
    job->origin = "rest";
    cbx_asked_init(&job->asked);
    cbx_buf_init(&job->policy, CBX_NAME_MAX + 1);
    cbx_buf_init(&job->source, CODE_MAX);
    cbx_buf_init(&job->path, CBX_PATH_MAX);
    cbx_buf_init(&job->past, CBX_WIRE_BYTES_MAX);
    cbx_buf_init(&job->entries, CBX_WIRE_BYTES_MAX);
    cbx_input_init(job);
    job->kind = CBX_ENTRY_CELL;
    cbx_uuid_make(job->id);
    return job;
}

void cbx_job_free(struct cbx_job *job)
{
    cbx_job_dequeue(job);
    cbx_live_remove(job);
    cbx_buf_done(&job->policy);
    cbx_buf_done(&job->source);
    cbx_buf_done(&job->path);
    cbx_buf_done(&job->past);
    cbx_buf_done(&job->entries);
    cbx_asked_done(&job->asked);
    cbx_input_done(job);
    cbx_judgement_done(&job->judgement);
    free(job);
}

/* --- jobs of an earlier gateway --------------------------------------------------------------- */

/* Runs a stored and counted job, in this thread if a client waits for it. */
static void launch(struct cbx_job *job);

static int starting_max(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 2 ? (int)processors : 2;
}

/* With the lock: returns the number of running executions. */
static int64_t running(const struct cbx_service *service)
{
    return service->jobs_begun - service->jobs_ended;
}

/* With the lock: removes, counts and returns the first job of the backlog; NULL if none may
 * start now. Following a begun one costs nothing: only the others are started a few at a time. */
static struct cbx_job *take_next(struct cbx_service *service)
{
    struct cbx_job *job = service->backlog;
    if (job == NULL || service->stopping || running(service) >= service->jobs_max ||
        (!job->begun && service->starting >= starting_max())) {
        return NULL;
    }
    service->backlog = job->next_in_backlog;
    service->backlog_jobs--;
    service->jobs_begun++;
    job->starting = !job->begun;
    service->starting += job->starting;
    return job;
}

void cbx_service_start_backlog(struct cbx_service *service)
{
    for (;;) {
        pthread_mutex_lock(&service->lock);
        struct cbx_job *job = take_next(service);
        pthread_mutex_unlock(&service->lock);
        if (job == NULL) {
            return;
        }
        launch(job);
    }
}

/* The job was admitted or failed: the next one of the backlog may start. No effect on a job
 * outside of the backlog, and on a second call. */
static void note_started(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    pthread_mutex_lock(&service->lock);
    bool starting = job->starting;
    job->starting = false;
    service->starting -= starting;
    pthread_mutex_unlock(&service->lock);
    if (starting) {
        cbx_service_start_backlog(service);
    }
}

void cbx_job_recover(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    cbx_job_enqueue(job);
    cbx_live_restore(job);
    pthread_mutex_lock(&service->lock);
    struct cbx_job **at = &service->backlog;
    while (*at != NULL && (*at)->begun >= job->begun) { /* begun ones are first */
        at = &(*at)->next_in_backlog;
    }
    job->next_in_backlog = *at;
    *at = job;
    service->backlog_jobs++;
    pthread_mutex_unlock(&service->lock);
}

void cbx_service_drop_backlog(struct cbx_service *service)
{
    while (service->backlog != NULL) {
        struct cbx_job *job = service->backlog;
        service->backlog = job->next_in_backlog;
        service->backlog_jobs--;
        cbx_job_free(job);
    }
}

/* --- progress --------------------------------------------------------------------------------- */

/* Stores the progress that the next gateway needs after a crash: the decision of the run, by
 * which it is resumed, and whether the run began, because a begun run is never submitted again. */
static void note_progress(void *context, enum cbx_progress progress, const char *decision,
                          uint64_t audit_seq)
{
    struct cbx_job *job = context;
    struct cbx_store *store = job->service->store;
    struct cbx_err err;
    int failed = 0;
    if (progress == CBX_ADMITTED) {
        cbx_job_set_admitted(job, true);
        note_started(job);
        cbx_live_note_run(job, decision);
    } else if (progress == CBX_BEGUN) {
        cbx_live_note_begun(job);
        cbx_live_note_run(job, decision); /* for a resumed run this is the first notification */
        failed = cbx_store_begin_execution(store, job->id, audit_seq, &err);
        cbx_job_dequeue(job);
    } else {
        cbx_live_note_run(job, "");
        failed = cbx_store_set_decision(store, job->id, decision, &err);
        cbx_job_await_turn(job);
    }
    if (failed) {
        cbx_log(CBX_LOG_ERROR, "execution %s: %s", job->id, err.text);
    }
}

static void note_ahead(void *context, int ahead)
{
    struct cbx_job *job = context;
    cbx_live_note_ahead(job, ahead);
    if (job->client.queued != NULL) {
        job->client.queued(job->client.context, ahead);
    }
}

/* The session's past differs from the job's: an earlier job was accepted and never began, or the
 * gateway was restarted. */
static int renew_past(void *context, const struct cbx_sha256 *ledger, struct cbx_request *request,
                      bool *done, struct cbx_err *err)
{
    struct cbx_job *job = context;
    *done = job->kind == CBX_ENTRY_FILE && cbx_job_is_done(job, ledger);
    cbx_job_set_admitted(job, false); /* jobs accepted after it wait */
    int failed = 0;
    if (!*done) {
        failed = cbx_job_recall_past(job, err);
    }
    request->subject.past = cbx_buf_str(&job->past);
    request->subject.entries = cbx_buf_str(&job->entries);
    return failed;
}

struct cbx_request cbx_job_request(const struct cbx_job *job)
{
    bool is_file = job->kind == CBX_ENTRY_FILE;
    struct cbx_request request =
        cbx_service_request(is_file ? CBX_ACTION_FILE : CBX_ACTION_RUN, job->principal,
                            job->language, cbx_buf_str(&job->policy), cbx_str_of(job->session),
                            cbx_buf_str(&job->source), &job->asked, cbx_str_of(job->origin));
    cbx_claims_lend(&job->claims, &request.subject);
    request.subject.path = cbx_buf_str(&job->path);
    request.subject.past = cbx_buf_str(&job->past);
    request.subject.entries = cbx_buf_str(&job->entries);
    request.options = (struct cbx_submit_options){ .detach = !is_file,
                                                   .renew = renew_past,
                                                   .interactive = job->interactive,
                                                   .has_input = job->input.has,
                                                   .streams = job->input.streams,
                                                   .input = cbx_buf_str(&job->input.bytes),
                                                   .approval = &job->approval,
                                                   .note = note_progress,
                                                   .ahead = note_ahead,
                                                   .context = (void *)(uintptr_t)job };
    return request;
}

/* --- the client ------------------------------------------------------------------------------- */

/* A job while it runs. */
struct run {
    struct cbx_job *job;
    struct cbx_collected collected;
    struct cbx_sink sink;
};

static int take_event(void *context, const struct cbx_event *event)
{
    struct run *run = context;
    const struct cbx_job_client *client = &run->job->client;
    if (client->event != NULL) {
        client->event(client->context, event);
    }
    return run->sink.event(run->sink.context, event);
}

static void restart_events(void *context)
{
    struct run *run = context;
    const struct cbx_job_client *client = &run->job->client;
    cbx_job_set_admitted(run->job, false);
    run->sink.restart(run->sink.context);
    if (client->restart != NULL) {
        client->restart(client->context);
    }
}

/* Detached runs continue without this process when the gateway stops. */
static bool is_stopping(void *context)
{
    return cbx_service_is_stopping(((struct run *)context)->job->service);
}

/* If the master was killed, no executor is forked again, and SIGTERM follows; wait for it. A
 * gateway that has announced its stop still waits for requests such as this one. */
static bool will_stop(struct run *run, int failed)
{
    enum { STEPS = 150, STEP_MS = 20 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
    const struct cbx_service *service = run->job->service;
    for (int i = 0;
         failed == CBX_EIO && i < STEPS && !cbx_service_says_stop(service) && !is_stopping(run);
         i++) {
        nanosleep(&step, NULL);
    }
    return is_stopping(run) || (failed == CBX_EIO && cbx_service_says_stop(service));
}

static void answer(struct cbx_job *job, const json_t *execution, const struct cbx_err *err)
{
    if (job->client.done != NULL) {
        job->client.done(job->client.context, execution, err);
    }
}

/* --- the job ---------------------------------------------------------------------------------- */

/* Stores results, or as much of them as fits. */
static int store_results(struct cbx_job *job, const char *status, const char *now, json_t *results,
                         struct cbx_err *err)
{
    enum { SHORT_BYTES = 8 * 1024 };
    const char *reason;
    struct cbx_store *store = job->service->store;
    size_t max = cbx_store_result_max(store, &reason);
    cbx_results_shorten(results, max, reason);
    int failed = cbx_store_set_execution(store, job->id, status, now, results, err);
    if (failed == CBX_ETOOBIG || failed == CBX_EBUSY) {
        cbx_results_shorten(results, SHORT_BYTES, err->text);
        failed = cbx_store_set_execution(store, job->id, status, now, results, err);
    }
    return failed;
}

/* Stores results again while a database that others share cannot be reached: the sandbox keeps
 * them, and the next gateway finds them there when this one ends before. */
static int store_again(struct cbx_job *job, const char *status, const char *now, json_t *results,
                       struct cbx_err *err)
{
    const struct timespec pause = { .tv_sec = 1 };
    int failed = CBX_EIO;
    while (failed == CBX_EIO && !cbx_service_says_stop(job->service)) {
        nanosleep(&pause, NULL);
        failed = store_results(job, status, now, results, err);
    }
    return failed;
}

/* Stores the reason in place of results that the store does not take. */
static void store_reason(struct cbx_job *job, const char *now, const struct cbx_err *err)
{
    CBX_AUTO_JSON results = json_pack("{s:[],s:[],s:s}", "output", "files", "error", err->text);
    cbx_store_set_execution(job->service->store, job->id, "error", now, results, NULL);
}

/* Stores the outcome; only then the sandbox may drop the result. */
static void finish(struct run *run, struct cbx_outcome *outcome, int failed, struct cbx_err *err)
{
    struct cbx_job *job = run->job;
    char now[32];
    bool cancelled = cbx_live_end(job);
    cbx_service_now(now);
    cbx_collected_finish(&run->collected);
    cbx_quotas_charge(job->service->quotas, job->principal, outcome->result.cpu_ms, cbx_clock_ms());
    outcome->result.output_truncated |= run->collected.omitted > 0;
    outcome->result.files_truncated |= run->collected.incomplete;
    CBX_AUTO_JSON results = cbx_results(run->collected.items, outcome, job->service->flow, err);
    cbx_package_report(job->language, cbx_asked_packages(&job->asked), job->installed_ms, results);
    cbx_results_approved(results, outcome, &job->approval);
    cbx_decisions_end(job->service->decisions, outcome->id, results);
    bool good = !failed && outcome->ran && outcome->result.status == CBX_RUN_OK;
    const char *status = good ? "completed" : cancelled ? "cancelled" : "error";
    struct cbx_err store_err;
    int stored = store_results(job, status, now, results, &store_err);
    bool waits = stored == CBX_EIO && cbx_store_is_shared(job->service->store);
    bool moved = stored == CBX_ESTATE; /* another replica stores what its sandbox has */
    CBX_AUTO_JSON execution =
        json_pack("{s:s,s:s,s:s,s:s,s:s}", "request_id", job->id, "session_id", job->session,
                  "language", job->language, "status", status, "completed_at", now);
    json_object_set(execution, "results", results);
    CBX_AUTO_JSON json = cbx_execution_json(execution);
    if (stored != 0 && !waits && !moved) {
        store_reason(job, now, &store_err);
    }
    answer(job, json, err); /* a client with the response finds the same in the store */
    if (waits) {
        cbx_log(CBX_LOG_WARNING, "execution %s: its results wait in the sandbox: %s", job->id,
                store_err.text);
        stored = store_again(job, status, now, results, &store_err);
        waits = stored == CBX_EIO; /* the gateway ends: the next one stores them */
        moved = stored == CBX_ESTATE;
        if (stored != 0 && !waits && !moved) {
            store_reason(job, now, &store_err);
        }
    }
    if (!waits && !moved) {
        cbx_outcome_acknowledge(job->service->flow, outcome);
    }
}

static void begin(struct run *run, struct cbx_job *job)
{
    *run = (struct run){ .job = job };
    cbx_collected_init(&run->collected);
    run->sink = cbx_collected_sink(&run->collected);
}

/* Replaces a decision that may be too old to be submitted. */
static int judge_again(struct cbx_job *job, struct cbx_err *err)
{
    struct cbx_request request = cbx_job_request(job);
    cbx_judgement_done(&job->judgement);
    return cbx_review_judge_again(job->service->flow, &request, &job->judgement, err);
}

/* Waits until the queue of the session admits the job, then submits it. */
static int submit(struct cbx_job *job, const struct cbx_sink *sink, struct cbx_outcome *outcome,
                  struct cbx_err *err)
{
    int64_t began = cbx_clock_ms();
    if (!cbx_job_await_turn(job) || !cbx_live_await_room(job)) {
        if (cbx_live_is_cancelled(job)) {
            return cbx_fail(err, CBX_ECANCELLED, "cancelled before it began");
        }
        return cbx_fail(err, CBX_EIO, "the gateway is stopping");
    }
    if (cbx_live_check(job, err) != 0) { /* it ends like a job that cbx_live_enforce finds */
        bool runs;
        cbx_live_cancel(job->service, job->principal, job->id, &runs, NULL);
        return err->code;
    }
    int failed = 0;
    if (cbx_clock_ms() - began > job->service->fresh_ms) {
        failed = judge_again(job, err);
    }
    struct cbx_request request = cbx_job_request(job);
    if (failed) {
        return failed;
    }
    return cbx_review_submit(job->service->flow, &request, &job->judgement, sink, outcome, err);
}

/* Follows the run of an earlier gateway; a run that never began is judged and submitted. */
static int recover(struct cbx_job *job, const struct cbx_sink *sink, struct cbx_outcome *outcome,
                   struct cbx_err *err)
{
    snprintf(outcome->id, sizeof(outcome->id), "%s", job->decision);
    outcome->audit_seq = job->audit_seq;
    struct cbx_request request = cbx_job_request(job);
    int failed = cbx_review_resume(job->service->flow, &request, sink, outcome, err);
    if (failed != CBX_ENOTFOUND) {
        return failed;
    }
    if (job->begun || outcome->begun) {
        return cbx_fail(err, CBX_EENGINE,
                        "the gateway was restarted while this ran, and its sandbox is gone");
    }
    if (cbx_live_is_cancelled(job)) {
        return cbx_fail(err, CBX_ECANCELLED, "cancelled before it began");
    }
    if (job->input.has) { /* the store has code, and no input data */
        return cbx_fail(err, CBX_ESTATE,
                        "the gateway was restarted before this began, and its standard input is "
                        "lost; send it again");
    }
    outcome->id[0] = '\0';
    job->approval = (struct cbx_approval){ 0 };
    failed = cbx_job_recall_past(job, err);
    if (failed) {
        return failed;
    }
    failed = judge_again(job, err);
    if (failed) {
        return failed;
    }
    return submit(job, sink, outcome, err);
}

/* Counts one more running job; CBX_EBUSY. The backlog counts too: it was accepted before. */
static int count_job(struct cbx_service *service, struct cbx_err *err)
{
    int failed = 0;
    pthread_mutex_lock(&service->lock);
    if (service->stopping) {
        failed = cbx_fail(err, CBX_EBUSY, "the gateway is shutting down; try again later");
    } else if (running(service) + service->backlog_jobs >= service->jobs_max) {
        failed = cbx_fail(err, CBX_EBUSY, "%d executions are running already; try again later",
                          service->jobs_max);
    }
    service->jobs_begun += !failed;
    pthread_mutex_unlock(&service->lock);
    return failed;
}

static void end_job(struct cbx_job *job)
{
    struct cbx_service *service = job->service;
    pthread_mutex_lock(&service->lock);
    service->jobs_ended++;
    service->starting -= job->starting;
    job->starting = false;
    pthread_mutex_unlock(&service->lock);
    if (!job->begun) {
        cbx_service_drop_past(service, job->session); /* it is not in the past after all */
    }
    cbx_job_free(job);
    cbx_service_start_backlog(service); /* one more may start */
}

/* The first finding's message of a decision. */
static const char *why_denied(const json_t *decision)
{
    const json_t *finding = json_array_get(json_object_get(decision, "findings"), 0);
    const char *message = json_string_value(json_object_get(finding, "message"));
    return message != NULL ? message : "it was denied";
}

/* An accepted job got another verdict when it was judged again before it began. */
static int fail_denied(const struct cbx_outcome *outcome, struct cbx_err *err)
{
    if (outcome->verdict == CBX_ASK) {
        return cbx_fail(err, CBX_EPOLICY,
                        "nothing ran: what was approved is not what would run now, because its "
                        "session changed or the gateway was restarted before it began; send it "
                        "again, so that it is approved again");
    }
    return cbx_fail(err, CBX_EPOLICY,
                    "what the session became before this began does not allow it any more: %s",
                    why_denied(outcome->decision));
}

static void run_job(void *context)
{
    struct cbx_job *job = context;
    struct cbx_service *service = job->service;
    struct cbx_err err = { 0 };
    struct run run;
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    begin(&run, job);
    struct cbx_sink sink = {
        .event = take_event, .cancelled = is_stopping, .restart = restart_events, .context = &run
    };
    int failed;
    if (job->recovered) {
        failed = recover(job, &sink, &outcome, &err);
    } else {
        failed = submit(job, &sink, &outcome, &err);
    }
    if (!failed) {
        err = (struct cbx_err){ 0 }; /* from a failed try before the successful one */
    }
    if (!failed && !outcome.ran) { /* the decision of its acceptance allowed it */
        failed = fail_denied(&outcome, &err);
    }
    if (failed && will_stop(&run, failed)) {
        /* The run continues in its sandbox; the next gateway stores its result. */
        CBX_AUTO_JSON nothing = json_object();
        cbx_fail(&err, CBX_EBUSY,
                 "the gateway is shutting down; after the restart, poll execution %s", job->id);
        answer(job, nothing, &err);
    } else {
        bool complete = cbx_takeover_number(service->takeover) % 2 == 0;
        if (failed == CBX_ENOTFOUND && job->session[0] != '\0' && complete) {
            /* The executor closed the idle session: remove it, so that the next call fails at
             * once. */
            struct cbx_close_args args = { .session = cbx_str_of(job->session),
                                           .principal = cbx_str_of(job->principal) };
            cbx_call_close(service->flow, &args, CBX_STR(""), NULL, NULL);
            cbx_store_remove_session(service->store, job->session, NULL);
        }
        finish(&run, &outcome, failed, &err);
    }
    cbx_collected_done(&run.collected);
    end_job(job);
}

static void launch(struct cbx_job *job)
{
    if (job->client.waits) {
        run_job(job);
        return;
    }
    job->work = (struct cbx_work){ .run = run_job, .context = job };
    cbx_threads_queue(job->service->jobs, &job->work);
}

static json_t *describe_request(const struct cbx_job *job)
{
    json_t *request = json_object();
    json_object_set_new(request, "policy", cbx_json_text(cbx_buf_str(&job->policy)));
    json_object_set_new(request, "interactive", json_boolean(job->interactive));
    json_object_set_new(request, "input", json_boolean(job->input.has));
    if (job->approval.client[0] != '\0') {
        json_object_set_new(request, "approved_client", json_string(job->approval.client));
        json_object_set_new(request, "approved_version", json_string(job->approval.client_version));
    }
    if (job->approval.approver[0] != '\0') {
        json_object_set_new(request, "approved_principal", json_string(job->approval.approver));
    }
    cbx_asked_write(&job->asked, request);
    json_object_set_new(request, "origin", json_string(job->origin));
    if (job->voucher[0] != '\0') {
        json_object_set_new(request, "voucher", json_string(job->voucher));
        json_object_set_new(request, "voucher_subject", json_string(job->voucher_subject));
    }
    cbx_claims_write(&job->claims, request);
    return request;
}

/* The job as a row of the store; `now` and `request` are borrowed. */
static struct cbx_stored_execution row_of(const struct cbx_job *job, const char *now,
                                          const json_t *request)
{
    return (struct cbx_stored_execution){ .principal = job->principal,
                                          .id = job->id,
                                          .session = job->session,
                                          .created_at = now,
                                          .decision = job->decision,
                                          .language = job->language,
                                          .code = job->source.p,
                                          .request = request,
                                          .kind = job->kind,
                                          .name = job->path.p,
                                          .turn = job->turn };
}

int cbx_job_start(struct cbx_job *job, struct cbx_err *err)
{
    char now[32], decision[CBX_ID_CHARS + 1], id[37];
    struct cbx_service *service = job->service;
    cbx_service_now(now);
    cbx_judgement_id(&job->judgement, decision);
    memcpy(id, job->id, sizeof(id));
    CBX_AUTO_JSON request = describe_request(job);
    snprintf(job->decision, sizeof(job->decision), "%s", decision);
    struct cbx_stored_execution stored = row_of(job, now, request);
    int failed = cbx_store_add_execution(service->store, &stored, err);
    if (!failed) {
        failed = cbx_live_add(job, err);
    }
    if (!failed) {
        failed = count_job(service, err);
    }
    if (failed) {
        CBX_AUTO_JSON results = json_pack("{s:[],s:[],s:s}", "output", "files", "error", err->text);
        cbx_store_set_execution(service->store, id, "error", now, results, NULL);
        cbx_job_free(job);
        return failed;
    }
    launch(job);
    return 0;
}

/* --- files and resets ------------------------------------------------------------------------- */

static int store_job(struct cbx_job *job, struct cbx_err *err)
{
    char now[32];
    cbx_service_now(now);
    CBX_AUTO_JSON request = describe_request(job);
    struct cbx_stored_execution stored = row_of(job, now, request);
    return cbx_store_add_execution(job->service->store, &stored, err);
}

/* The ledger may change while earlier jobs end. */
static int reset(struct cbx_job *job, struct cbx_err *err)
{
    enum { TRIES = 20 };
    int failed = CBX_ESTALE;
    for (int i = 0; i < TRIES && failed == CBX_ESTALE; i++) {
        char hex[CBX_SHA256_HEX + 1];
        struct cbx_sha256 ledger;
        failed = cbx_job_recall_past(job, err);
        if (failed) {
            return failed;
        }
        failed = cbx_job_past_ledger(job, &ledger, err);
        if (failed) {
            return failed;
        }
        cbx_sha256_hex(&ledger, hex);
        struct cbx_reset_args args = { .session = cbx_str_of(job->session),
                                       .principal = cbx_str_of(job->principal),
                                       .ledger = cbx_str_of(hex),
                                       .proof = job->claims.proof,
                                       .credential = cbx_str_of(job->claims.credential) };
        failed = cbx_call_reset(job->service->flow, &args, CBX_STR(""), NULL, err);
    }
    if (!failed) {
        note_progress(job, CBX_BEGUN, "", 0);
    }
    return failed;
}

static int put(struct cbx_job *job, struct cbx_outcome *out, struct cbx_err *err)
{
    int failed = submit(job, NULL, out, err);
    if (!failed && out->verdict == CBX_ALLOW && !job->begun) { /* an earlier executor did it */
        note_progress(job, CBX_BEGUN, "", out->audit_seq);
    }
    cbx_outcome_acknowledge(job->service->flow, out);
    return failed;
}

int cbx_job_change(struct cbx_job *job, struct cbx_outcome *out, struct cbx_err *err)
{
    int failed = store_job(job, err);
    if (failed) {
        cbx_service_drop_past(job->service, job->session);
        return failed;
    }
    if (job->kind == CBX_ENTRY_FILE) {
        failed = put(job, out, err);
    } else if (cbx_job_await_first(job)) {
        failed = reset(job, err);
    } else {
        failed = cbx_fail(err, CBX_EBUSY, "the gateway is shutting down; try again later");
    }
    char now[32];
    cbx_service_now(now);
    cbx_store_set_execution(job->service->store, job->id, job->begun ? "completed" : "error", now,
                            NULL, NULL);
    if (!job->begun) {
        cbx_service_drop_past(job->service, job->session); /* it is not in the past after all */
    }
    return failed;
}
