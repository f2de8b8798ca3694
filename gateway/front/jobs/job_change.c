/* SPDX-License-Identifier: MIT
 * Files of code, and resets. */
#include "gateway/front/jobs/job_change.h"

#include "gateway/front/executor_client.h"
#include "gateway/front/jobs/job_request.h"
#include "gateway/front/jobs/job_row.h"
#include "gateway/front/jobs/job_run.h"
#include "gateway/front/jobs/queue.h"

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
        cbx_job_note_progress(job, CBX_BEGUN, "", 0);
    }
    return failed;
}

static int put(struct cbx_job *job, struct cbx_outcome *out, struct cbx_err *err)
{
    int failed = cbx_job_submit(job, NULL, out, err);
    if (!failed && out->verdict == CBX_ALLOW && !job->begun) { /* an earlier executor did it */
        cbx_job_note_progress(job, CBX_BEGUN, "", out->audit_seq);
    }
    cbx_outcome_acknowledge(job->service->flow, out);
    return failed;
}

int cbx_job_change(struct cbx_job *job, struct cbx_outcome *out, struct cbx_err *err)
{
    int failed = cbx_job_store(job, err);
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
