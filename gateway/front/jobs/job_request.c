/* SPDX-License-Identifier: MIT
 * A job's request to the flow, and the notes of its progress. */
#include "gateway/front/jobs/job_request.h"

#include "gateway/front/jobs/backlog.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/queue.h"
#include "policies/base/log.h"

void cbx_job_note_progress(void *context, enum cbx_progress progress, const char *decision,
                           uint64_t audit_seq)
{
    struct cbx_job *job = context;
    struct cbx_store *store = job->service->store;
    struct cbx_err err;
    int failed = 0;
    if (progress == CBX_ADMITTED) {
        cbx_job_set_admitted(job, true);
        cbx_job_note_started(job);
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
                                                   .note = cbx_job_note_progress,
                                                   .ahead = note_ahead,
                                                   .context = (void *)(uintptr_t)job };
    return request;
}
