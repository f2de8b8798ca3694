/* SPDX-License-Identifier: MIT
 * Arguments of tools: their schema, and reading them. All mistakes are reported together,
 * because a model then corrects all of them at once. */
#include "gateway/front/dialect.h"
#include "gateway/front/mcp/tools/tools_internal.h"

#include "policies/base/text/printable.h"
#include "policies/packages.h"

#include <limits.h>

static const struct argument {
    const char *tool;
    struct cbx_json_field field;
    bool chooses;
    const char *help;
} arguments[] = {
#define CBX_TOOL(name, function, language, effect, title, description)
#define CBX_TOOL_ARGUMENT(tool, name, member, type, required, lo, hi, chooses, help)               \
    { tool,                                                                                        \
      { name, CBX_JSON_##type, offsetof(struct cbx_tool_arguments, member), required, true, lo,    \
        hi },                                                                                      \
      chooses,                                                                                     \
      help },
#include "gateway/front/mcp/tools/tools.def"
#undef CBX_TOOL
#undef CBX_TOOL_ARGUMENT
};
enum { ARGUMENTS = sizeof(arguments) / sizeof(arguments[0]) };

static bool is_of(const struct argument *a, const struct cbx_tool *tool)
{
    return strcmp(a->tool, tool->name) == 0;
}

/* --- the schema ------------------------------------------------------------------------------- */

/* Sets a bound, unless it is absent. */
static void set_bound(json_t *schema, const char *key, int64_t bound)
{
    if (bound > 0 && bound < INT_MAX) {
        json_object_set_new(schema, key, json_integer(bound));
    }
}

/* Lengths are in bytes, and a schema counts characters, which are not more. */
static void set_bounds(json_t *schema, const struct argument *a, const struct cbx_policy *policy)
{
    bool program = strcmp(a->field.name, "code") == 0 && policy != NULL;
    switch (a->field.type) {
    case CBX_JSON_STR:
        set_bound(schema, "minLength", a->field.min);
        set_bound(schema, "maxLength",
                  program ? (int64_t)policy->limits.source_bytes : a->field.max);
        break;
    case CBX_JSON_ARRAY:
        set_bound(schema, "maxItems", a->field.max);
        json_object_set_new(schema, "items",
                            json_pack("{s:s,s:i,s:i}", "type", "string", "minLength", 1,
                                      "maxLength", CBX_REQUIREMENT_BYTES_MAX));
        break;
    default:
        json_object_set_new(schema, "minimum", json_integer(a->field.min));
        set_bound(schema, "maximum", a->field.max);
        break;
    }
}

static json_t *describe(const struct argument *a, const struct cbx_policy *policy)
{
    static const char *const types[] = { [CBX_JSON_STR] = "string",
                                         [CBX_JSON_INT] = "integer",
                                         [CBX_JSON_NUMBER] = "number",
                                         [CBX_JSON_ARRAY] = "array" };
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
    set_bounds(schema, a, policy);
    return schema;
}

json_t *cbx_tool_schema(const struct cbx_tool *tool, const struct cbx_policy *policy)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < ARGUMENTS; i++) {
        const struct argument *a = &arguments[i];
        if (!is_of(a, tool) || a->help == NULL) {
            continue;
        }
        json_object_set_new(properties, a->field.name, describe(a, policy));
        if (a->field.required) {
            json_array_append_new(required, json_string(a->field.name));
        }
    }
    json_t *schema = json_pack("{s:s,s:o}", "type", "object", "properties", properties);
    if (json_array_size(required) > 0) {
        json_object_set(schema, "required", required);
    }
    json_decref(required);
    json_object_set_new(schema, "additionalProperties", json_false());
    return schema;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void add_error(struct cbx_buf *errors, const char *text)
{
    cbx_buf_printf(errors, "%s%s", errors->len > 0 ? "\n" : "", text);
}

static const struct argument *find(const struct cbx_tool *tool, const char *name)
{
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (is_of(&arguments[i], tool) && strcmp(arguments[i].field.name, name) == 0) {
            return &arguments[i];
        }
    }
    return NULL;
}

static void refuse_unknown(const struct cbx_tool *tool, const char *name, struct cbx_buf *errors)
{
    struct cbx_json_field fields[ARGUMENTS];
    struct cbx_tool_arguments none;
    struct cbx_err err = { 0 };
    size_t count = 0;
    CBX_AUTO_JSON one = json_pack("{s:n}", name);
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (is_of(&arguments[i], tool) && arguments[i].help != NULL) {
            fields[count] = arguments[i].field;
            fields[count++].required = false;
        }
    }
    cbx_json_read(one, fields, count, &none, &err);
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 4096);
    cbx_printable_add(&text, cbx_str_of(err.text), CBX_PRINTABLE_LINE);
    add_error(errors, text.p);
}

/* Returns another name by which the call gives the same argument; NULL if there is none. */
static const char *given_twice(const struct cbx_tool *tool, const struct argument *a,
                               const json_t *object)
{
    for (const struct argument *other = arguments; other < a; other++) {
        const json_t *value = json_object_get(object, other->field.name);
        if (is_of(other, tool) && other->field.offset == a->field.offset && value != NULL &&
            !json_is_null(value)) {
            return other->field.name;
        }
    }
    return NULL;
}

/* An absent language is the default one. */
static int read_language(const struct argument *a, struct cbx_tool_arguments *out,
                         struct cbx_err *err)
{
    struct cbx_str *value = (struct cbx_str *)(void *)((char *)out + a->field.offset);
    const char *language = cbx_dialect_of(*value, err);
    if (language == NULL) {
        return CBX_EINVAL;
    }
    *value = cbx_str_of(cbx_dialect_shown(language));
    return 0;
}

static void read_one(const struct cbx_tool *tool, const struct argument *a, const json_t *object,
                     struct cbx_tool_arguments *out, struct cbx_buf *errors)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON one = json_object();
    json_t *value = json_object_get(object, a->field.name);
    const char *other = value != NULL && !json_is_null(value) ? given_twice(tool, a, object) : NULL;
    if (other != NULL) {
        cbx_buf_printf(errors, "%sboth '%s' and '%s' are given, and mean the same; give one",
                       errors->len > 0 ? "\n" : "", other, a->field.name);
        return;
    }
    if (value != NULL) {
        json_object_set(one, a->field.name, value);
    }
    int failed = cbx_json_read(one, &a->field, 1, out, &err);
    if (!failed && a->chooses) {
        failed = read_language(a, out, &err);
    }
    if (failed) {
        add_error(errors, err.text);
    }
}

bool cbx_tool_read(const struct cbx_tool *tool, const json_t *object,
                   struct cbx_tool_arguments *out, struct cbx_buf *errors)
{
    const char *name;
    json_t *value;
    bool languages = false;
    CBX_AUTO_JSON none = json_object();
    object = object != NULL ? object : none;
    *out = (struct cbx_tool_arguments){ 0 };
    for (size_t i = 0; i < ARGUMENTS; i++) {
        if (is_of(&arguments[i], tool)) {
            read_one(tool, &arguments[i], object, out, errors);
            languages |= arguments[i].chooses;
        }
    }
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        if (find(tool, name) == NULL) {
            refuse_unknown(tool, name, errors);
        }
    }
    if (!languages && tool->language != NULL) {
        out->language = cbx_str_of(tool->language);
    }
    return errors->len == 0;
}
