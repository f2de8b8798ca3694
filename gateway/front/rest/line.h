/* SPDX-License-Identifier: MIT
 * The line of each session: its executions are handed to the executor in the order in which they
 * were accepted, one when the one before it is there; from then on the executor keeps the order.
 * Whoever posts two to one session may rely on the second finding what the first left. All calls
 * are of no effect for a job without a session. */
#ifndef CBX_GATEWAY_FRONT_REST_LINE_H
#define CBX_GATEWAY_FRONT_REST_LINE_H

#include "gateway/front/rest/jobs.h"

/* It is accepted, and comes behind those of its session that were accepted before. */
void cbx_rest_line_up(struct cbx_rest_job *job);

/* Waits until the executor has all that are before it. False when the gateway stops. */
bool cbx_rest_line_await(struct cbx_rest_job *job);

/* The executor has it; the executor that had it was killed; it begins, or never will. */
void cbx_rest_line_pass(struct cbx_rest_job *job);
void cbx_rest_line_return(struct cbx_rest_job *job);
void cbx_rest_line_leave(struct cbx_rest_job *job);

#endif
