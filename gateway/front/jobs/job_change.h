/* SPDX-License-Identifier: MIT
 * Jobs that change a session and run no program: files of code, and resets. */
#ifndef CBX_GATEWAY_FRONT_JOBS_JOB_CHANGE_H
#define CBX_GATEWAY_FRONT_JOBS_JOB_CHANGE_H

#include "gateway/front/jobs/jobs.h"

/* Carries out a queued file or reset, stored meanwhile, and returns when it is done. Its outcome
 * is the caller's; `out->verdict` denies if the session does not allow the file any more. */
int cbx_job_change(struct cbx_job *job, struct cbx_outcome *out, struct cbx_err *err);

#endif
