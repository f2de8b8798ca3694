/* SPDX-License-Identifier: MIT
 * Acceptance. */
#include "gateway/front/rest/acceptance.h"

#include "gateway/front/rest/queue.h"

/* --- the session ------------------------------------------------------------------------------ */

bool cbx_rest_find_session(struct cbx_rest_call *call, struct cbx_rest_job *job,
                           struct cbx_str session)
{
    struct cbx_err err = { 0 };
    snprintf(job->session, sizeof(job->session), "%.*s", CBX_STR_ARG(session));
    bool cut = strlen(job->session) != session.len; /* at a NUL */
    int failed = cut ? CBX_ENOTFOUND : cbx_rest_job_in_session(job, &err);
    if (failed == CBX_ENOTFOUND) {
        cbx_fail(&err, CBX_ENOTFOUND,
                 "Session not found"); /* the text that clients of CodeBox-AI compare */
    }
    if (failed) {
        cbx_rest_fail(call, 0, &err);
    }
    return !failed;
}

/* --- judging and running ---------------------------------------------------------------------- */

static void answer_denial(struct cbx_rest_call *call, const struct cbx_request *request,
                          const struct cbx_judgement *judgement)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    int failed = cbx_review_submit(call->rest->flow, request, judgement, NULL, &outcome, &err);
    if (failed) {
        cbx_rest_fail(call, failed == CBX_EIO ? 503 : 0, &err); /* the gateway is stopping */
        return;
    }
    cbx_rest_deny(call, &outcome);
}

/* True when the job is allowed; otherwise the answer is made. */
static bool judge(struct cbx_rest_call *call, struct cbx_rest_job *job)
{
    struct cbx_err err = { 0 };
    struct cbx_request request = cbx_rest_job_request(job);
    cbx_judgement_done(&job->judgement);
    int failed = cbx_review_judge(call->rest->flow, &request, &job->judgement, &err);
    if (failed == CBX_ESEAL && job->past.len > 0) { /* sealed by workers of another key */
        cbx_rest_past_drop(job->rest, job->session);
        failed = cbx_rest_past_copy(job, &err);
        request = cbx_rest_job_request(job);
        failed =
            failed ? failed : cbx_review_judge(call->rest->flow, &request, &job->judgement, &err);
    }
    if (failed) {
        cbx_rest_fail(call, 0, &err);
        return false;
    }
    if (job->judgement.verdict != CBX_ALLOW) {
        answer_denial(call, &request, &job->judgement);
        return false;
    }
    return true;
}

bool cbx_rest_accept(struct cbx_rest_call *call, struct cbx_rest_job *job)
{
    enum { TRIES = 20 };
    struct cbx_err err = { 0 };
    for (int i = 0; i < TRIES; i++) {
        if (job->kind != CBX_ENTRY_RESET && !judge(call, job)) {
            return false;
        }
        if (cbx_rest_enqueue_judged(job)) {
            return true;
        }
        if (cbx_rest_past_copy(job, &err) != 0) {
            cbx_rest_fail(call, 0, &err);
            return false;
        }
    }
    cbx_fail(&err, CBX_EBUSY, "the session takes too many cells at the same time; try again later");
    cbx_rest_fail(call, 0, &err);
    return false;
}
