/* SPDX-License-Identifier: MIT
 * Acceptance. */
#include "gateway/front/rest/acceptance.h"

struct cbx_job *cbx_rest_job(struct cbx_rest_call *call)
{
    struct cbx_job *job = cbx_job_new(call->service, cbx_rest_principal(call));
    job->claims = call->claims;
    return job;
}

bool cbx_rest_find_session(struct cbx_rest_call *call, struct cbx_job *job, struct cbx_str session)
{
    struct cbx_err err = { 0 };
    int failed = cbx_job_join(job, session, &err);
    if (failed) {
        cbx_rest_fail(call, 0, &err);
    }
    return !failed;
}

bool cbx_rest_accept(struct cbx_rest_call *call, struct cbx_job *job)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(outcome) denial = { 0 };
    int failed = cbx_job_accept(job, &denial, &err);
    if (failed) {
        cbx_rest_fail(call, 0, &err);
    } else if (denial.verdict != CBX_ALLOW) {
        cbx_rest_deny(call, &denial);
    }
    return !failed && denial.verdict == CBX_ALLOW;
}
