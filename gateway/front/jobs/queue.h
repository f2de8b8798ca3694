/* SPDX-License-Identifier: MIT
 * The queue of each session: FIFO, until admission by the executor, which keeps the order from
 * then on (executor/sessions/sessions.h). A job is submitted after all jobs of its session
 * accepted before it were admitted: the second of two executions runs with the state that the
 * first one left. No call has an effect on a job without a session. */
#ifndef CBX_GATEWAY_FRONT_JOBS_QUEUE_H
#define CBX_GATEWAY_FRONT_JOBS_QUEUE_H

#include "gateway/front/jobs/jobs.h"

/* Appends the job to the queue of its session. For jobs of an earlier gateway. */
void cbx_job_enqueue(struct cbx_job *job);

/* Appends the job, and its cell to the earlier cells of the session, in one step. False, without
 * any change, if the earlier cells are not those that the job was judged with: another one was
 * accepted meanwhile. */
bool cbx_job_enqueue_judged(struct cbx_job *job);

/* Blocks until the executor has admitted all jobs before this one. False if the gateway stops,
 * or the job is cancelled (live.h). */
bool cbx_job_await_turn(struct cbx_job *job);

/* Blocks until no job of its session is before this one: all of them began or failed. False if
 * the gateway stops, or the job is cancelled. */
bool cbx_job_await_first(struct cbx_job *job);

/* Notes that the executor admitted the job (true), or that the executor that had admitted it was
 * killed (false). */
void cbx_job_set_admitted(struct cbx_job *job, bool admitted);

/* True if no job of its session waits to begin. For a job that is not queued. */
bool cbx_job_is_alone(const struct cbx_job *job);

/* Removes the job: it began or failed. No effect on a job that is not queued. */
void cbx_job_dequeue(struct cbx_job *job);

#endif
