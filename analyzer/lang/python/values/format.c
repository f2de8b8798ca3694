/* SPDX-License-Identifier: MIT
 * Format strings of Python: `%`, and the fields of str.format. */
#include "analyzer/lang/python/internal.h"

#include <stdlib.h>

/* Returns true for a text that repr() only puts in quotes. */
static bool is_plain(struct cbx_str text)
{
    bool plain = text.len < 4096;
    for (size_t i = 0; plain && i < text.len; i++) {
        char c = text.p[i];
        plain = c >= ' ' && c < 0x7f && c != '\'' && c != '\\';
    }
    return plain;
}

/* Evaluates '%s%c%r' % (...) of constants. */
const struct cbx_values *cbx_py_percent(struct cbx_walk *py, struct cbx_str format,
                                        const struct cbx_values *right)
{
    struct cbx_str out = CBX_STR(""), part = { 0 };
    uint32_t used = 0;
    int64_t number;
    uint32_t gaps = 0;
    const struct cbx_value *list = cbx_values_container(right, CBX_V_LIST);
    for (size_t at = 0; at < format.len;) {
        const char *percent = memchr(format.p + at, '%', format.len - at);
        size_t end = percent != NULL ? (size_t)(percent - format.p) : format.len;
        out = cbx_fold_concat(py->arena, out, cbx_str_sub(format, at, end));
        if (percent == NULL) {
            break;
        }
        char kind = end + 1 < format.len ? format.p[end + 1] : 0;
        at = end + 2;
        if (kind == '%') {
            out = cbx_fold_concat(py->arena, out, CBX_STR("%"));
            continue;
        }
        const struct cbx_values *argument = list == NULL         ? right
                                            : used < list->count ? list->members[used]
                                                                 : &cbx_values_unknown;
        bool character = kind == 'c' && cbx_values_is_number(argument, &number);
        if (kind == 'r' && cbx_values_is_text(argument, &part) && is_plain(part)) {
            part = CBX_JOIN(py->arena, CBX_STR("'"), part, CBX_STR("'"));
        } else if (character) {
            part = cbx_fold_codepoint(py->arena, number);
        } else if (kind == 's' || kind == 'd' || kind == 'c') {
            part = cbx_values_piece(argument, &gaps);
        } else {
            return &cbx_values_unknown;
        }
        used++;
        out = cbx_fold_concat(py->arena, out, part);
    }
    return cbx_values_built(py->arena, out, gaps);
}

/* One field of a format string, "{0.name[key]!s:spec}" without the braces. */
struct field {
    struct cbx_str first, path, spec;
};

static struct field split_field(struct cbx_str text)
{
    size_t end = 0;
    while (end < text.len && text.p[end] != '!' && text.p[end] != ':') {
        end++;
    }
    struct cbx_str name = cbx_str_sub(text, 0, end);
    size_t first = 0;
    while (first < name.len && name.p[first] != '.' && name.p[first] != '[') {
        first++;
    }
    return (struct field){ .first = cbx_str_sub(name, 0, first),
                           .path = cbx_str_sub(name, first, name.len),
                           .spec = cbx_str_sub(text, end, text.len) };
}

/* Reads the next field from `*at` on; returns false if there is none. *before: the text up to
 * it. */
static bool next_field(struct cbx_str format, size_t *at, struct cbx_str *before,
                       struct field *field)
{
    size_t from = *at;
    for (size_t i = from; i < format.len; i++) {
        char c = format.p[i];
        bool twice = i + 1 < format.len && format.p[i + 1] == c;
        if ((c == '{' || c == '}') && twice) {
            *before = cbx_str_sub(format, from, i + 1);
            *at = i + 2;
            *field = (struct field){ 0 };
            return true;
        }
        const char *close = c == '{' ? memchr(format.p + i, '}', format.len - i) : NULL;
        if (c == '{' && close != NULL) {
            *before = cbx_str_sub(format, from, i);
            *field = split_field(cbx_str_sub(format, i + 1, (size_t)(close - format.p)));
            field->first.p = field->first.p != NULL ? field->first.p : "";
            *at = (size_t)(close - format.p) + 1;
            return true;
        }
    }
    *before = cbx_str_sub(format, from, format.len);
    *at = format.len;
    return false;
}

