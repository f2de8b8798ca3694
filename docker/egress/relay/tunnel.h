/* SPDX-License-Identifier: MIT
 * Checks the bytes that a client sends through one connection to the proxy. The proxy selects the
 * host by the request; behind a tunnel (CONNECT, RFC 9110 9.3.6) one address may serve many hosts,
 * selected by the client's TLS. So this code reads the request and the ClientHello, and lets a
 * tunnel carry only TLS for the host of its request. Bytes after the beginning of the handshake
 * pass unread. Pure; the bytes are hostile.
 *
 * A connection must have one request: the proxy is configured to close it after the reply
 * (docker/egress/proxy_config.c). */
#ifndef CBX_DOCKER_EGRESS_RELAY_TUNNEL_H
#define CBX_DOCKER_EGRESS_RELAY_TUNNEL_H

#include "docker/egress/relay/client_hello.h"
#include "docker/inside/wire/wire.h"

enum { CBX_TUNNEL_REQUEST_MAX_BYTES = 32 * 1024 };

enum cbx_tunnel_refusal {
    CBX_TUNNEL_NOT_REFUSED = 0,
    /* the request is malformed, and the proxy could interpret it differently */
    CBX_TUNNEL_REQUEST,
    CBX_TUNNEL_NOT_TLS,  /* the bytes after the request are no ClientHello */
    CBX_TUNNEL_TLS_NAME, /* the ClientHello has another name, or none that can be determined */
};

/* Zero-initialise it for a connection; cbx_tunnel_done frees its memory. */
struct cbx_tunnel {
    enum {
        CBX_TUNNEL_AT_REQUEST = 0,
        CBX_TUNNEL_AT_HELLO,
        CBX_TUNNEL_AFTER_HELLO, /* a second ClientHello may follow */
        CBX_TUNNEL_OPEN,        /* all bytes pass */
    } at;
    enum cbx_tunnel_refusal refusal; /* once set, no byte passes */
    /* host of the request, in lower case; "" = not a name, or no tunnel */
    char host[CBX_HELLO_NAME_BYTES];
    unsigned port;                   /* port of the request; 0 without `host` */
    char name[CBX_HELLO_NAME_BYTES]; /* name of the last ClientHello; "" = not determined */
    struct cbx_bytes held;           /* bytes received and not passed yet */
};

/* Adds bytes of the client. Returns the number of the first bytes in `held` that may pass to the
 * proxy now: the caller sends and drops them (cbx_tunnel_drop) before the next call. The rest of
 * `held` is at most CBX_TUNNEL_REQUEST_MAX_BYTES, and the bytes of one call. Returns 0 if more
 * bytes are needed, and if `refusal` is set. */
size_t cbx_tunnel_take(struct cbx_tunnel *tunnel, const uint8_t *bytes, size_t len);

/* Removes the first n bytes of `held`. */
void cbx_tunnel_drop(struct cbx_tunnel *tunnel, size_t n);

void cbx_tunnel_done(struct cbx_tunnel *tunnel);

#endif
