/* SPDX-License-Identifier: MIT
 * Acceptance of what callers send to a session: a cell, a file, a reset. It is judged with what was
 * accepted before it, and takes its place in the order of the session. */
#ifndef CBX_GATEWAY_FRONT_REST_ACCEPTANCE_H
#define CBX_GATEWAY_FRONT_REST_ACCEPTANCE_H

#include "gateway/front/rest/jobs.h"

/* Makes the job one of this session (cbx_rest_job_in_session). False when the answer is made. */
bool cbx_rest_find_session(struct cbx_rest_call *call, struct cbx_rest_job *job,
                           struct cbx_str session);

/* Judges the job, unless it is a reset, and puts it into the queue of its session. Judgement and
 * queue have one order: when something else was accepted meanwhile, the job is judged again, with
 * that in its past. False when the answer is made. */
bool cbx_rest_accept(struct cbx_rest_call *call, struct cbx_rest_job *job);

#endif
