/* SPDX-License-Identifier: MIT
 * Sets one member in the text of a JSON file. */
#include "gateway/cli/install/json_splice.h"

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

/* An object of the text, and one of its members. All are offsets. */
struct object {
    struct span all;   /* from the opening to the closing brace */
    size_t first_key;  /* 0 = it has no members */
    size_t last_end;   /* end of the last value */
    size_t last_comma; /* behind the comma that follows the last value; 0 = none does */
    bool found;        /* true if the member exists */
    size_t key;        /* start of the member's name */
    struct span value; /* the member's value */
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
        bool comma = at < text.len && text.p[at] == ',';
        o.last_comma = comma ? at + 1 : 0;
        at = comma ? skip_space(text, at + 1) : at;
    }
    o.all.to = at + 1;
    return o;
}

/* --- the edit --------------------------------------------------------------------------------- */

/* A span of the text and its replacement. */
struct edit {
    struct span where;
    struct cbx_buf with;
};

/* Returns the white space at the beginning of the line that has this byte. */
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

/* Returns true if the members stand on lines of their own. */
static bool has_lines(struct cbx_str text, const struct object *o)
{
    size_t from = o->all.from, to = o->first_key > 0 ? o->first_key : o->all.to;
    return memchr(text.p + from, '\n', to - from) != NULL;
}

/* A file: its text, and the text with blanks in the place of comments, in which positions are
 * searched. */
struct source {
    struct cbx_str text, plain;
};

/* Returns the end of the line if only a comment follows on it, else `at`. */
static size_t end_of_comment(const struct source *source, size_t at)
{
    struct cbx_str plain = source->plain;
    size_t end = at;
    while (end < plain.len && (plain.p[end] == ' ' || plain.p[end] == '\t')) {
        end++;
    }
    return end == plain.len || plain.p[end] == '\n' || plain.p[end] == '\r' ? end : at;
}

/* Inserts into an object without members, whose comments stay. */
static void add_first(const struct source *source, const struct object *o, struct cbx_str unit,
                      const char *name, const json_t *value, struct edit *edit)
{
    struct cbx_str indent = indent_of(source->plain, o->all.from),
                   inner = cbx_str_sub(source->text, o->all.from + 1, o->all.to - 1),
                   blank = cbx_str_sub(source->plain, o->all.from + 1, o->all.to - 1);
    edit->where = o->all;
    if (cbx_str_equal(inner, blank)) {
        CBX_AUTO_JSON whole = json_pack("{s:O}", name, value);
        cbx_json_pretty(whole, indent, unit, &edit->with);
        return;
    }
    while (inner.len > 0 && memchr(" \t\r\n", inner.p[inner.len - 1], 4) != NULL) {
        inner.len--;
    }
    CBX_AUTO_DONE(buf) deeper;
    cbx_buf_init(&deeper, INDENT_MAX);
    cbx_buf_add(&deeper, indent);
    cbx_buf_add(&deeper, unit);
    cbx_buf_add_char(&edit->with, '{');
    cbx_buf_add(&edit->with, inner);
    add_line(cbx_buf_str(&deeper), &edit->with);
    add_member(name, value, cbx_buf_str(&deeper), unit, &edit->with);
    add_line(indent, &edit->with);
    cbx_buf_add_char(&edit->with, '}');
}

