/* SPDX-License-Identifier: MIT
 * Recovery of executions that an earlier gateway accepted and did not finish. They
 * are the backlog. Those that began are followed first, since their results wait in their sandboxes;
 * the others are started a few at a time, so that new requests are served meanwhile. No more run at
 * a time than the gateway permits; new requests are refused until the backlog leaves room. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_RECOVERY_H
#define CBX_GATEWAY_FRONT_SERVICE_RECOVERY_H

#include "gateway/front/rest/rest.h"

/* Reads the unfinished executions from the store, has the executor drop what the store has no
 * record of, and starts the jobs. Call it before the server accepts requests: later executions
 * are queued behind these. */
void cbx_service_recover(struct cbx_service *service);

#endif
