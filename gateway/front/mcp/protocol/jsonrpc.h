/* SPDX-License-Identifier: MIT
 * JSON-RPC 2.0 as MCP uses it: one line in, one validated message out, and responses back to
 * lines. Pure functions. Client input is hostile: size and depth are capped, repeated keys and
 * batches refused. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_JSONRPC_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_JSONRPC_H

#include "gateway/front/claims.h"
#include "gateway/front/mcp/protocol/unpaired.h"
#include "policies/base/text/json.h"

enum {
    CBX_RPC_LINE_MAX = 10 * 1024 * 1024,
    CBX_RPC_ANSWER_MAX = 10 * 1024 * 1024 - 1, /* clients close the connection at 10 MiB */
    CBX_RPC_ID_MAX = 256,                      /* bytes of its JSON text */
};

/* Error codes on the wire. All are negative, so functions return them as their failure. */
enum cbx_rpc_code {
    CBX_RPC_PARSE_ERROR = -32700,
    CBX_RPC_INVALID_REQUEST = -32600,
    CBX_RPC_METHOD_NOT_FOUND = -32601,
    CBX_RPC_INVALID_PARAMS = -32602,
    CBX_RPC_INTERNAL_ERROR = -32603,
    CBX_RPC_RESOURCE_NOT_FOUND = -32002,  /* MCP, before 2026-07-28 */
    CBX_RPC_HEADER_MISMATCH = -32020,     /* MCP, since 2026-07-28, */
    CBX_RPC_MISSING_CAPABILITY = -32021,  /* this, */
    CBX_RPC_UNSUPPORTED_VERSION = -32022, /* and this */
};

enum cbx_rpc_kind { CBX_RPC_NONE = 0, CBX_RPC_REQUEST, CBX_RPC_NOTIFICATION, CBX_RPC_RESPONSE };

/* Owned by the caller: cbx_rpc_message_done. Zeroed memory is no message. */
struct cbx_rpc_message {
    enum cbx_rpc_kind kind;
    json_t *json;
    char id[CBX_RPC_ID_MAX + 1]; /* JSON text, without needless escapes; empty = none */
    struct cbx_str method;       /* borrowed from json; empty in a response */
    const json_t *params;        /* an object, borrowed from json; NULL = none */
    /* set if json has U+FFFD where the line has unpaired surrogates */
    struct cbx_unpaired unpaired;
    struct cbx_claims claims; /* filled in by the transport; may stay empty */
};
void cbx_rpc_message_done(struct cbx_rpc_message *message);
CBX_DEFINE_AUTO_DONE(rpc_message)

/* Reads one message. Returns 0 or an enum cbx_rpc_code with a text in `err`; the kind is
 * CBX_RPC_NONE then, and out->id the request's id for the error response, empty if the line is not
 * JSON. Unpaired surrogates are no error here but set out->unpaired. */
int cbx_rpc_read(struct cbx_str line, struct cbx_rpc_message *out, struct cbx_err *err);

/* Makes the error for a line of `bytes` bytes that was dropped because it exceeds
 * CBX_RPC_LINE_MAX: returns its code, with the text in `err`. */
int cbx_rpc_refuse_long(uint64_t bytes, struct cbx_err *err);

/* Appends a whole response line, '\n' included. `id` is JSON text; an empty one is left out, as
 * MCP's schema specifies for errors without a readable id. Returns CBX_ETOOBIG over the buffer's
 * cap, and appends nothing then. */
int cbx_rpc_write_result(struct cbx_buf *buf, const char *id, const json_t *result);
int cbx_rpc_write_error(struct cbx_buf *buf, const char *id, int code, const char *text,
                        const json_t *data);

#endif
