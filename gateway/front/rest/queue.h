/* SPDX-License-Identifier: MIT
 * The order of executions before the executor has them: per session, each is submitted when all that were accepted before
 * it were admitted; from then on the executor keeps the order (executor/sessions.h). A client that posts
 * two to one session may rely on the second finding what the first left. No call has an effect on a job
 * without a session. */
#ifndef CBX_GATEWAY_FRONT_REST_QUEUE_H
#define CBX_GATEWAY_FRONT_REST_QUEUE_H

#include "gateway/front/rest/jobs.h"

/* The execution is accepted: it comes behind those of its session that were accepted before. */
void cbx_rest_enqueue(struct cbx_rest_job *job);

/* Waits until the executor has admitted all that are before it. False when the gateway stops. */
bool cbx_rest_await_turn(struct cbx_rest_job *job);

/* The executor has admitted it (true); or the executor that had was killed (false). */
void cbx_rest_set_admitted(struct cbx_rest_job *job, bool admitted);

/* It began or failed. No effect when it is not queued. */
void cbx_rest_dequeue(struct cbx_rest_job *job);

#endif
