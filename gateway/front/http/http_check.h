/* SPDX-License-Identifier: MIT
 * The strict request check (RFC 9112, RFC 9110): refuses messages that two parsers could
 * interpret differently. */
#ifndef CBX_GATEWAY_FRONT_HTTP_HTTP_CHECK_H
#define CBX_GATEWAY_FRONT_HTTP_HTTP_CHECK_H

#include "gateway/front/http/http_server.h"

#include <stdbool.h>
#include <stdint.h>

/* State of the check over the headers of one request. Zero-initialise it. */
struct cbx_http_headers {
    struct cbx_str host, content_length, transfer_encoding, origin, content_type, accept,
        authorization, idempotency_key, cookie, content_encoding, trace, replica, client,
        request_id;
    int hosts, lengths, encodings, origins, authorizations, types, accepts, keys, cookies, codings,
        expects, traces, replicas, clients, request_ids;
    bool old; /* true for HTTP/1.0 */
    struct cbx_http_mcp mcp;
    int mcps[CBX_HTTP_MCP_HEADERS];
    bool malformed;
    bool misread; /* true if a line may have been parsed as another one */
};

/* The names by which a server is reached. Borrowed. */
struct cbx_http_names {
    /* port of localhost and the loopback addresses; the scheme's default may be left out */
    uint16_t port;
    bool https; /* true for https, also in Origin */
    /* further values of Host: NAME, optionally with the port, or NAME:PORT */
    const char *const *hosts;
    size_t host_count;
    const char *origin; /* a further value of Origin: the public URL's; NULL = none */
    bool any;           /* true if another replica has checked Host and Origin */
};

/* Checks one header field. */
void cbx_http_check_field(struct cbx_http_headers *headers, struct cbx_str name,
                          struct cbx_str value);

/* Returns the verdict after all fields: 0, or an HTTP status with *detail, a static sentence.
 * Host must be one of the names, and an Origin that host. A body larger than max_body_bytes is
 * refused here (413) only if the client waits for permission to send it (Expect): another client
 * sends all of it before it reads a reply. */
int cbx_http_check(const struct cbx_http_headers *headers, struct cbx_str method,
                   struct cbx_str target, const struct cbx_http_names *names, size_t max_body_bytes,
                   const char **detail);

#endif
