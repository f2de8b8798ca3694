/* SPDX-License-Identifier: MIT
 * Acceptance. */
#include "gateway/front/service/accept.h"

#include "gateway/front/dialect.h"
#include "gateway/front/service/queue.h"

static int copy_session(struct cbx_job *job, struct cbx_err *err)
{
    CBX_AUTO_JSON options = NULL;
    CBX_AUTO_MEM char *policy = NULL;
    int failed = cbx_store_get_session(job->service->store, job->session, &policy, &options, err);
    if (failed) {
        return failed;
    }
    const char *language = json_string_value(json_object_get(options, "language"));
    cbx_buf_add_cstr(&job->policy, policy);
    snprintf(job->language, sizeof(job->language), "%s",
             language != NULL ? language : cbx_dialect_default());
    cbx_limits_read(options, &job->limits);
    json_decref(job->environment);
    job->environment = json_incref(json_object_get(options, "environment"));
    json_decref(job->mounts);
    job->mounts = json_incref(json_object_get(options, "mounts"));
    return cbx_job_copy_past(job, err);
}

int cbx_job_join(struct cbx_job *job, struct cbx_str session, struct cbx_err *err)
{
    snprintf(job->session, sizeof(job->session), "%.*s", CBX_STR_ARG(session));
    bool cut = strlen(job->session) != session.len; /* at a NUL */
    int failed = cut ? CBX_ENOTFOUND : copy_session(job, err);
    return failed == CBX_ENOTFOUND ? cbx_fail(err, CBX_ENOTFOUND, "Session not found") : failed;
}

/* Records what is not allowed. */
static int judge(struct cbx_job *job, struct cbx_outcome *denial, struct cbx_err *err)
{
    struct cbx_flow *flow = job->service->flow;
    struct cbx_request request = cbx_job_request(job);
    cbx_judgement_done(&job->judgement);
    int failed = cbx_review_judge(flow, &request, &job->judgement, err);
    if (failed == CBX_ESEAL && job->past.len > 0) { /* sealed by workers of another key */
        cbx_service_drop_past(job->service, job->session);
        failed = cbx_job_copy_past(job, err);
        request = cbx_job_request(job);
        failed = failed ? failed : cbx_review_judge(flow, &request, &job->judgement, err);
    }
    bool may_run = !failed && (job->judgement.verdict == CBX_ALLOW ||
                               cbx_judgement_is_approved(&job->judgement, &job->approval));
    denial->verdict = CBX_ALLOW;
    if (!failed && !may_run) {
        failed = cbx_review_submit(flow, &request, &job->judgement, NULL, denial, err);
    }
    return failed;
}

int cbx_job_accept(struct cbx_job *job, struct cbx_outcome *denial, struct cbx_err *err)
{
    enum { TRIES = 20 };
    denial->verdict = CBX_ALLOW;
    for (int i = 0; i < TRIES; i++) {
        int failed = job->kind != CBX_ENTRY_RESET ? judge(job, denial, err) : 0;
        if (failed || denial->verdict != CBX_ALLOW || cbx_job_enqueue_judged(job)) {
            return failed;
        }
        failed = cbx_job_copy_past(job, err);
        if (failed) {
            return failed;
        }
    }
    return cbx_fail(err, CBX_EBUSY,
                    "the session takes too many cells at the same time; try again later");
}
