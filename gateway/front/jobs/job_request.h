/* SPDX-License-Identifier: MIT
 * A job's request to the flow, and its progress. */
#ifndef CBX_GATEWAY_FRONT_JOBS_JOB_REQUEST_H
#define CBX_GATEWAY_FRONT_JOBS_JOB_REQUEST_H

#include "gateway/front/jobs/jobs.h"

/* Makes a request to the flow from the job; borrows from the job. */
struct cbx_request cbx_job_request(const struct cbx_job *job);

/* Notes the progress of a job (`context`): for its session's queue, the backlog and its client;
 * and in the store, for the next gateway after a crash, the decision of the run, by which it is
 * resumed, and its beginning, because a run that began is never submitted again. A failure to
 * store is logged. */
void cbx_job_note_progress(void *context, enum cbx_progress progress, const char *decision,
                           uint64_t audit_seq);

#endif
