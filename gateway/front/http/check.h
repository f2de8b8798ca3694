/* SPDX-License-Identifier: MIT
 * The strict request check (RFC 9112, RFC 9110): refuses what two readers could understand in two
 * ways. */
#ifndef CBX_GATEWAY_FRONT_HTTP_CHECK_H
#define CBX_GATEWAY_FRONT_HTTP_CHECK_H

#include "gateway/front/http/server.h"

#include <stdbool.h>
#include <stdint.h>

/* What the headers of one request add up to. Zeroed memory is the start. */
struct cbx_http_headers {
    struct cbx_str host, content_length, transfer_encoding, origin, content_type, accept,
        authorization;
    int hosts, lengths, encodings, origins, authorizations, types, accepts;
    struct cbx_http_mcp mcp;
    int mcps[CBX_HTTP_MCP_HEADERS];
    bool malformed;
};

/* Takes note of one header field. */
void cbx_http_check_field(struct cbx_http_headers *headers, struct cbx_str name,
                          struct cbx_str value);

/* The verdict once all fields were noted: 0, or an HTTP status with *detail, a static sentence.
 * `port` is the one that is listened on; Host must name a loopback address or localhost with it, an
 * Origin must be that host. */
int cbx_http_check(const struct cbx_http_headers *headers, struct cbx_str method,
                   struct cbx_str target, uint16_t port, size_t max_body_bytes,
                   const char **detail);

#endif
