/* SPDX-License-Identifier: MIT
 * What a server serves, behind authentication: REST, and MCP on one path. */
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
    atomic_int in_work; /* requests that a handler serves; of the entrance */
};

/* For struct cbx_http_config; the context is a struct cbx_entrance. A request without a known caller is answered 401, with what to
 * do, before anything else of it is looked at; routes that are public are served to everybody. Once the service has announced its stop, requests that
 * change something are refused. */
void cbx_entrance_handle(void *context, const struct cbx_http_request *request,
                         struct cbx_http_response *out);

#endif
