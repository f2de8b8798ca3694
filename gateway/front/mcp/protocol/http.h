/* SPDX-License-Identifier: MIT
 * Streamable HTTP: POST /mcp takes one message, in both eras. A request is answered with JSON,
 * or with a stream of events if its client requests progress; a notification with 202. No state
 * is kept for a client, so GET and DELETE are answered 405, as MCP specifies. With other contents
 * (mcp_contents.h) there are sessions of the handshake era (mcp_sessions.h), which DELETE ends. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_HTTP_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_HTTP_H

#include "gateway/front/http/http_server.h"
#include "gateway/front/mcp/protocol/mcp.h"

/* Handles a request for the path of the endpoint; the response may have been sent when this
 * returns (out->answered). A request of the stateless era is cancelled if its client
 * disconnects. Blocks as long as a tool runs. Thread-safe. */
void cbx_mcp_http(struct cbx_mcp *mcp, const struct cbx_http_request *request,
                  struct cbx_http_response *out);

#endif
