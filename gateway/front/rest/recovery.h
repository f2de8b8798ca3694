/* SPDX-License-Identifier: MIT
 * Executions that a gateway before this one accepted and did not finish. Those that began are followed at once: their results
 * wait in their sandboxes. The others, the backlog, are started a few at a time, so that the first requests after a
 * crash are served too. */
#ifndef CBX_GATEWAY_FRONT_REST_RECOVERY_H
#define CBX_GATEWAY_FRONT_REST_RECOVERY_H

#include "gateway/front/rest/rest.h"

/* Reads them from the store, has the executor drop what the store has no record of, and starts. Before the server takes
 * requests: what is accepted from then on comes behind them. */
void cbx_rest_recover(struct cbx_rest *rest);

struct cbx_rest_job;

/* The executor has admitted this one, or it failed: the next one of the backlog starts. No effect on a job that is not of
 * the backlog, nor the second time. */
void cbx_rest_recovery_started(struct cbx_rest_job *job);

/* Drops the backlog, which stays in the store for the next gateway. After cbx_rest_stop. */
void cbx_rest_recovery_done(struct cbx_rest *rest);

#endif
