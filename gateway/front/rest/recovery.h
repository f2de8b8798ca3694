/* SPDX-License-Identifier: MIT
 * Recovery of executions that an earlier gateway accepted and did not finish. Begun ones are
 * followed at once: their results wait in their sandboxes. The others, the backlog, are started
 * a few at a time, so that new requests are served meanwhile. */
#ifndef CBX_GATEWAY_FRONT_REST_RECOVERY_H
#define CBX_GATEWAY_FRONT_REST_RECOVERY_H

#include "gateway/front/rest/rest.h"

/* Reads the unfinished executions from the store, has the executor drop what the store has no
 * record of, and starts the jobs. Call it before the server accepts requests: later executions
 * are queued behind these. */
void cbx_rest_recover(struct cbx_rest *rest);

struct cbx_rest_job;

/* Starts the next job of the backlog, because this one was admitted or failed. No effect on a
 * job that is not of the backlog, and on a second call. */
void cbx_rest_recovery_started(struct cbx_rest_job *job);

/* Frees the backlog, whose rows stay in the store for the next gateway. Call it after
 * cbx_rest_stop. */
void cbx_rest_recovery_done(struct cbx_rest *rest);

#endif
