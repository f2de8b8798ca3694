/* SPDX-License-Identifier: MIT
 * The strict request check (RFC 9112, RFC 9110): refuses what two readers could understand in two
 * ways. */
#ifndef CBX_GATEWAY_FRONT_HTTP_HTTP_CHECK_H
#define CBX_GATEWAY_FRONT_HTTP_HTTP_CHECK_H

#include "gateway/front/http/http_server.h"

#include <stdbool.h>
#include <stdint.h>

/* What the headers of one request add up to. Zeroed memory is the start. */
struct cbx_http_headers {
    struct cbx_str host, content_length, transfer_encoding, origin, content_type, accept,
        authorization, idempotency_key, cookie, content_encoding, trace;
    int hosts, lengths, encodings, origins, authorizations, types, accepts, keys, cookies, codings,
        expects, traces;
    bool old; /* the request is HTTP/1.0 */
    struct cbx_http_mcp mcp;
    int mcps[CBX_HTTP_MCP_HEADERS];
    bool malformed;
    bool misread; /* a line may have been taken for another one than it is */
};

/* By what names a server is reached. Borrowed. */
struct cbx_http_names {
    uint16_t
        port;   /* localhost and the loopback addresses have it; the scheme's own may be left out */
    bool https; /* the scheme, also of Origin */
    const char *const
        *hosts; /* further values of Host: NAME, which the port may follow, or NAME:PORT */
    size_t host_count;
    const char *origin; /* a further value of Origin: that of the public URL; NULL = none */
};

/* Takes note of one header field. */
void cbx_http_check_field(struct cbx_http_headers *headers, struct cbx_str name,
                          struct cbx_str value);

/* The verdict once all fields were noted: 0, or an HTTP status with *detail, a static sentence.
 * Host must be one of the names, and an Origin that host. A body that is larger than max_body_bytes is refused here (413) only where
 * the client waits for leave to send it (Expect): another one sends all of it before it reads an answer. */
int cbx_http_check(const struct cbx_http_headers *headers, struct cbx_str method,
                   struct cbx_str target, const struct cbx_http_names *names, size_t max_body_bytes,
                   const char **detail);

#endif
