/* SPDX-License-Identifier: MIT
 * Declarations shared by the tools: their table, their arguments, their functions. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_TOOLS_INTERNAL_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_TOOLS_INTERNAL_H

#include "gateway/front/mcp/tools/tools.h"

/* The arguments of all tools; absent ones are zero. Borrowed. */
struct cbx_tool_arguments {
    struct cbx_str code, language, session, path, text, base64, input;
    double timeout_s;
    const json_t *libraries;
    int64_t offset, length;
};

/* The effect of a tool, for its hints and the required right: judging needs check, all others
 * execute. */
enum cbx_tool_effect {
    CBX_TOOL_JUDGES,
    CBX_TOOL_READS,
    CBX_TOOL_WRITES,
    CBX_TOOL_CLOSES,
    CBX_TOOL_RUNS
};

struct cbx_tool {
    const char *name, *language; /* language: of the program, NULL = an argument names it */
    enum cbx_tool_effect effect;
    json_t *(*call)(const struct cbx_tool_call *call, const struct cbx_tool_arguments *arguments);
    const char *title, *description;
};

/* --- arguments.c ------------------------------------------------------------------------------ */

/* Returns the JSON Schema of a tool's arguments (new reference), with the bounds of their values
 * from the policy (NULL = no policy is known). */
json_t *cbx_tool_schema(const struct cbx_tool *tool, const struct cbx_policy *policy);

/* Reads the arguments (`object` may be NULL). False if any is wrong: `errors` has a line for
 * each. */
bool cbx_tool_read(const struct cbx_tool *tool, const json_t *object,
                   struct cbx_tool_arguments *out, struct cbx_buf *errors);

/* --- the functions of tools.def: each gives a CallToolResult (new reference) ------------------ */

#define CBX_TOOL(name, function, language, effect, title, description)                             \
    json_t *cbx_tool_##function(const struct cbx_tool_call *call,                                  \
                                const struct cbx_tool_arguments *arguments);
#define CBX_TOOL_ARGUMENT(tool, name, member, type, required, lo, hi, chooses, help)
#include "gateway/front/mcp/tools/tools.def"
#undef CBX_TOOL
#undef CBX_TOOL_ARGUMENT

/* --- mcp_run.c -------------------------------------------------------------------------------- */

/* Returns the result of an execution (new reference), after waiting up to the time limit of a
 * call. A failure result if there is no such execution. */
json_t *cbx_tool_await(const struct cbx_tool_call *call, const char *execution);

#endif
