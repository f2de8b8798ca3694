/* SPDX-License-Identifier: MIT
 * One member in the text of a JSON file. */
#include "gateway/cli/json_splice.h"

enum { INDENT_MAX = 256 };

/* --- writing ---------------------------------------------------------------------------------- */

static void add_line(struct cbx_str indent, struct cbx_buf *out)
{
    cbx_buf_add_char(out, '\n');
    cbx_buf_add(out, indent);
}

static void add_string(const char *text, struct cbx_buf *out)
{
    CBX_AUTO_JSON value = json_string(text);
    cbx_json_write(out, value);
}

/* "name": value */
static void add_member(const char *name, const json_t *value, struct cbx_str indent,
                       struct cbx_str unit, struct cbx_buf *out)
{
    add_string(name, out);
    cbx_buf_add_cstr(out, ": ");
    cbx_json_pretty(value, indent, unit, out);
}

void cbx_json_pretty(const json_t *value, struct cbx_str indent, struct cbx_str unit,
                     struct cbx_buf *out)
{
    bool object = json_is_object(value);
    if ((!object && !json_is_array(value)) ||
        json_object_size(value) + json_array_size(value) == 0) {
        cbx_json_write(out, value);
        return;
    }
    CBX_AUTO_DONE(buf) inner;
    cbx_buf_init(&inner, INDENT_MAX);
    cbx_buf_add(&inner, indent);
    cbx_buf_add(&inner, unit);
    cbx_buf_add_char(out, object ? '{' : '[');
    const char *key, *separator = "";
    json_t *item;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        cbx_buf_add_cstr(out, separator);
        separator = ",";
        add_line(cbx_buf_str(&inner), out);
        add_member(key, item, cbx_buf_str(&inner), unit, out);
    }
    json_array_foreach(value, i, item)
    {
        cbx_buf_add_cstr(out, separator);
        separator = ",";
        add_line(cbx_buf_str(&inner), out);
        cbx_json_pretty(item, cbx_buf_str(&inner), unit, out);
    }
    add_line(indent, out);
    cbx_buf_add_char(out, object ? '}' : ']');
}

/* --- finding, in text that is known to be well-formed ----------------------------------------- */

static size_t skip_space(struct cbx_str text, size_t at)
{
    while (at < text.len && memchr(" \t\r\n", text.p[at], 4) != NULL) {
        at++;
    }
    return at;
}

static size_t skip_string(struct cbx_str text, size_t at)
{
    for (at++; at < text.len && text.p[at] != '"'; at++) {
        at += text.p[at] == '\\';
    }
    return at + 1;
}

static size_t skip_value(struct cbx_str text, size_t at)
{
    int depth = 0;
    do {
        char c = at < text.len ? text.p[at] : '}';
        if (c == '"') {
            at = skip_string(text, at);
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            at++;
        }
        if (depth == 0 && (c == '"' || c == '}' || c == ']')) {
            return at;
        }
    } while (depth > 0 || (at < text.len && memchr(",}] \t\r\n", text.p[at], 7) == NULL));
    return at;
}

