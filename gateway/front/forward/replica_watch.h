/* SPDX-License-Identifier: MIT
 * Watches whether the other replicas can be reached: a request for their health every
 * CBX_REPLICA_WATCH_MS. Each change is a line in the log. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_FORWARD_REPLICA_WATCH_H
#define CBX_GATEWAY_FRONT_FORWARD_REPLICA_WATCH_H

#include "gateway/front/forward/forward.h"

enum { CBX_REPLICA_WATCH_MS = 10000 };

struct cbx_replica_watch;

/* Starts the watch over a forwarder, which is borrowed; the first request is sent at once. NULL if
 * a thread cannot be created. */
struct cbx_replica_watch *cbx_replica_watch_new(struct cbx_forwarder *forwarder);
/* Notes and logs no more changes, and sends no more requests. NULL is fine. */
void cbx_replica_watch_stop(struct cbx_replica_watch *watch);
/* Stops, waits for the request in progress (CBX_FORWARD_ALL_MS at most, less when the forwarder's
 * channel is shut down), and frees. NULL is fine. */
void cbx_replica_watch_free(struct cbx_replica_watch *watch);

/* True if the replica with this index answered the last request, or none has ended yet. NULL
 * watch: true. */
bool cbx_replica_watch_is_up(struct cbx_replica_watch *watch, size_t index);

#endif
