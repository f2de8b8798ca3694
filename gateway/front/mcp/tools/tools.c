/* SPDX-License-Identifier: MIT
 * The tools: their list, and the function of a call. */
#include "gateway/front/access.h"
#include "gateway/front/mcp/resources.h"
#include "gateway/front/mcp/tools/content.h"
#include "gateway/front/mcp/tools/tools_internal.h"
#include "gateway/front/service/dependencies.h"
#include "policies/base/time/clock.h"

#include <limits.h>

static const struct cbx_tool tools[] = {
#define CBX_TOOL(name, function, language, effect, title, description)                             \
    { name, language, CBX_TOOL_##effect, cbx_tool_##function, title, description },
#define CBX_TOOL_ARGUMENT(tool, name, member, type, required, lo, hi, chooses, help)
#include "gateway/front/mcp/tools/tools.def"
#undef CBX_TOOL
#undef CBX_TOOL_ARGUMENT
};
enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

/* --- the list --------------------------------------------------------------------------------- */

/* A program changes only its own sandbox, unless the policy lets it write to folders of the
 * host; the tools for files overwrite. */
static json_t *describe_hints(const struct cbx_tool *tool, const struct cbx_policy *policy)
{
    bool reads = tool->effect <= CBX_TOOL_READS, runs = tool->effect == CBX_TOOL_RUNS;
    bool mounts = policy != NULL && policy->mounts.allow_count > 0;
    bool network = policy != NULL && policy->network == CBX_NETWORK_EGRESS;
    return json_pack("{s:b,s:b,s:b,s:b}", "readOnlyHint", reads, "destructiveHint",
                     !reads && (!runs || mounts), "idempotentHint", !runs, "openWorldHint",
                     runs && network);
}

/* Returns the description, with the libraries of the tool's language in place of "{libraries}".
 * New reference. */
static json_t *describe_text(const struct cbx_tool *tool, const struct cbx_policy *policy,
                             bool small)
{
    static const char mark[] = "{libraries}";
    const char *at = strstr(tool->description, mark);
    if (at == NULL) {
        return json_string(tool->description);
    }
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) libraries;
    cbx_buf_init(&text, 4096);
    cbx_buf_init(&libraries, 1024);
    bool any = cbx_highlights_add(policy, tool->language, small, &libraries);
    cbx_buf_add(&text, (struct cbx_str){ tool->description, (size_t)(at - tool->description) });
    cbx_buf_add(&text, any ? cbx_buf_str(&libraries) : CBX_STR("its standard library"));
    cbx_buf_add_cstr(&text, at + strlen(mark));
    return cbx_json_text(cbx_buf_str(&text));
}

/* There is no schema of results: a result with pictures has no structured part, which a tool
 * with a schema must give. The first tool is the one that a model needs: clients that search for
 * tools show it at once. */
static json_t *describe_tool(const struct cbx_tool *tool, const struct cbx_policy *policy,
                             bool small)
{
    json_t *json =
        json_pack("{s:s,s:s,s:o,s:o,s:o}", "name", tool->name, "title", tool->title, "description",
                  describe_text(tool, policy, small), "inputSchema", cbx_tool_schema(tool, policy),
                  "annotations", describe_hints(tool, policy));
    if (tool == tools) {
        json_object_set_new(json, "_meta", json_pack("{s:b}", "anthropic/alwaysLoad", true));
    }
    return json;
}

json_t *cbx_tools_list(const struct cbx_policy *policy, bool small)
{
    json_t *list = json_array();
    for (size_t i = 0; i < TOOLS; i++) {
        json_array_append_new(list, describe_tool(&tools[i], policy, small));
    }
    return list;
}

/* --- a call ----------------------------------------------------------------------------------- */

static int fail_unknown(struct cbx_str name, struct cbx_err *err)
{
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < TOOLS && used < sizeof(known); i++) {
        int n =
            snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "", tools[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return cbx_fail(err, CBX_ENOTFOUND, "unknown tool '%.*s', there are: %s",
                    CBX_STR_SHOWN(cbx_str_sub(name, 0, 64)), known);
}

/* The tools for files are also found by their former names. */
static const struct cbx_tool *find_tool(struct cbx_str name)
{
    static const char prefix[] = "sandbox_";
    const struct cbx_tool *tool = NULL;
    for (size_t i = 0; i < TOOLS; i++) {
        bool prefixed = strncmp(tools[i].name, prefix, sizeof(prefix) - 1) == 0;
        if (cbx_str_is(name, tools[i].name) ||
            (prefixed && cbx_str_is(name, tools[i].name + sizeof(prefix) - 1))) {
            tool = &tools[i];
        }
    }
    return tool;
}

bool cbx_tools_may_ask(const struct cbx_policies *policies, struct cbx_str name)
{
    const struct cbx_tool *tool = find_tool(name);
    bool asks = false;
    for (size_t i = 0; i < policies->count; i++) {
        asks |= cbx_mcp_policy_asks(policies->items[i]);
    }
    return asks && tool != NULL && tool->effect == CBX_TOOL_RUNS;
}

bool cbx_tool_is_cancelled(const struct cbx_tool_call *call)
{
    return call->peer != NULL && call->peer->is_cancelled != NULL &&
           call->peer->is_cancelled(call->peer->context);
}

void cbx_tool_report(const struct cbx_tool_call *call, const char *message)
{
    int64_t elapsed_ms = cbx_clock_ms() - call->began_ms;
    if (call->progress == NULL || call->peer == NULL || call->peer->notify == NULL) {
        return;
    }
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, 8192);
    CBX_AUTO_JSON json = json_pack(
        "{s:s,s:s,s:{s:O,s:f,s:s}}", "jsonrpc", "2.0", "method", "notifications/progress", "params",
        "progressToken", call->progress, "progress", (double)elapsed_ms / 1000, "message", message);
    cbx_json_write(&line, json);
    cbx_buf_add_char(&line, '\n');
    call->peer->notify(call->peer->context, cbx_buf_str(&line));
}

int cbx_tools_call(struct cbx_str name, const struct cbx_tool_call *call, json_t **result,
                   struct cbx_err *err)
{
    const struct cbx_tool *tool = find_tool(name);
    if (tool == NULL) {
        return fail_unknown(name, err);
    }
    enum cbx_right right = tool->effect == CBX_TOOL_JUDGES ? CBX_RIGHT_CHECK : CBX_RIGHT_EXECUTE;
    const struct cbx_caller *caller = cbx_mcp_caller(call->peer);
    if (!cbx_caller_may(caller, right)) {
        char text[192];
        snprintf(text, sizeof(text), "principal '%s' lacks the right '%s', which this tool needs",
                 caller->principal, cbx_right_name(right));
        cbx_access_note(
            call->mcp->service->flow, CBX_ACCESS_REFUSED_RIGHT,
            &(struct cbx_access_entry){ .principal = caller->principal, .reason = text },
            call->claims);
        *result = cbx_content_of_failure("invalid", NULL, text);
        return 0;
    }
    struct cbx_tool_arguments arguments;
    CBX_AUTO_DONE(buf) errors;
    cbx_buf_init(&errors, 8192);
    if (cbx_tool_read(tool, call->arguments, &arguments, &errors)) {
        *result = tool->call(call, &arguments);
    } else {
        *result = cbx_content_of_failure("invalid", NULL, errors.p);
    }
    return 0;
}
