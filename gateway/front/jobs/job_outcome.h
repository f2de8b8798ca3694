/* SPDX-License-Identifier: MIT
 * The end of a job: its outcome is stored, its client is answered, and then the sandbox may drop
 * the result. */
#ifndef CBX_GATEWAY_FRONT_JOBS_JOB_OUTCOME_H
#define CBX_GATEWAY_FRONT_JOBS_JOB_OUTCOME_H

#include "gateway/front/collect.h"
#include "gateway/front/jobs/jobs.h"

/* Stores the outcome of a run with its `collected` events, and calls the client with the execution.
 * The result is acknowledged after it is stored; one that is not stored stays in the sandbox for
 * the next gateway, or for the replica that took the job over. With a database that replicas
 * share, returns only when the store has the outcome or the gateway stops. `failed` is the code of
 * `err`, 0 for a run that ended. */
void cbx_job_finish(struct cbx_job *job, struct cbx_collected *collected,
                    struct cbx_outcome *outcome, int failed, struct cbx_err *err);

/* Stores an error in place of results: `now` is its end as cbx_service_now. For a job that did not
 * start, and for results that the store does not take. */
void cbx_job_store_error(struct cbx_job *job, const char *now, const struct cbx_err *err);

/* Calls the job's client, if it has one, with the execution or the error. Both are borrowed. */
void cbx_job_answer(struct cbx_job *job, const json_t *execution, const struct cbx_err *err);

#endif
