/* SPDX-License-Identifier: MIT
 * Acceptance of requests to a session: a cell, a file, a reset. It is judged with the entries
 * accepted before it, and gets its place in the order of the session. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_ACCEPT_H
#define CBX_GATEWAY_FRONT_SERVICE_ACCEPT_H

#include "gateway/front/jobs/jobs.h"

/* Adds the job to this session: copies its policy, language, limits and past. CBX_ENOTFOUND
 * "Session not found", the text that clients of CodeBox-AI compare; errors of the store. */
int cbx_job_join(struct cbx_job *job, struct cbx_str session, struct cbx_err *err);

/* Judges the job, unless it is a reset, and puts it into the queue of its session. Judgement and
 * queue have one order: if another job was accepted meanwhile, the job is judged again, with
 * that one in its past. Returns 0 also for a job that is not allowed: `denial->verdict` has the
 * verdict, the denial is in the audit log, and the job is not in the queue; the same holds for a
 * job that asks, unless the job's approval matches (approvals.h). `denial` is the caller's
 * (cbx_outcome_done). CBX_EBUSY, CBX_EQUOTA, errors of the flow. */
int cbx_job_accept(struct cbx_job *job, struct cbx_outcome *denial, struct cbx_err *err);

#endif
