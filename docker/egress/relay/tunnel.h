/* SPDX-License-Identifier: MIT
 * What a client sends through one connection to the proxy. The proxy decides by the request which host it connects to; behind a tunnel
 * (CONNECT, RFC 9110 9.3.6) one address may serve many hosts, and the client's TLS says which of them answers. So this code reads the request and
 * the ClientHello, and lets a tunnel carry TLS for the host of its request and nothing else. Everything after the handshake's
 * beginning passes unread. Pure; the bytes are hostile.
 *
 * A connection must have one request: the proxy is configured to close it behind the answer (docker/egress/proxy_config.c). */
#ifndef CBX_DOCKER_EGRESS_RELAY_TUNNEL_H
#define CBX_DOCKER_EGRESS_RELAY_TUNNEL_H

#include "docker/egress/relay/client_hello.h"
#include "docker/inside/wire/wire.h"

enum { CBX_TUNNEL_REQUEST_MAX_BYTES = 32 * 1024 };

enum cbx_tunnel_refusal {
    CBX_TUNNEL_NOT_REFUSED = 0,
    CBX_TUNNEL_REQUEST, /* the request is malformed in a way that the proxy could read differently */
    CBX_TUNNEL_NOT_TLS,  /* what follows the request is no ClientHello */
    CBX_TUNNEL_TLS_NAME, /* the ClientHello has another name, or none that can be known */
};

/* Zeroed at the beginning of a connection; cbx_tunnel_done frees what it holds. */
struct cbx_tunnel {
    enum {
        CBX_TUNNEL_AT_REQUEST = 0,
        CBX_TUNNEL_AT_HELLO,
        CBX_TUNNEL_AFTER_HELLO, /* a second ClientHello may follow */
        CBX_TUNNEL_OPEN,        /* everything passes */
    } at;
    enum cbx_tunnel_refusal refusal; /* once set, nothing passes */
    char host
        [CBX_HELLO_NAME_BYTES]; /* of the request, in lower case; "" = not a name, or no tunnel */
    unsigned port;              /* of the request; 0 without `host` */
    char name[CBX_HELLO_NAME_BYTES]; /* of the last ClientHello; "" = none that is known */
    struct cbx_bytes held;           /* received, not passed yet */
};

/* Adds bytes of the client. Returns how many of the first bytes in `held` may pass to the proxy now: the caller sends and drops them
 * (cbx_tunnel_drop) before the next call. What stays in `held` is at most CBX_TUNNEL_REQUEST_MAX_BYTES, and the bytes of one call. Returns 0 when more
 * bytes are needed, and when `refusal` is set. */
size_t cbx_tunnel_take(struct cbx_tunnel *tunnel, const uint8_t *bytes, size_t len);

/* Removes the first n bytes of `held`. */
void cbx_tunnel_drop(struct cbx_tunnel *tunnel, size_t n);

void cbx_tunnel_done(struct cbx_tunnel *tunnel);

#endif
