/* SPDX-License-Identifier: MIT
 * jansson with limits. */
#include "policies/base/text/json.h"

#include "policies/base/text/printable.h"

/* jansson caps its recursion at 2,048, which needs more stack than a small thread has: count
 * brackets outside strings before jansson parses the text. */
static int check_depth(struct cbx_str text, struct cbx_err *err)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > CBX_JSON_DEPTH_MAX) {
                return cbx_fail(err, CBX_ETOOBIG, "JSON is nested deeper than %d",
                                CBX_JSON_DEPTH_MAX);
            }
        } else if (c == ']' || c == '}') {
            depth--;
        }
    }
    return 0;
}

int cbx_json_parse(struct cbx_str text, size_t max_bytes, json_t **out, struct cbx_err *err)
{
    if (text.len > max_bytes) {
        return cbx_fail(err, CBX_ETOOBIG, "JSON of %zu bytes, allowed are %zu", text.len,
                        max_bytes);
    }
    if (text.len > 0 &&
        memchr(text.p, '\0', text.len) != NULL) { /* jansson ignores a NUL after a number */
        return cbx_fail(err, CBX_EINVAL, "not valid JSON: a NUL byte");
    }
    int failed = check_depth(text, err);
    if (failed) {
        return failed;
    }
    json_error_t problem;
    json_t *value = json_loadb(text.p != NULL ? text.p : "", text.len,
                               JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &problem);
    if (value == NULL) {
        return cbx_fail_at(err, CBX_EINVAL, problem.line > 0 ? (uint32_t)problem.line : 0,
                           problem.column > 0 ? (uint32_t)problem.column : 0, "not valid JSON: %s",
                           problem.text);
    }
    *out = value;
    return 0;
}

static int append(const char *bytes, size_t len, void *buf)
{
    return cbx_buf_add_bytes(buf, bytes, len) == 0 ? 0 : -1;
}

int cbx_json_write(struct cbx_buf *buf, const json_t *value)
{
    int failed =
        json_dump_callback(value, append, buf, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    return failed ? CBX_ETOOBIG : 0;
}

int cbx_json_write_as_is(struct cbx_buf *buf, const json_t *value)
{
    int failed = json_dump_callback(value, append, buf, JSON_COMPACT | JSON_ENCODE_ANY);
    return failed ? CBX_ETOOBIG : 0;
}

json_t *cbx_json_text(struct cbx_str bytes)
{
    if (cbx_str_is_utf8(bytes, NULL)) {
        return json_stringn(bytes.p != NULL ? bytes.p : "", bytes.len);
    }
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, bytes.len * CBX_PRINTABLE_GROWTH);
    cbx_printable_add(&clean, bytes, CBX_PRINTABLE_UTF8);
    return json_stringn(clean.p, clean.len);
}

json_t *cbx_json_lines(const char *text)
{
    json_t *lines = json_array();
    for (const char *at = text; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        json_array_append_new(lines, cbx_json_text((struct cbx_str){ .p = at, .len = len }));
        at += len + (at[len] == '\n');
    }
    return lines;
}

struct cbx_str cbx_json_str(const json_t *value)
{
    return (struct cbx_str){ .p = json_string_value(value), .len = json_string_length(value) };
}

static const char *const type_names[] = {
    [CBX_JSON_STR] = "a string",     [CBX_JSON_BOOL] = "true or false",
    [CBX_JSON_INT] = "an integer",   [CBX_JSON_NUMBER] = "a number",
    [CBX_JSON_OBJECT] = "an object", [CBX_JSON_ARRAY] = "an array",
    [CBX_JSON_ANY] = "a value",
};

static const char *found_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_NULL:
        return "null";
    default:
        return "a boolean";
    }
}

