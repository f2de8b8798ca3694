/* SPDX-License-Identifier: MIT
 * The services of a server, behind authentication: REST, and MCP on one path. */
#ifndef CBX_GATEWAY_FRONT_ENTRANCE_H
#define CBX_GATEWAY_FRONT_ENTRANCE_H

#include "gateway/front/http/http_server.h"
#include "gateway/front/mcp/protocol/mcp.h"
#include "gateway/front/page/page.h"
#include "gateway/identity/identity.h"

#include <stdatomic.h>

/* All borrowed. `identity` NULL: every caller is the local one. */
struct cbx_entrance {
    struct cbx_service *service;
    struct cbx_mcp *mcp;
    struct cbx_identity *identity;
    struct cbx_page page;
    atomic_int in_work; /* number of requests in handlers; owned by the entrance */
};

/* For struct cbx_http_config; the context is a struct cbx_entrance. A request without a known
 * caller receives 401, with advice, before any other part of it is read; public routes are
 * served to every client. After the service has announced its stop, requests with changes are
 * refused. */
void cbx_entrance_handle(void *context, const struct cbx_http_request *request,
                         struct cbx_http_response *out);

#endif