static const struct cbx_values *field_value(struct cbx_walk *py, const struct field *field,
                                            struct cbx_actuals *actuals, uint32_t *automatic)
{
    const char *name = cbx_arena_copy(py->arena, field->first).p;
    if (name == NULL || strlen(name) != field->first.len) {
        return &cbx_values_unknown;
    }
    bool digits = strspn(name, "0123456789") == strlen(name);
    uint32_t position = name[0] == '\0' ? (*automatic)++
                        : digits        ? (uint32_t)strtoul(name, NULL, 10)
                                        : UINT32_MAX;
    return cbx_actual_values(py, actuals, position, digits ? NULL : name);
}

/* Reads ".name[key]" of a value. */
static const struct cbx_values *walk_path(struct cbx_walk *py, const struct cbx_values *value,
                                          struct cbx_str path, struct cbx_str *last)
{
    while (path.len > 1) {
        size_t end = 1;
        while (end < path.len && path.p[end] != '.' && path.p[end] != '[') {
            end++;
        }
        struct cbx_str key = cbx_str_sub(path, 1, end);
        bool item = path.p[0] == '[';
        key.len -= item && key.len > 0 && key.p[key.len - 1] == ']';
        value = item ? cbx_py_item(py, value, cbx_values_text(py->arena, key), py->module)
                     : cbx_py_read(py, value, key);
        *last = key;
        path = cbx_str_sub(path, end, path.len);
    }
    return value;
}

void cbx_py_format_fields(struct cbx_walk *py, struct cbx_str format, struct cbx_actuals *actuals,
                          void (*found)(struct cbx_walk *py, const struct cbx_values *values,
                                        struct cbx_str name, void *context),
                          void *context)
{
    struct cbx_str before, last = CBX_STR("");
    struct field field;
    uint32_t automatic = 0;
    for (size_t at = 0; next_field(format, &at, &before, &field);) {
        if (field.first.p != NULL) {
            const struct cbx_values *value = field_value(py, &field, actuals, &automatic);
            if (field.path.len > 0) {
                found(py, walk_path(py, value, field.path, &last), last, context);
            }
        }
    }
}

static const struct cbx_values *format_braces(struct cbx_walk *py, struct cbx_str format,
                                              struct cbx_actuals *actuals)
{
    struct cbx_str out = CBX_STR(""), before, part, last;
    struct field field;
    uint32_t automatic = 0;
    int64_t number;
    uint32_t gaps = 0;
    bool more = true;
    for (size_t at = 0; more && out.p != NULL;) {
        more = next_field(format, &at, &before, &field);
        out = cbx_fold_concat(py->arena, out, before);
        if (!more || field.first.p == NULL) {
            continue;
        }
        const struct cbx_values *value =
            walk_path(py, field_value(py, &field, actuals, &automatic), field.path, &last);
        bool character = cbx_str_is(field.spec, ":c") && cbx_values_is_number(value, &number);
        bool plain = field.spec.len == 0 || cbx_str_is(field.spec, "!s") ||
                     cbx_str_is(field.spec, ":s") || cbx_str_is(field.spec, ":d");
        part = character ? cbx_fold_codepoint(py->arena, number)
                         : cbx_values_piece(plain ? value : &cbx_values_unknown, &gaps);
        out = cbx_fold_concat(py->arena, out, part);
    }
    return cbx_values_built(py->arena, out, gaps);
}

const struct cbx_values *cbx_py_format(struct cbx_walk *py, struct cbx_str format,
                                       struct cbx_actuals *actuals)
{
    const struct cbx_values *out = format_braces(py, format, actuals);
    uint32_t flags = cbx_py_unknown_secrets(actuals);
    return flags != 0 ? cbx_values_join(py->arena, out, cbx_values_marked(py->arena, flags)) : out;
}
