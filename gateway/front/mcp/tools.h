/* SPDX-License-Identifier: MIT
 * The tools of the server: one row each in tools.def. A call is judged, recorded and run like
 * any other request. Mistakes of the caller and denials of the policy are results with isError,
 * because protocol errors do not reach the model. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_H

#include "gateway/front/mcp/claims.h"
#include "gateway/front/review.h"

#include <stdatomic.h>

/* What a call works with. Borrowed for the length of the call. */
struct cbx_tool_call {
    struct cbx_flow *flow;
    const json_t *arguments;         /* an object; NULL = none */
    const struct cbx_claims *claims; /* for the audit log; NULL = none */
    const atomic_bool *cancelled;    /* set from another thread: the run is stopped soon after */
};

/* The list for tools/list (new reference), in a fixed order. What runs may reach the network only
 * if the first policy lets it: the annotations say so. */
json_t *cbx_tools_list(const struct cbx_policies *policies);

/* Calls the tool with this name. *result (new reference) is a CallToolResult, for errors of the
 * arguments and of the run too. CBX_ENOTFOUND, with the names there are, is the only failure.
 * Thread-safe. */
int cbx_tools_call(struct cbx_str name, const struct cbx_tool_call *call, json_t **result,
                   struct cbx_err *err);

#endif
