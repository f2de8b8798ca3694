/* SPDX-License-Identifier: MIT
 * The tools of the server: one row each in tools.def. A call is judged, recorded and run like
 * any other request. Mistakes of the caller and denials of the policy are results with isError,
 * because protocol errors do not reach the model. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_H

#include "gateway/front/claims.h"
#include "gateway/front/mcp/mcp.h"

/* A call is answered after this time, also when its program still runs: clients end a request after 60
 * seconds. */
enum { CBX_TOOL_WAIT_S = 45 };

/* What a call works with. Borrowed for the length of the call. */
struct cbx_tool_call {
    struct cbx_mcp *mcp;
    const json_t *arguments;         /* an object; NULL = none */
    const json_t *progress;          /* the client's token, a string or an integer; NULL = none */
    const struct cbx_claims *claims; /* for the audit log */
    const struct cbx_mcp_peer *peer;
};

/* The list for tools/list (new reference), in a fixed order. The hints follow from the first policy: what
 * runs is of an open world only if it grants a network, and destroys only if it grants mounts to write to. */
json_t *cbx_tools_list(const struct cbx_policies *policies);

/* Calls the tool with this name. *result (new reference) is a CallToolResult, for errors of the
 * arguments and of the run too. CBX_ENOTFOUND, with the names there are, is the only failure.
 * Thread-safe. */
int cbx_tools_call(struct cbx_str name, const struct cbx_tool_call *call, json_t **result,
                   struct cbx_err *err);

#endif
