/* SPDX-License-Identifier: MIT
 * Watches the other replicas: a request for their health every CBX_REPLICA_WATCH_MS. Whether they
 * can be reached is a line in the log at each change; the head of their audit log, which they
 * answer with, goes to the executor, as an anchor of this log. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_FORWARD_REPLICA_WATCH_H
#define CBX_GATEWAY_FRONT_FORWARD_REPLICA_WATCH_H

#include "gateway/front/forward/forward.h"

enum { CBX_REPLICA_WATCH_MS = 10000 };

struct cbx_replica_watch;

/* Starts the watch over a forwarder; heads go to the executor of the flow. Both are borrowed. The
 * first request is sent at once. NULL if a thread cannot be created. */
struct cbx_flow;
struct cbx_replica_watch *cbx_replica_watch_new(struct cbx_forwarder *forwarder,
                                                struct cbx_flow *flow);
/* Notes and logs no more changes, and sends no more requests. NULL is fine. */
void cbx_replica_watch_stop(struct cbx_replica_watch *watch);
/* Stops, waits for the request in progress (CBX_FORWARD_ALL_MS at most, less when the forwarder's
 * channel is shut down), and frees. NULL is fine. */
void cbx_replica_watch_free(struct cbx_replica_watch *watch);

/* True if the replica with this index answered the last request, or none has ended yet. NULL
 * watch: true. */
bool cbx_replica_watch_is_up(struct cbx_replica_watch *watch, size_t index);

#endif
