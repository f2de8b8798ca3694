/* SPDX-License-Identifier: MIT
 * Which replica has what a request names: its session, execution or decision, or the object of
 * its Idempotency-Key. */
#ifndef CBX_GATEWAY_FRONT_FORWARD_OWNER_H
#define CBX_GATEWAY_FRONT_FORWARD_OWNER_H

#include "gateway/front/http/http_server.h"
#include "gateway/ipc/replicas.h"

struct cbx_takeover;

/* Where replicas take over from each other, the owner of an object is not always the replica that
 * made it (jobs/takeover.h). */
struct cbx_owners {
    const struct cbx_replicas *replicas; /* borrowed */
    struct cbx_takeover *takeover;       /* borrowed, may be NULL */
};

/* Returns the other replica that serves this request of a principal, borrowed; NULL if this one
 * does: the request names no object, one of this replica, or one that no replica made. */
const struct cbx_replica *cbx_owner_find(const struct cbx_owners *owners,
                                         const struct cbx_http_request *request,
                                         const char *principal);

/* True for the page for people, which is served by the replica of its login. */
bool cbx_owner_is_of_page(struct cbx_str path);

/* Returns the other replica at which a browser has logged in with this Cookie header, borrowed;
 * NULL if it is this one, or none. */
const struct cbx_replica *cbx_owner_of_cookie(const struct cbx_replicas *replicas,
                                              struct cbx_str cookie);

#endif