static bool key_is(struct cbx_str quoted, const char *name)
{
    CBX_AUTO_JSON key = json_loadb(quoted.p, quoted.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    return cbx_str_is(cbx_json_str(key), name);
}

struct span {
    size_t from, to;
};

/* An object of the text, and one of its members. */
struct object {
    struct span all;   /* from brace to brace */
    size_t first_key;  /* 0 = it has no members */
    size_t last_end;   /* of the last value */
    bool found;        /* the member is there */
    size_t key;        /* of the member */
    struct span value; /* of the member */
};

static struct object read_object(struct cbx_str text, size_t open, const char *member)
{
    struct object o = { .all = { .from = open } };
    size_t at = skip_space(text, open + 1);
    while (at < text.len && text.p[at] == '"') {
        size_t key = at, key_end = skip_string(text, at);
        size_t value = skip_space(text, skip_space(text, key_end) + 1);
        size_t value_end = skip_value(text, value);
        if (key_is(cbx_str_sub(text, key, key_end), member)) {
            o.found = true;
            o.key = key;
            o.value = (struct span){ value, value_end };
        }
        o.first_key = o.first_key > 0 ? o.first_key : key;
        o.last_end = value_end;
        at = skip_space(text, value_end);
        at = at < text.len && text.p[at] == ',' ? skip_space(text, at + 1) : at;
    }
    o.all.to = at + 1;
    return o;
}

/* --- the edit --------------------------------------------------------------------------------- */

/* What is put in the place of a span. */
struct edit {
    struct span where;
    struct cbx_buf with;
};

/* The white space that the line of a byte begins with. */
static struct cbx_str indent_of(struct cbx_str text, size_t at)
{
    size_t from = at;
    while (from > 0 && text.p[from - 1] != '\n') {
        from--;
    }
    size_t to = from;
    while (to < at && (text.p[to] == ' ' || text.p[to] == '\t')) {
        to++;
    }
    return cbx_str_sub(text, from, to);
}

/* Members stand on lines of their own. */
static bool has_lines(struct cbx_str text, const struct object *o)
{
    size_t from = o->all.from, to = o->first_key > 0 ? o->first_key : o->all.to;
    return memchr(text.p + from, '\n', to - from) != NULL;
}

static void add_to_object(struct cbx_str text, const struct object *o, struct cbx_str unit,
                          const char *name, const json_t *value, struct edit *edit)
{
    struct cbx_buf *with = &edit->with;
    if (o->first_key == 0) {
        CBX_AUTO_JSON whole = json_pack("{s:O}", name, value);
        edit->where = o->all;
        cbx_json_pretty(whole, indent_of(text, o->all.from), unit, with);
        return;
    }
    edit->where = (struct span){ o->last_end, o->last_end };
    if (has_lines(text, o)) {
        struct cbx_str indent = indent_of(text, o->first_key);
        cbx_buf_add_char(with, ',');
        add_line(indent, with);
        add_member(name, value, indent, unit, with);
    } else {
        cbx_buf_add_cstr(with, ", ");
        add_string(name, with);
        cbx_buf_add_cstr(with, ": ");
        cbx_json_write(with, value);
    }
}

static void replace_member(struct cbx_str text, const struct object *o, struct cbx_str unit,
                           const json_t *value, struct edit *edit)
{
    edit->where = o->value;
    if (has_lines(text, o)) {
        cbx_json_pretty(value, indent_of(text, o->key), unit, &edit->with);
    } else {
        cbx_json_write(&edit->with, value);
    }
}

static void plan(struct cbx_str text, const char *section, const char *name, const json_t *value,
                 struct edit *edit)
{
    struct object root = read_object(text, skip_space(text, 0), section);
    struct cbx_str unit = root.first_key > 0 && has_lines(text, &root)
                              ? indent_of(text, root.first_key)
                              : CBX_STR("");
    unit = unit.len > 0 && unit.len <= 8 ? unit : CBX_STR("  ");
    if (!root.found) {
        CBX_AUTO_JSON whole = json_pack("{s:O}", name, value);
        add_to_object(text, &root, unit, section, whole, edit);
        return;
    }
    struct object inner = read_object(text, root.value.from, name);
    if (inner.found) {
        replace_member(text, &inner, unit, value, edit);
    } else {
        add_to_object(text, &inner, unit, name, value, edit);
    }
}

/* Appends the part, with CRLF in the place of each LF when the text has those. */
static void add_with_line_ends(struct cbx_str part, bool crlf, struct cbx_buf *out)
{
    for (size_t i = 0; i < part.len; i++) {
        if (part.p[i] == '\n' && crlf) {
            cbx_buf_add_char(out, '\r');
        }
        cbx_buf_add_char(out, part.p[i]);
    }
}

static void apply(struct cbx_str text, const struct edit *edit, struct cbx_buf *out)
{
    bool crlf = memmem(text.p, text.len, "\r\n", 2) != NULL;
    cbx_buf_add(out, cbx_str_sub(text, 0, edit->where.from));
    add_with_line_ends(cbx_buf_str(&edit->with), crlf, out);
    cbx_buf_add(out, cbx_str_sub(text, edit->where.to, text.len));
}

static int read_text(struct cbx_str text, const char *section, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON json = NULL;
    int failed = cbx_json_parse(text, CBX_SPLICE_TEXT_MAX, &json, err);
    if (failed) {
        return failed;
    }
    const json_t *inner = json_object_get(json, section);
    if (!json_is_object(json) || (inner != NULL && !json_is_object(inner))) {
        return cbx_fail(err, CBX_EINVAL, "%s%s is not an object", inner != NULL ? section : "",
                        inner != NULL ? "" : "the file");
    }
    *out = json_incref(json);
    return 0;
}

/* What a parser reads in the result is the text before with the member set, and nothing else. */
static int check_result(struct cbx_str text, json_t *expected, const char *section,
                        const char *name, const json_t *value, struct cbx_err *err)
{
    CBX_AUTO_JSON result = NULL;
    if (json_object_get(expected, section) == NULL) {
        json_object_set_new(expected, section, json_object());
    }
    json_object_set(json_object_get(expected, section), name, (json_t *)(uintptr_t)value);
    return cbx_json_parse(text, CBX_SPLICE_TEXT_MAX, &result, err) == 0 &&
                   json_equal(result, expected)
               ? 0
               : cbx_fail(err, CBX_EINVAL, "the file cannot be edited without changing more of it");
}

int cbx_json_splice(struct cbx_str text, const char *section, const char *name, const json_t *value,
                    enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    text = skip_space(text, 0) == text.len ? CBX_STR("{}\n") : text;
    CBX_AUTO_JSON json = NULL;
    int failed = read_text(text, section, &json, err);
    if (failed) {
        return failed;
    }
    const json_t *before = json_object_get(json_object_get(json, section), name);
    if (before != NULL && json_equal(before, value)) {
        *what = CBX_SPLICE_SAME;
        return cbx_buf_add(out, text);
    }
    struct edit edit = { 0 };
    cbx_buf_init(&edit.with, CBX_SPLICE_TEXT_MAX);
    plan(text, section, name, value, &edit);
    CBX_AUTO_DONE(buf) result;
    cbx_buf_init(&result, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    apply(text, &edit, &result);
    cbx_buf_done(&edit.with);
    failed = check_result(cbx_buf_str(&result), json, section, name, value, err);
    if (!failed) {
        *what = before != NULL ? CBX_SPLICE_REPLACED : CBX_SPLICE_ADDED;
        failed = cbx_buf_add(out, cbx_buf_str(&result));
    }
    return failed;
}
