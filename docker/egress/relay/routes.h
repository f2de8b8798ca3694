/* SPDX-License-Identifier: MIT
 * Restricts the addresses to which a proxy's container can send packets, independently of the
 * proxy in it: rules of the host kernel's routing (ip-rule(8)). The proxy resolves names, and an
 * answer may change between its check and its connection. */
#ifndef CBX_DOCKER_EGRESS_RELAY_ROUTES_H
#define CBX_DOCKER_EGRESS_RELAY_ROUTES_H

#include <stdbool.h>

/* Refuses the ranges of `denied`, the ranges of docker/egress/addresses.def except the ranges of
 * `allowed`, and all of IPv6. Name servers (port 53) are reachable at any address. Both are
 * lists of "a.b.c.d" and "a.b.c.d/n", separated by spaces. Needs CAP_NET_ADMIN. False if a rule
 * could not be made: the caller must then start no program. */
bool cbx_routes_restrict(const char *allowed, const char *denied);

#endif
