/* SPDX-License-Identifier: MIT
 * The run of a job, in the thread of its client or in one of the service. */
#include "gateway/front/jobs/job_run.h"

#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/backlog.h"
#include "gateway/front/jobs/job_outcome.h"
#include "gateway/front/jobs/job_request.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/queue.h"
#include "gateway/front/jobs/takeover.h"
#include "policies/base/time/clock.h"

#include <time.h>

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

int cbx_job_submit(struct cbx_job *job, const struct cbx_sink *sink, struct cbx_outcome *outcome,
                   struct cbx_err *err)
{
    int64_t began = cbx_clock_ms();
    bool may_begin = cbx_job_await_turn(job);
    int failed = 0;
    if (may_begin) {
        failed = cbx_live_await_room(job, &may_begin, err);
    }
    if (failed) {
        return failed;
    }
    if (!may_begin) {
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
    return cbx_job_submit(job, sink, outcome, err);
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

/* Submits or follows the run. Fails also if the decision that the run has now does not allow it. */
static int carry_out(struct run *run, struct cbx_outcome *outcome, struct cbx_err *err)
{
    struct cbx_job *job = run->job;
    struct cbx_sink sink = {
        .event = take_event, .cancelled = is_stopping, .restart = restart_events, .context = run
    };
    int failed;
    if (job->recovered) {
        failed = recover(job, &sink, outcome, err);
    } else {
        failed = cbx_job_submit(job, &sink, outcome, err);
    }
    if (failed) {
        return failed;
    }
    *err = (struct cbx_err){ 0 }; /* from a failed try before the successful one */
    if (!outcome->ran) {          /* the decision of its acceptance allowed it */
        return fail_denied(outcome, err);
    }
    return 0;
}

/* The executor closed the idle session: removes it, so that the next call fails at once. */
static void remove_session(struct cbx_job *job)
{
    struct cbx_close_args args = { .session = cbx_str_of(job->session),
                                   .principal = cbx_str_of(job->principal) };
    cbx_call_close(job->service->flow, &args, CBX_STR(""), NULL, NULL);
    cbx_store_remove_session(job->service->store, job->session, NULL);
}

/* The run continues in its sandbox; the next gateway stores its result. */
static void detach(struct cbx_job *job, struct cbx_err *err)
{
    CBX_AUTO_JSON nothing = json_object();
    cbx_fail(err, CBX_EBUSY, "the gateway is shutting down; after the restart, poll execution %s",
             job->id);
    cbx_job_answer(job, nothing, err);
}

static void run_job(void *context)
{
    struct cbx_job *job = context;
    struct cbx_err err = { 0 };
    struct run run;
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    begin(&run, job);
    int failed = carry_out(&run, &outcome, &err);
    if (failed && will_stop(&run, failed)) {
        detach(job, &err);
    } else {
        bool complete = cbx_takeover_number(job->service->takeover) % 2 == 0;
        if (failed == CBX_ENOTFOUND && job->session[0] != '\0' && complete) {
            remove_session(job);
        }
        cbx_job_finish(job, &run.collected, &outcome, failed, &err);
    }
    cbx_collected_done(&run.collected);
    cbx_job_end(job);
}

void cbx_job_launch(struct cbx_job *job)
{
    if (job->client.waits) {
        run_job(job);
        return;
    }
    job->work = (struct cbx_work){ .run = run_job, .context = job };
    cbx_threads_queue(job->service->jobs, &job->work);
}