static bool has_type(const json_t *value, enum cbx_json_type type)
{
    switch (type) {
    case CBX_JSON_STR:
        return json_is_string(value);
    case CBX_JSON_BOOL:
        return json_is_boolean(value);
    case CBX_JSON_INT:
        return json_is_integer(value);
    case CBX_JSON_NUMBER:
        return json_is_number(value);
    case CBX_JSON_OBJECT:
        return json_is_object(value);
    case CBX_JSON_ARRAY:
        return json_is_array(value);
    default:
        return true;
    }
}

static int check_bounds(const struct cbx_json_field *field, const json_t *value,
                        struct cbx_err *err)
{
    if (field->min == 0 && field->max == 0) {
        return 0;
    }
    double measure;
    const char *what;
    if (json_is_number(value)) {
        measure = json_number_value(value);
        what = "";
    } else if (json_is_string(value)) {
        measure = (double)json_string_length(value);
        what = " bytes";
    } else {
        measure = (double)json_array_size(value);
        what = " items";
    }
    if (!(measure >= (double)field->min && measure <= (double)field->max)) {
        return cbx_fail(err, json_is_string(value) ? CBX_ETOOBIG : CBX_EINVAL,
                        "field '%s' is %.15g%s, allowed %lld..%lld", field->name, measure, what,
                        (long long)field->min, (long long)field->max);
    }
    return 0;
}

static int bind_field(const struct cbx_json_field *field, const json_t *value, void *into,
                      struct cbx_err *err)
{
    if (!has_type(value, field->type)) {
        return cbx_fail(err, CBX_EINVAL, "field '%s' is %s, allowed is %s", field->name,
                        found_name(value), type_names[field->type]);
    }
    int failed = check_bounds(field, value, err);
    if (failed) {
        return failed;
    }
    char *member = (char *)into + field->offset;
    switch (field->type) {
    case CBX_JSON_STR:
        *(struct cbx_str *)(void *)member = cbx_json_str(value);
        return 0;
    case CBX_JSON_BOOL:
        *(bool *)(void *)member = json_is_true(value);
        return 0;
    case CBX_JSON_INT:
        *(int64_t *)(void *)member = json_integer_value(value);
        return 0;
    case CBX_JSON_NUMBER:
        *(double *)(void *)member = json_number_value(value);
        return 0;
    default:
        *(const json_t **)(void *)member = value;
        return 0;
    }
}

static int fail_unknown(struct cbx_str key, const struct cbx_json_field *fields, size_t count,
                        struct cbx_err *err)
{
    const char *nearest = NULL;
    size_t best = 3;
    for (size_t i = 0; i < count; i++) {
        size_t distance = cbx_str_distance(key, cbx_str_of(fields[i].name), 2);
        if (distance < best) {
            best = distance;
            nearest = fields[i].name;
        }
    }
    if (nearest != NULL) {
        return cbx_fail(err, CBX_EINVAL, "unknown field '%.*s', did you mean '%s'",
                        CBX_STR_SHOWN(key), nearest);
    }
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof(known); i++) {
        int n =
            snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "", fields[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return cbx_fail(err, CBX_EINVAL, "unknown field '%.*s', allowed are: %s", CBX_STR_SHOWN(key),
                    known);
}

int cbx_json_read(const json_t *object, const struct cbx_json_field *fields, size_t count,
                  void *into, struct cbx_err *err)
{
    if (!json_is_object(object)) {
        return cbx_fail(err, CBX_EINVAL, "found %s, allowed is an object",
                        object != NULL ? found_name(object) : "nothing");
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (i < count && !cbx_str_is(cbx_str_of(key), fields[i].name)) {
            i++;
        }
        if (i == count) {
            return fail_unknown(cbx_str_of(key), fields, count, err);
        }
    }
    for (size_t i = 0; i < count; i++) {
        value = json_object_get(object, fields[i].name);
        if (value == NULL || (json_is_null(value) && fields[i].nullable)) {
            if (fields[i].required) {
                return cbx_fail(err, CBX_EINVAL, "field '%s' is missing, required is %s",
                                fields[i].name, type_names[fields[i].type]);
            }
            continue;
        }
        int failed = bind_field(&fields[i], value, into, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}
