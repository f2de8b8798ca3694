/* SPDX-License-Identifier: MIT
 * The tools of the server: one row each in tools.def. A call is judged, recorded and run like
 * any other request. Mistakes of the caller and denials of the policy are results with isError,
 * because protocol errors do not reach the model. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_TOOLS_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_TOOLS_H

#include "gateway/front/claims.h"
#include "gateway/front/mcp/protocol/mcp.h"

/* Time until a call gets its response, also if its program still runs: clients end a request
 * after 60 seconds. */
enum { CBX_TOOL_WAIT_S = 45 };

/* The way of an approval question to the client: none; by a result after which it repeats the
 * call (2026-07-28); by a request while the call waits (before). */
enum cbx_asking { CBX_ASKS_NOT = 0, CBX_ASKS_BY_RESULT, CBX_ASKS_BY_REQUEST };

struct cbx_mcp_retry; /* mcp_approval.h */

/* Context of a call. Borrowed during the call. */
struct cbx_tool_call {
    struct cbx_mcp *mcp;
    struct cbx_str name;             /* name of the tool */
    const json_t *arguments;         /* an object; NULL = none */
    const json_t *progress;          /* the client's token, a string or an integer; NULL = none */
    const struct cbx_claims *claims; /* for the audit log */
    const struct cbx_mcp_peer *peer;
    int64_t began_ms; /* time of cbx_clock_ms */
    enum cbx_asking asking;
    const struct cbx_mcp_retry *retry; /* state from an earlier round; NULL = none */
};

/* Returns the list for tools/list (new reference), in a fixed order. The hints follow from the
 * caller's policy (NULL = none): a run is open-world only if the policy grants a network, and
 * destructive only if it grants writable mounts. The listed libraries (of the small images if
 * `small`) and the limits of the schemas also follow from it. */
json_t *cbx_tools_list(const struct cbx_policy *policy, bool small);

/* True if the tool runs code and one of the policies has a rule that asks. */
bool cbx_tools_may_ask(const struct cbx_policies *policies, struct cbx_str name);

/* True if the client cancelled the call. */
bool cbx_tool_is_cancelled(const struct cbx_tool_call *call);

/* Sends progress, in seconds since the call began, to a client with a progress token; `message`
 * describes the current step. */
void cbx_tool_report(const struct cbx_tool_call *call, const char *message);

/* Calls the tool with this name. *result (new reference) is a CallToolResult, also for errors of
 * the arguments and of the run. CBX_ENOTFOUND, with the available names, is the only failure.
 * Thread-safe. */
int cbx_tools_call(struct cbx_str name, const struct cbx_tool_call *call, json_t **result,
                   struct cbx_err *err);

#endif
