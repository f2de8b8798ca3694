/* SPDX-License-Identifier: MIT
 * MCP methods. Two eras are served, decided per message and never per connection: requests whose
 * _meta claims a protocol version are of the stateless era (2026-07-28), all others of the
 * handshake era (2024-11-05 to 2025-11-25). Of the protocol only what mcp_sessions.h has is remembered between messages;
 * executions and their sessions are the service's. Transports call this and do the rest. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_SERVER_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_SERVER_H

#include "gateway/front/http/http_server.h"
#include "gateway/front/mcp/protocol/jsonrpc.h"
#include "gateway/front/mcp/protocol/mcp.h"

/* Answers a request (kind CBX_RPC_REQUEST): appends one line to `out`, a result or an error. Blocks
 * as long as a tool runs; `peer` may be NULL. Thread-safe. */
void cbx_mcp_answer(struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                    const struct cbx_mcp_peer *peer, struct cbx_buf *out);

/* What a transport with headers learns about a request before it answers. */
struct cbx_mcp_check {
    int status;     /* HTTP status of the error */
    bool stateless; /* the era */
    json_t *data;   /* of the error, owned by the caller; NULL = none */
};

/* Checks era, headers and method of a request (kind CBX_RPC_REQUEST). Returns 0, or a code with a text in
 * `err`, for which out->status and out->data are set; errors of handlers are answers like any other. */
int cbx_mcp_check(struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                  const struct cbx_http_mcp *headers, struct cbx_mcp_check *out,
                  struct cbx_err *err);

/* True when the answer may come after other messages of the server, for which a client needs a stream: it asked
 * for progress, what it calls sends messages, or the client of this session may be asked to approve it. */
bool cbx_mcp_sends(const struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                   struct cbx_str session);

/* True when answering may take long: the transport should give it a thread. */
bool cbx_mcp_is_slow(const struct cbx_rpc_message *request);

/* Answers a slow request that cannot be taken on now; a tools/call with a result that explains it to the
 * model. */
void cbx_mcp_answer_busy(const struct cbx_rpc_message *request, int running, struct cbx_buf *out);

/* The id that a notifications/cancelled means, borrowed; NULL when the message is none. */
const json_t *cbx_mcp_cancelled_id(const struct cbx_rpc_message *notification);

#endif
