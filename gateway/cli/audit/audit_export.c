/* SPDX-License-Identifier: MIT
 * Exports of audit records. */
#include "gateway/cli/audit/audit_export.h"

#include "gateway/executor/audit/audit_chain.h"
#include "policies/base/text/printable.h"
#include "policies/release.h"

#include <stddef.h>
#include <string.h>

struct class
{
    const char *type, *verdict, *title, *ecs_kind, *ecs_category, *ecs_type, *ecs_outcome;
    int ocsf_class, ocsf_activity, severity, ocsf_action, ocsf_disposition;
};
static const struct class classes[] = {
#define CBX_AUDIT_CLASS(...) { __VA_ARGS__ },
#include "gateway/cli/audit/audit_classes.def"
#undef CBX_AUDIT_CLASS
};

enum format { ECS, OCSF, OCSF_2004, OCSF_6003, CEF };
enum kind {
    CONSTANT,
    CONSTANT_LIST,
    NUMBER_CONSTANT,
    TRUE,
    RECORD,
    TEXT,
    NUMBER,
    LIST,
    TIME_MS,
    NS,
    RULE,
    RULES,
    CLASS,
    CLASS_LIST,
    CLASS_NUMBER
};
static const struct field {
    enum format format;
    const char *target;
    enum kind kind;
    const char *source;
} fields[] = {
#define CBX_AUDIT_FIELD(format, target, kind, source) { format, target, kind, source },
#include "gateway/cli/audit/audit_mapping.def"
#undef CBX_AUDIT_FIELD
};
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct class *class_of(const json_t *record)
{
    struct cbx_str type = cbx_json_str(json_object_get(record, "type"));
    struct cbx_str verdict =
        cbx_json_str(json_object_get(json_object_get(record, "body"), "verdict"));
    for (size_t i = 0; i + 1 < COUNT(classes); i++) {
        const struct class *c = &classes[i];
        if ((c->type[0] == '\0' || cbx_str_is(type, c->type)) &&
            (c->verdict[0] == '\0' || cbx_str_is(verdict, c->verdict))) {
            return c;
        }
    }
    return &classes[COUNT(classes) - 1];
}

struct cbx_str cbx_audit_rule(const json_t *body)
{
    const json_t *finding;
    size_t i;
    json_array_foreach(json_object_get(body, "findings"), i, finding)
    {
        struct cbx_str effect = cbx_json_str(json_object_get(finding, "effect"));
        if (cbx_str_is(effect, "deny") || cbx_str_is(effect, "ask")) {
            return cbx_json_str(json_object_get(finding, "rule"));
        }
    }
    return cbx_json_str(json_object_get(body, "rule"));
}

static json_t *rules_of(const json_t *body)
{
    json_t *rules = json_array();
    const json_t *finding;
    size_t i;
    json_array_foreach(json_object_get(body, "findings"), i, finding)
    {
        json_array_append(rules, json_object_get(finding, "rule"));
    }
    return rules;
}

/* Returns the caption of the activity's number in its class (OCSF 1.4.0). */
static const char *activity_name(const struct class *c)
{
    static const char *const names[] = { "Unknown", "Create", "Read", "Update", "Delete" };
    const size_t count = sizeof(names) / sizeof(names[0]);
    return (size_t)c->ocsf_activity < count ? names[c->ocsf_activity] : "Other";
}

static const char *class_text(const struct class *c, const char *member)
{
    const struct {
        const char *name, *text;
    } members[] = { { "title", c->title },
                    { "ecs_kind", c->ecs_kind },
                    { "ecs_category", c->ecs_category },
                    { "ecs_type", c->ecs_type },
                    { "ecs_outcome", c->ecs_outcome },
                    { "ocsf_activity_name", activity_name(c) } };
    size_t i = 0;
    while (strcmp(members[i].name, member) != 0) {
        i++;
    }
    return members[i].text;
}

static int class_number(const struct class *c, const char *member)
{
    const struct {
        const char *name;
        int number;
    } members[] = { { "severity", c->severity },
                    { "ocsf_class", c->ocsf_class },
                    { "ocsf_category", c->ocsf_class / 1000 },
                    { "ocsf_activity", c->ocsf_activity },
                    { "ocsf_type", c->ocsf_class * 100 + c->ocsf_activity },
                    { "ocsf_action", c->ocsf_action },
                    { "ocsf_disposition", c->ocsf_disposition } };
    size_t i = 0;
    while (strcmp(members[i].name, member) != 0) {
        i++;
    }
    return members[i].number;
}

static json_t *list_of(json_t *value)
{
    json_t *list = json_array();
    json_array_append_new(list, value);
    return list;
}

static json_t *time_of(const json_t *record)
{
    int64_t ms;
    return cbx_chain_time(cbx_json_str(json_object_get(record, "time")), &ms) ? json_integer(ms)
                                                                              : NULL;
}

static json_t *text_of(const json_t *value)
{
    return json_string_length(value) > 0 ? json_incref((json_t *)(uintptr_t)value) : NULL;
}

