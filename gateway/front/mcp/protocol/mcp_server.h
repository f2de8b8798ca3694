/* SPDX-License-Identifier: MIT
 * MCP methods. Two eras are served, selected per message and never per connection: requests
 * whose _meta claims a protocol version are of the stateless era (2026-07-28), all others of the
 * handshake era (2024-11-05 to 2025-11-25). The only protocol state between messages is in
 * mcp_sessions.h; executions and their sessions are the service's. Transports call this and do
 * the rest. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_SERVER_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_SERVER_H

#include "gateway/front/http/http_server.h"
#include "gateway/front/mcp/protocol/jsonrpc.h"
#include "gateway/front/mcp/protocol/mcp.h"

/* Handles a request (kind CBX_RPC_REQUEST): appends one line to `out`, a result or an error.
 * Blocks as long as a tool runs; `peer` may be NULL. Thread-safe. */
void cbx_mcp_answer(struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                    const struct cbx_mcp_peer *peer, struct cbx_buf *out);

/* Properties of a request that a transport with headers needs before the response. */
struct cbx_mcp_check {
    int status;     /* HTTP status of the error */
    bool stateless; /* the era */
    json_t *data;   /* data of the error, owned by the caller; NULL = none */
};

/* Checks era, headers and method of a request (kind CBX_RPC_REQUEST). Returns 0, or a code with
 * a text in `err`, for which out->status and out->data are set; errors of handlers are ordinary
 * responses. */
int cbx_mcp_check(struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                  const struct cbx_http_mcp *headers, struct cbx_mcp_check *out,
                  struct cbx_err *err);

/* True if other messages of the server may precede the response, for which a client needs a
 * stream: it requested progress, its method sends messages, or the client of this session may
 * receive an approval question. */
bool cbx_mcp_sends(const struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                   struct cbx_str session);

/* True if the response may take long: the transport should use a separate thread. */
bool cbx_mcp_is_slow(const struct cbx_rpc_message *request);

/* Responds to a slow request that cannot be accepted now; to a tools/call with a result that
 * explains this to the model. */
void cbx_mcp_answer_busy(const struct cbx_rpc_message *request, int running, struct cbx_buf *out);

/* Returns the id in a notifications/cancelled, borrowed; NULL for other messages. */
const json_t *cbx_mcp_cancelled_id(const struct cbx_rpc_message *notification);

#endif
