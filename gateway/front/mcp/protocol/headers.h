/* SPDX-License-Identifier: MIT
 * The headers of MCP over HTTP: proxies route by them, so they must match the body. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_HEADERS_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_HEADERS_H

#include "gateway/front/http/http_server.h"
#include "gateway/front/mcp/protocol/jsonrpc.h"

/* Compares the headers of a request of the stateless era with its body: MCP-Protocol-Version
 * with `version`, Mcp-Method, and Mcp-Name if the method has a name (a tool, a prompt, a URI).
 * Values are case-sensitive; Mcp-Name may be "=?base64?...?=". CBX_RPC_HEADER_MISMATCH if one is
 * missing, malformed or different. */
int cbx_mcp_headers_match(const struct cbx_http_mcp *headers, const struct cbx_rpc_message *request,
                          struct cbx_str version, struct cbx_err *err);

#endif