/* If the last member has a comma behind it, which some files have, the result has one too. */
static void add_to_object(const struct source *source, const struct object *o, struct cbx_str unit,
                          const char *name, const json_t *value, struct edit *edit)
{
    struct cbx_buf *with = &edit->with;
    if (o->first_key == 0) {
        add_first(source, o, unit, name, value, edit);
        return;
    }
    bool lines = has_lines(source->plain, o);
    size_t at = o->last_comma > 0 ? o->last_comma : o->last_end;
    size_t end = lines ? end_of_comment(source, at) : at;
    edit->where = (struct span){ o->last_end, end };
    cbx_buf_add_cstr(with, o->last_comma > 0 ? "" : ",");
    cbx_buf_add(with, cbx_str_sub(source->text, o->last_end, end));
    if (lines) {
        struct cbx_str indent = indent_of(source->plain, o->first_key);
        add_line(indent, with);
        add_member(name, value, indent, unit, with);
    } else {
        cbx_buf_add_char(with, ' ');
        add_string(name, with);
        cbx_buf_add_cstr(with, ": ");
        cbx_json_write(with, value);
    }
    cbx_buf_add_cstr(with, o->last_comma > 0 ? "," : "");
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

/* Returns the missing part of the path around the value (new reference). */
static json_t *wrap(const char *const *path, size_t count, const json_t *value)
{
    json_t *whole = json_incref((json_t *)(uintptr_t)value);
    for (size_t i = count; i > 0; i--) {
        whole = json_pack("{s:o}", path[i - 1], whole);
    }
    return whole;
}

static void plan(const struct source *source, const char *const *path, size_t count,
                 const json_t *value, struct edit *edit)
{
    struct cbx_str plain = source->plain;
    struct object o = read_object(plain, skip_space(plain, 0), path[0]);
    struct cbx_str unit =
        o.first_key > 0 && has_lines(plain, &o) ? indent_of(plain, o.first_key) : CBX_STR("");
    unit = unit.len > 0 && unit.len <= 8 ? unit : CBX_STR("  ");
    for (size_t i = 0;; i++) {
        if (!o.found) {
            CBX_AUTO_JSON whole = wrap(path + i + 1, count - i - 1, value);
            add_to_object(source, &o, unit, path[i], whole, edit);
            return;
        }
        if (i + 1 == count) {
            replace_member(plain, &o, unit, value, edit);
            return;
        }
        o = read_object(plain, o.value.from, path[i + 1]);
    }
}

/* Appends the part, with CRLF in the place of each LF if the text has CRLF. */
static void add_with_line_ends(struct cbx_str part, bool crlf, struct cbx_buf *out)
{
    for (size_t i = 0; i < part.len; i++) {
        if (part.p[i] == '\n' && crlf && (i == 0 || part.p[i - 1] != '\r')) {
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

/* --- comments --------------------------------------------------------------------------------- */

/* Returns the position behind a comment that begins at `at`, or `at`. */
static size_t skip_comment(struct cbx_str text, size_t at)
{
    struct cbx_str rest = cbx_str_sub(text, at, text.len);
    if (cbx_str_starts(rest, CBX_STR("//"))) {
        const char *end = memchr(rest.p, '\n', rest.len);
        return end != NULL ? (size_t)(end - text.p) : text.len;
    }
    if (cbx_str_starts(rest, CBX_STR("/*"))) {
        const char *end = rest.len > 3 ? memmem(rest.p + 2, rest.len - 2, "*/", 2) : NULL;
        return end != NULL ? (size_t)(end - text.p) + 2 : text.len;
    }
    return at;
}

/* Replaces a comment by as many blanks; its line ends stay. */
static void blank_comments(struct cbx_str text, struct cbx_buf *out)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = text.p[at] == '"' ? skip_string(text, at) : at + 1;
        size_t comment = skip_comment(text, at);
        if (comment == at) {
            end = end < text.len ? end : text.len;
            cbx_buf_add(out, cbx_str_sub(text, at, end));
            at = end;
        }
        for (; at < comment; at++) {
            char c = text.p[at];
            cbx_buf_add_char(out, c == '\n' || c == '\r' ? c : ' ');
        }
    }
}

/* Returns the text without comments as JSON: commas behind last members become blanks. */
static void blank_commas(struct cbx_str plain, struct cbx_buf *out)
{
    for (size_t at = 0; at < plain.len;) {
        size_t end = plain.p[at] == '"' ? skip_string(plain, at) : at + 1;
        size_t next = plain.p[at] == ',' ? skip_space(plain, at + 1) : plain.len;
        bool last = next < plain.len && (plain.p[next] == '}' || plain.p[next] == ']');
        end = end < plain.len ? end : plain.len;
        cbx_buf_add(out, last ? CBX_STR(" ") : cbx_str_sub(plain, at, end));
        at = end;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

int cbx_json_splice_read(struct cbx_str text, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) plain;
    CBX_AUTO_DONE(buf) strict;
    cbx_buf_init(&plain, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    cbx_buf_init(&strict, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    blank_comments(text, &plain);
    if (skip_space(cbx_buf_str(&plain), 0) == plain.len) {
        *out = json_object();
        return 0;
    }
    blank_commas(cbx_buf_str(&plain), &strict);
    return cbx_json_parse(cbx_buf_str(&strict), CBX_SPLICE_TEXT_MAX, out, err);
}

/* Checks that the objects of the path, as far as they exist, are objects. */
static int check_path(const json_t *json, const char *const *path, size_t count,
                      struct cbx_err *err)
{
    for (size_t i = 0; i < count && json != NULL; i++) {
        if (!json_is_object(json)) {
            return cbx_fail(err, CBX_EINVAL, "%s is not an object",
                            i > 0 ? path[i - 1] : "the file");
        }
        json = json_object_get(json, path[i]);
    }
    return 0;
}

static const json_t *find(const json_t *json, const char *const *path, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json = json_object_get(json, path[i]);
    }
    return json;
}

/* Checks that a parser reads the same in the result as in the text, with the member set. */
static int check_result(struct cbx_str text, json_t *expected, const char *const *path,
                        size_t count, const json_t *value, struct cbx_err *err)
{
    CBX_AUTO_JSON result = NULL;
    json_t *at = expected;
    for (size_t i = 0; i + 1 < count; i++) {
        if (json_object_get(at, path[i]) == NULL) {
            json_object_set_new(at, path[i], json_object());
        }
        at = json_object_get(at, path[i]);
    }
    json_object_set(at, path[count - 1], (json_t *)(uintptr_t)value);
    if (cbx_json_splice_read(text, &result, err) != 0 || !json_equal(result, expected)) {
        return cbx_fail(err, CBX_EINVAL, "the file cannot be edited without changing more of it");
    }
    return 0;
}

int cbx_json_splice(struct cbx_str text, const char *const *path, size_t count, const json_t *value,
                    enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_JSON json = NULL;
    CBX_AUTO_DONE(buf) all;
    CBX_AUTO_DONE(buf) plain;
    CBX_AUTO_DONE(buf) result;
    cbx_buf_init(&all, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    cbx_buf_init(&plain, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    cbx_buf_init(&result, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    int failed = cbx_json_splice_read(text, &json, err);
    if (failed) {
        return failed;
    }
    failed = check_path(json, path, count, err);
    if (failed) {
        return failed;
    }
    const json_t *before = find(json, path, count);
    if (before != NULL && json_equal(before, value)) {
        *what = CBX_SPLICE_SAME;
        return cbx_buf_add(out, text);
    }
    blank_comments(text, &plain);
    /* the text is blank, or has only comments */
    if (skip_space(cbx_buf_str(&plain), 0) == plain.len) {
        bool commented = skip_space(text, 0) < text.len;
        cbx_buf_add(&all, commented ? text : CBX_STR(""));
        cbx_buf_add_cstr(&all, commented && text.p[text.len - 1] != '\n' ? "\n{}\n" : "{}\n");
    } else {
        cbx_buf_add(&all, text);
    }
    cbx_buf_reset(&plain);
    blank_comments(cbx_buf_str(&all), &plain);
    const struct source source = { .text = cbx_buf_str(&all), .plain = cbx_buf_str(&plain) };
    struct edit edit = { 0 };
    cbx_buf_init(&edit.with, CBX_SPLICE_TEXT_MAX);
    plan(&source, path, count, value, &edit);
    apply(source.text, &edit, &result);
    cbx_buf_done(&edit.with);
    failed = check_result(cbx_buf_str(&result), json, path, count, value, err);
    if (failed) {
        return failed;
    }
    *what = before != NULL ? CBX_SPLICE_REPLACED : CBX_SPLICE_ADDED;
    return cbx_buf_add(out, cbx_buf_str(&result));
}
