/* SPDX-License-Identifier: MIT
 * A job as a row of the store, which recovery.c reads. */
#ifndef CBX_GATEWAY_FRONT_JOBS_JOB_ROW_H
#define CBX_GATEWAY_FRONT_JOBS_JOB_ROW_H

#include "gateway/front/jobs/jobs.h"

/* Adds the job to the store, with all that another process needs to run it. */
int cbx_job_store(struct cbx_job *job, struct cbx_err *err);

#endif
