/* SPDX-License-Identifier: MIT
 * The tools. */
#include "gateway/front/mcp/tools.h"

#include "gateway/front/collect.h"
#include "gateway/front/dialect.h"
#include "gateway/front/mcp/content.h"

#include <limits.h>

static const struct tool {
    const char *name, *language, *title, *description;
} tools[] = {
#define CBX_TOOL(name, language, title, description) { name, language, title, description },
#define CBX_TOOL_ARGUMENT(tool, name, member, type, required, lo, hi, chooses, help)
#include "gateway/front/mcp/tools.def"
#undef CBX_TOOL
#undef CBX_TOOL_ARGUMENT
};
enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

struct arguments {
    struct cbx_str code, language;
    double timeout_s;
    const json_t *libraries;
};

static const struct argument {
    const char *tool;
    struct cbx_json_field field;
    bool chooses;
    const char *help;
} arguments_table[] = {
#define CBX_TOOL(name, language, title, description)
#define CBX_TOOL_ARGUMENT(tool, name, member, type, required, lo, hi, chooses, help)               \
    { tool,                                                                                        \
      { name, CBX_JSON_##type, offsetof(struct arguments, member), required, true, lo, hi },       \
      chooses,                                                                                     \
      help },
#include "gateway/front/mcp/tools.def"
#undef CBX_TOOL
#undef CBX_TOOL_ARGUMENT
};
enum { ARGUMENTS = sizeof(arguments_table) / sizeof(arguments_table[0]) };

static const struct library {
    const char *language, *name;
} libraries[] = {
#define CBX_LIBRARY(language, name) { language, name },
#include "gateway/front/libraries.def"
#undef CBX_LIBRARY
};

/* --- the list --------------------------------------------------------------------------------- */

static json_t *describe_argument(const struct argument *a)
{
    static const char *const types[] = {
        [CBX_JSON_STR] = "string", [CBX_JSON_NUMBER] = "number", [CBX_JSON_ARRAY] = "array"
    };
    json_t *schema = json_pack("{s:s,s:s}", "type", types[a->field.type], "description", a->help);
    if (a->chooses) {
        json_t *names = json_array();
        const char *name;
        for (size_t i = 0; (name = cbx_dialect_at(i)) != NULL; i++) {
            json_array_append_new(names, json_string(name));
        }
        json_object_set_new(schema, "default",
                            json_string(cbx_dialect_shown(cbx_dialect_default())));
        json_object_set_new(schema, "enum", names);
    }
    if (a->field.type == CBX_JSON_NUMBER) {
        json_object_set_new(schema, "minimum", json_integer(a->field.min));
        json_object_set_new(schema, "maximum", json_integer(a->field.max));
    }
    if (a->field.type == CBX_JSON_ARRAY) {
        json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
    }
    return schema;
}

static json_t *describe_arguments(const struct tool *tool)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < ARGUMENTS; i++) {
        const struct argument *a = &arguments_table[i];
        if (strcmp(a->tool, tool->name) != 0 || a->help == NULL) {
            continue;
        }
        json_object_set_new(properties, a->field.name, describe_argument(a));
        if (a->field.required) {
            json_array_append_new(required, json_string(a->field.name));
        }
    }
    return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties, "required",
                     required, "additionalProperties", 0);
}

/* Every run has its own sandbox without mounts, so nothing that is there before can be destroyed.
 */
static json_t *describe_tool(const struct tool *tool, bool open_world)
{
    json_t *annotations =
        json_pack("{s:s,s:b,s:b,s:b,s:b}", "title", tool->title, "readOnlyHint", 0,
                  "destructiveHint", 0, "idempotentHint", 0, "openWorldHint", (int)open_world);
    return json_pack("{s:s,s:s,s:s,s:o,s:o,s:o}", "name", tool->name, "title", tool->title,
                     "description", tool->description, "inputSchema", describe_arguments(tool),
                     "outputSchema", cbx_content_schema(), "annotations", annotations);
}

json_t *cbx_tools_list(const struct cbx_policies *policies)
{
    bool open_world = policies->count > 0 && policies->items[0]->network != CBX_NETWORK_NONE;
    json_t *list = json_array();
    for (size_t i = 0; i < TOOLS; i++) {
        json_array_append_new(list, describe_tool(&tools[i], open_world));
    }
    return list;
}

/* --- arguments -------------------------------------------------------------------------------- */

/* An absent language is the default one. */
static int check_language(const struct argument *a, struct cbx_str *value, struct cbx_err *err)
{
    if (value->p == NULL) {
        *value = cbx_str_of(cbx_dialect_shown(cbx_dialect_default()));
    }
    const char *name;
    for (size_t i = 0; (name = cbx_dialect_at(i)) != NULL; i++) {
        if (cbx_str_is(*value, name)) {
            return 0;
        }
    }
    CBX_AUTO_DONE(buf) names;
    cbx_buf_init(&names, CBX_ERR_TEXT_BYTES);
    cbx_dialect_list("|", &names);
    return cbx_fail(err, CBX_EINVAL, "field '%s' is '%.*s', allowed are: %s", a->field.name,
                    CBX_STR_ARG(*value), names.p);
}

static bool has_library(struct cbx_str language, struct cbx_str name)
{
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (cbx_str_is(language, libraries[i].language) && cbx_str_is(name, libraries[i].name)) {
            return true;
        }
    }
    return false;
}

