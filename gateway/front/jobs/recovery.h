/* SPDX-License-Identifier: MIT
 * Recovery of executions that an earlier gateway accepted and did not finish: the backlog. Those
 * that began are followed first, since their results wait in their sandboxes; the others are
 * started a few at a time, so that new requests are served meanwhile. The gateway's limit of
 * concurrent executions holds; new requests are refused until the backlog leaves capacity. */
#ifndef CBX_GATEWAY_FRONT_JOBS_RECOVERY_H
#define CBX_GATEWAY_FRONT_JOBS_RECOVERY_H

#include "gateway/front/rest/rest.h"

/* Reads the unfinished executions from the store, has the executor drop sessions and runs
 * without a record in the store, and starts the jobs. Call it before the server accepts
 * requests: later executions are queued after these. */
void cbx_service_recover(struct cbx_service *service);

/* Starts the jobs of unfinished executions that were taken over from another replica
 * (cbx_store_take_over). No request of their sessions is served meanwhile. */
void cbx_service_recover_rows(struct cbx_service *service, const json_t *rows);

#endif
