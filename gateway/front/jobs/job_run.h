/* SPDX-License-Identifier: MIT
 * The run of a job: it waits for its turn, is submitted, or followed when an earlier gateway
 * submitted it, and ends. */
#ifndef CBX_GATEWAY_FRONT_JOBS_JOB_RUN_H
#define CBX_GATEWAY_FRONT_JOBS_JOB_RUN_H

#include "gateway/front/jobs/jobs.h"

/* Runs a stored and counted job and ends it (cbx_job_end): in this thread if a client waits for
 * it, and returns after its end; else in a thread of the service. Takes the job. */
void cbx_job_launch(struct cbx_job *job);

/* Waits until the queue of the session admits the job and its principal may run one more, then
 * submits it; a decision older than `fresh_ms` is made again before. Events go to `sink` (NULL =
 * nowhere). CBX_ECANCELLED or CBX_EIO if it is cancelled, or the gateway stops, while it waits;
 * CBX_EFORBIDDEN if it may not run any more. */
int cbx_job_submit(struct cbx_job *job, const struct cbx_sink *sink, struct cbx_outcome *outcome,
                   struct cbx_err *err);

#endif
