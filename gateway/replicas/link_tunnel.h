/* SPDX-License-Identifier: MIT
 * Carries bytes between a socket of the front and a link to another replica. */
#ifndef CBX_GATEWAY_REPLICAS_LINK_TUNNEL_H
#define CBX_GATEWAY_REPLICAS_LINK_TUNNEL_H

#include <openssl/ssl.h>

/* Carries bytes in both directions until an end closes or fails; what the link has sent before is
 * still passed to the front. Both sockets must be non-blocking; neither is closed. */
void cbx_tunnel_carry(int front, SSL *link);

#endif