/* Returns the value that a member of the body gives; NULL if the body has no such member. */
static json_t *body_value(enum kind kind, const json_t *body, const char *source)
{
    const json_t *value = json_object_get(body, source);
    json_t *text = text_of(value), *out = NULL;
    switch (kind) {
    case TEXT:
        return text;
    case LIST:
        return text != NULL ? list_of(text) : NULL;
    case NUMBER:
        out = json_is_integer(value) ? json_integer(json_integer_value(value)) : NULL;
        break;
    case NS:
        out = json_is_integer(value) ? json_integer(json_integer_value(value) * 1000000) : NULL;
        break;
    default:
        break;
    }
    json_decref(text);
    return out;
}

/* Returns the value of a field (new reference); NULL if the record has none. */
static json_t *value_of(const struct field *field, const json_t *record, const struct class *c)
{
    const json_t *body = json_object_get(record, "body");
    struct cbx_str rule;
    switch (field->kind) {
    case CONSTANT:
        return json_string(field->source);
    case CONSTANT_LIST:
        return list_of(json_string(field->source));
    case NUMBER_CONSTANT:
        return json_integer(strtol(field->source, NULL, 10));
    case TRUE:
        return json_true();
    case RECORD:
        return json_incref(json_object_get(record, field->source));
    case TIME_MS:
        return time_of(record);
    case RULE:
        rule = cbx_audit_rule(body);
        return rule.len > 0 ? cbx_json_text(rule) : NULL;
    case RULES:
        return json_array_size(json_object_get(body, "findings")) > 0 ? rules_of(body) : NULL;
    case CLASS:
        return json_string(class_text(c, field->source));
    case CLASS_LIST:
        return list_of(json_string(class_text(c, field->source)));
    case CLASS_NUMBER:
        return json_integer(class_number(c, field->source));
    default:
        return body_value(field->kind, body, field->source);
    }
}

/* Sets a member by its path, unless an earlier row set it. Takes the value. */
static void set_path(json_t *object, const char *path, json_t *value)
{
    char part[64];
    for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        snprintf(part, sizeof(part), "%.*s", (int)(dot - path), path);
        if (json_object_get(object, part) == NULL) {
            json_object_set_new(object, part, json_object());
        }
        object = json_object_get(object, part);
    }
    if (json_object_get(object, path) == NULL) {
        json_object_set_new(object, path, value);
    } else {
        json_decref(value);
    }
}

static json_t *map(enum format format, enum format more, const json_t *record,
                   const struct class *c)
{
    json_t *out = json_object();
    for (size_t i = 0; i < COUNT(fields); i++) {
        json_t *value = fields[i].format == format || fields[i].format == more
                            ? value_of(&fields[i], record, c)
                            : NULL;
        if (value != NULL) {
            set_path(out, fields[i].target, value);
        }
    }
    return out;
}

/* --- CEF -------------------------------------------------------------------------------------- */

/* The header escapes '|' and '\', a value escapes '=', '\' and line ends. CEF has no escape for
 * other control characters there; they are written as \xNN. */
static void add_escaped(struct cbx_buf *out, struct cbx_str text, const char *special)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, CBX_PRINTABLE_GROWTH * text.len + 1);
    cbx_printable_add(&clean, text, CBX_PRINTABLE_LINES);
    for (size_t i = 0; i < clean.len; i++) {
        char c = clean.p[i];
        if (c == '\n') {
            cbx_buf_add_cstr(out, special[0] == '=' ? "\\n" : " ");
            continue;
        }
        if (c == '\\' || strchr(special, c) != NULL) {
            cbx_buf_add_char(out, '\\');
        }
        cbx_buf_add_char(out, c == '\t' ? ' ' : c);
    }
}

/* A label is left out if its value is missing. */
static bool is_label_of_nothing(const char *key, const json_t *values)
{
    size_t len = strlen(key);
    char name[16];
    if (len < 6 || strcmp(key + len - 5, "Label") != 0) {
        return false;
    }
    snprintf(name, sizeof(name), "%.*s", (int)(len - 5), key);
    return json_object_get(values, name) == NULL;
}

static void add_cef(const json_t *record, const struct class *c, struct cbx_buf *out)
{
    CBX_AUTO_JSON values = map(CEF, CEF, record, c);
    const char *key, *space = "";
    json_t *value;
    cbx_buf_add_cstr(out, "CEF:0|codebox|codebox|" CBX_VERSION "|");
    add_escaped(out, cbx_json_str(json_object_get(record, "type")), "|");
    cbx_buf_printf(out, "|%s|%d|", c->title, 2 * c->severity);
    json_object_foreach(values, key, value)
    {
        if (is_label_of_nothing(key, values)) {
            continue;
        }
        cbx_buf_printf(out, "%s%s=", space, key);
        if (json_is_integer(value)) {
            cbx_buf_printf(out, "%lld", (long long)json_integer_value(value));
        } else {
            add_escaped(out, cbx_json_str(value), "=");
        }
        space = " ";
    }
}

int cbx_audit_export(const char *format, const json_t *record, struct cbx_buf *out)
{
    const struct class *c = class_of(record);
    if (strcmp(format, "cef") == 0) {
        add_cef(record, c, out);
    } else {
        CBX_AUTO_JSON mapped = NULL;
        if (strcmp(format, "ecs") == 0) {
            mapped = map(ECS, ECS, record, c);
        } else {
            mapped = map(OCSF, c->ocsf_class == 2004 ? OCSF_2004 : OCSF_6003, record, c);
        }
        cbx_json_write(out, mapped);
    }
    return cbx_buf_add_char(out, '\n');
}
