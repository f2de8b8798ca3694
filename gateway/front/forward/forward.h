/* SPDX-License-Identifier: MIT
 * Forwarding of requests to the replica that serves them, and asking all replicas. The other
 * replica authenticates the caller again, by the credential of the request. */
#ifndef CBX_GATEWAY_FRONT_FORWARD_FORWARD_H
#define CBX_GATEWAY_FRONT_FORWARD_FORWARD_H

#include "gateway/front/http/http_server.h"
#include "gateway/ipc/replicas.h"

#include <stdatomic.h>

/* The connections to the other replicas. Thread-safe. */
struct cbx_forwarder;

/* Makes it over a channel to the process of links (replica_channel.h); both are borrowed. */
struct cbx_forwarder *cbx_forwarder_new(const struct cbx_replicas *replicas, int channel);
/* The most bytes of all bodies of responses that are collected at the same time: more fail, so that
 * a replica that was taken over does not fill the memory. Call it before there are other threads. */
enum { CBX_FORWARD_BYTES_MAX = 512 * 1024 * 1024 };
void cbx_forwarder_set_max_bytes(struct cbx_forwarder *forwarder, size_t bytes);

/* NULL is fine. No thread may be in a call. */
void cbx_forwarder_free(struct cbx_forwarder *forwarder);

/* Borrowed. */
const struct cbx_replicas *cbx_forwarder_replicas(const struct cbx_forwarder *forwarder);

/* Sends the request to the replica, which is one of the table's, and makes its response the
 * response of this one: events as they come, anything else when it is complete. The request ends
 * when its client disconnects, or when *cancelled becomes true (NULL = never), with the status
 * 202 then. A replica that cannot be reached gives 503, and one that breaks off 502 when the
 * request may have changed something. */
void cbx_forward(struct cbx_forwarder *forwarder, const struct cbx_replica *replica,
                 const struct cbx_http_request *request, const atomic_bool *cancelled,
                 struct cbx_http_response *out);

/* The answer of a replica. */
struct cbx_forward_answer {
    const struct cbx_replica *replica; /* borrowed */
    int status;                        /* 0 = not reached, or the answer is no JSON */
    json_t *json;                      /* owned by the caller; NULL with status 0 */
    char reason[256];                  /* with status 0 */
};

/* Sends the request to all other replicas at the same time, and waits for all of them, each for
 * CBX_FORWARD_ALL_MS at most. Returns their number. */
enum { CBX_FORWARD_ALL_MS = 20000 };
size_t cbx_forward_all(struct cbx_forwarder *forwarder, const struct cbx_http_request *request,
                       struct cbx_forward_answer answers[CBX_REPLICAS_MAX]);

#endif
