/* SPDX-License-Identifier: MIT
 * Takeover of what a dead replica had (`--instance-secret`). A thread stores a sign of life every
 * second and looks for replicas without one; another one tells the executor for how long no replica
 * may take this one's sandboxes, and takes over. A replica that was taken over ends its front and
 * its executor, whose sessions another one has now, and begins anew. */
#ifndef CBX_GATEWAY_FRONT_JOBS_TAKEOVER_H
#define CBX_GATEWAY_FRONT_JOBS_TAKEOVER_H

#include "gateway/front/service/service.h"
#include "gateway/ipc/replicas.h"

struct cbx_takeover;

/* Takes the place of this replica in the store, records what is missing in the audit log about
 * takeovers before, and has the executor adopt what this replica has. Call it before
 * cbx_service_recover. Everything is borrowed. An executor that cannot adopt is no error: it is
 * asked again. */
int cbx_takeover_begin(struct cbx_service *service, const struct cbx_replicas *replicas,
                       struct cbx_takeover **out, struct cbx_err *err);

/* Starts the threads; false if one cannot be started. */
bool cbx_takeover_start(struct cbx_takeover *takeover);

/* stop: no other replica is looked at from now on. join: stops, and waits until the threads have
 * ended, which use the service. free: joins. NULL is fine for all of them. */
void cbx_takeover_stop(struct cbx_takeover *takeover);
void cbx_takeover_join(struct cbx_takeover *takeover);
void cbx_takeover_free(struct cbx_takeover *takeover);

/* Waits until no takeover is in progress, a limited time: what was taken over is usable then. */
void cbx_takeover_await(struct cbx_takeover *takeover);

/* Returns a number that differs after a takeover began or ended in between, and is odd while one is
 * in progress. */
unsigned cbx_takeover_number(struct cbx_takeover *takeover);

/* Returns the replica that serves an object with this identifier, borrowed; NULL for this one, and
 * *ours is set to true if it has the object. The identifier's tag says it, unless something was
 * taken over from that replica: then the store is asked. NULL takeover: the tag says it. */
const struct cbx_replica *cbx_takeover_owner(struct cbx_takeover *takeover,
                                             const struct cbx_replicas *replicas, struct cbx_str id,
                                             bool *ours);

/* Finds the object of an Idempotency-Key of the principal, if anything was ever taken over: its
 * replica may be another one than the key's. False if the store has no such key. */
bool cbx_takeover_find_key(struct cbx_takeover *takeover, const char *principal, struct cbx_str key,
                           char id[40]);

#endif
