/* SPDX-License-Identifier: MIT
 * The number of running executions, which `jobs_max` limits, and the backlog: the stored jobs of an
 * earlier gateway that have not been started. */
#ifndef CBX_GATEWAY_FRONT_JOBS_BACKLOG_H
#define CBX_GATEWAY_FRONT_JOBS_BACKLOG_H

#include "gateway/front/jobs/jobs.h"

/* Counts one more running job until cbx_job_end. CBX_EBUSY, without counting it, if the service
 * stops or `jobs_max` jobs run or wait in the backlog, which was accepted before. */
int cbx_service_count_job(struct cbx_service *service, struct cbx_err *err);

/* Ends a counted job and frees it; its result is stored, or left to the next gateway. A job that
 * never began is not in the past of its session. Starts the next job of the backlog. */
void cbx_job_end(struct cbx_job *job);

/* Takes a stored job of an earlier gateway into the backlog: begun ones before the others, each
 * group in the order of the calls. No request of its session is served meanwhile: later executions
 * are queued after it. */
void cbx_job_recover(struct cbx_job *job);

/* Starts jobs of the backlog: up to `jobs_max` executions run, and of those that did not begin
 * before only a few are on their way to a sandbox. Called again after a job ends. */
void cbx_service_start_backlog(struct cbx_service *service);

/* The job was admitted or failed: starts the next one of the backlog. No effect on a job outside
 * of the backlog, and on a second call. */
void cbx_job_note_started(struct cbx_job *job);

/* Frees the backlog, whose rows stay in the store for the next gateway. Call it after
 * cbx_service_stop. */
void cbx_service_drop_backlog(struct cbx_service *service);

#endif