static int check_libraries(const struct arguments *args, struct cbx_err *err)
{
    for (size_t i = 0; i < json_array_size(args->libraries); i++) {
        const json_t *item = json_array_get(args->libraries, i);
        if (!json_is_string(item)) {
            return cbx_fail(err, CBX_EINVAL, "field 'libraries' is a list of names");
        }
        if (!has_library(args->language, cbx_json_str(item))) {
            return cbx_fail(err, CBX_EINVAL,
                            "library '%.*s' is not in the %.*s sandbox and nothing can be "
                            "installed; Python has numpy, pandas, matplotlib and "
                            "the standard library, JavaScript the modules of Node.js; leave "
                            "'libraries' out and use those",
                            CBX_STR_ARG(cbx_json_str(item)), CBX_STR_ARG(args->language));
        }
    }
    return 0;
}

static int read_arguments(const struct tool *tool, const json_t *object, struct arguments *out,
                          struct cbx_err *err)
{
    struct cbx_json_field fields[ARGUMENTS];
    size_t count = 0;
    CBX_AUTO_JSON none = json_object();
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (strcmp(arguments_table[i].tool, tool->name) == 0) {
            fields[count++] = arguments_table[i].field;
        }
    }
    int failed = cbx_json_read(object != NULL ? object : none, fields, count, out, err);
    for (size_t i = 0; i < ARGUMENTS && !failed; i++) {
        const struct argument *a = &arguments_table[i];
        if (a->chooses && strcmp(a->tool, tool->name) == 0) {
            failed =
                check_language(a, (struct cbx_str *)(void *)((char *)out + a->field.offset), err);
        }
    }
    if (!failed && tool->language != NULL) {
        out->language = cbx_str_of(tool->language);
    }
    return failed ? failed : check_libraries(out, err);
}

/* --- a call ----------------------------------------------------------------------------------- */

/* The client event sink of a run: collects the events until the client cancels. */
struct run {
    struct cbx_collected collected;
    const atomic_bool *cancelled;
};

static bool is_cancelled(void *context)
{
    const struct run *run = context;
    return run->cancelled != NULL && atomic_load(run->cancelled);
}

static int take_event(void *context, const struct cbx_event *event)
{
    struct run *run = context;
    struct cbx_sink sink = cbx_collected_sink(&run->collected);
    return is_cancelled(run) ? CBX_ESTATE : sink.event(sink.context, event);
}

/* SDKs end a request after 60 seconds by default, and the model then sees no result at all. */
static const double default_timeout_s = 50;

/* A notebook cell for Python: top-level await, the value of the last expression, and pictures come
 * with it. */
static struct cbx_request make_request(const struct arguments *args, const char *language,
                                       struct cbx_limits *limits)
{
    double timeout_s = args->timeout_s > 0 ? args->timeout_s : default_timeout_s;
    cbx_limits_unset(limits);
    limits->wall_ms = (int64_t)(timeout_s * 1000);
    return (struct cbx_request){
        .subject = { .action = CBX_ACTION_RUN,
                     .language = cbx_str_of(language),
                     .principal = CBX_STR("local"),
                     .session = CBX_STR(""),
                     .origin = CBX_STR("mcp"),
                     .limits = limits },
        .source = args->code,
    };
}

static const char *status_of(int failed)
{
    return failed == CBX_EINVAL || failed == CBX_ETOOBIG || failed == CBX_ENOTFOUND ? "invalid"
           : failed == CBX_EBUSY                                                    ? "busy"
                                                                                    : "failed";
}

static json_t *run_code(const struct cbx_tool_call *call, const struct arguments *args)
{
    struct run run = { .cancelled = call->cancelled };
    cbx_collected_init(&run.collected);
    struct cbx_sink sink = { .event = take_event, .cancelled = is_cancelled, .context = &run };
    CBX_AUTO_DONE(outcome) outcome = { 0 };
    struct cbx_err err = { 0 };
    const char *language = cbx_dialect_of(args->language, &err);
    if (language == NULL) {
        cbx_collected_done(&run.collected);
        return cbx_content_of_failure("invalid", NULL, err.text);
    }
    struct cbx_limits limits;
    struct cbx_request request = make_request(args, language, &limits);
    if (call->claims != NULL) {
        cbx_claims_lend(call->claims, &request.subject);
    }
    int failed = cbx_review(call->flow, &request, &sink, &outcome, &err);
    cbx_collected_finish(&run.collected);
    outcome.result.output_truncated |= run.collected.omitted > 0;
    outcome.result.files_truncated |= run.collected.incomplete;
    json_t *result =
        is_cancelled(&run) ? cbx_content_of_failure("killed", &outcome, "the call was cancelled")
        : failed
            ? cbx_content_of_failure(status_of(failed), &outcome,
                                     err.text[0] != '\0' ? err.text : "the output is too large")
        : outcome.verdict == CBX_ALLOW && outcome.ran
            ? cbx_content_of_run(&outcome, run.collected.items)
            : cbx_content_of_denial(&outcome);
    cbx_collected_done(&run.collected);
    return result;
}

static int fail_unknown(struct cbx_str name, struct cbx_err *err)
{
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < TOOLS && used < sizeof(known); i++) {
        int n =
            snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "", tools[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return cbx_fail(err, CBX_ENOTFOUND, "unknown tool '%.*s', there are: %s", CBX_STR_ARG(name),
                    known);
}

int cbx_tools_call(struct cbx_str name, const struct cbx_tool_call *call, json_t **result,
                   struct cbx_err *err)
{
    const struct tool *tool = NULL;
    for (size_t i = 0; i < TOOLS; i++) {
        tool = cbx_str_is(name, tools[i].name) ? &tools[i] : tool;
    }
    if (tool == NULL) {
        return fail_unknown(name, err);
    }
    struct arguments args = { 0 };
    struct cbx_err inner = { 0 };
    bool valid = read_arguments(tool, call->arguments, &args, &inner) == 0;
    *result = valid ? run_code(call, &args) : cbx_content_of_failure("invalid", NULL, inner.text);
    return 0;
}
