/* SPDX-License-Identifier: MIT
 * Which addresses a proxy's container can send packets to at all, whatever the proxy in it does: rules of the kernel's routing
 * (ip-rule(8)). Names are resolved by the proxy, and an answer may change between its check and its connection. */
#ifndef CBX_DOCKER_EGRESS_RELAY_ROUTES_H
#define CBX_DOCKER_EGRESS_RELAY_ROUTES_H

#include <stdbool.h>

/* Refuses the ranges of `denied`, those of docker/egress/addresses.def but for the ranges of `allowed`, and all of IPv6. Name servers (port 53)
 * are reached wherever they are. Both are lists of "a.b.c.d" and "a.b.c.d/n", separated by spaces. Needs CAP_NET_ADMIN. False when a rule could not be made: the
 * caller then lets nothing run. */
bool cbx_routes_restrict(const char *allowed, const char *denied);

#endif
