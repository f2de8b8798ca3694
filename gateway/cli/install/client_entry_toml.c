/* SPDX-License-Identifier: MIT
 * The entry in TOML 1.0: a table [SECTION.NAME]. Strings and brackets that are open at the end of
 * a line continue on the next. A file that has the section in another form (an inline table,
 * dotted keys) is refused. */
#include "gateway/cli/install/client_entry.h"

#include <string.h>

/* --- text ------------------------------------------------------------------------------------- */

static size_t skip_blanks(struct cbx_str text, size_t at)
{
    while (at < text.len && (text.p[at] == ' ' || text.p[at] == '\t')) {
        at++;
    }
    return at;
}

static size_t end_of_line(struct cbx_str text, size_t at)
{
    const char *end = at < text.len ? memchr(text.p + at, '\n', text.len - at) : NULL;
    return end != NULL ? (size_t)(end - text.p) : text.len;
}

/* Returns the position behind a string that begins at `at`: basic or literal, on one line or
 * several. */
static size_t skip_string(struct cbx_str text, size_t at)
{
    char quote = text.p[at];
    bool basic = quote == '"';
    bool lines = at + 2 < text.len && text.p[at + 1] == quote && text.p[at + 2] == quote;
    size_t run = 0;
    for (at += lines ? 3 : 1; at < text.len; at++) {
        if (text.p[at] == '\\' && basic) {
            at++;
            run = 0;
            continue;
        }
        if (text.p[at] == '\n' && !lines) {
            return at; /* the string is malformed */
        }
        run = text.p[at] == quote ? run + 1 : 0;
        if (run == (lines ? 3 : 1)) {
            at++;
            /* quotes that belong to the string, before its end */
            while (lines && at < text.len && text.p[at] == quote) {
                at++;
            }
            return at;
        }
    }
    return text.len;
}

/* Returns the end of the text that begins at `at`: the next line end, or comment, outside of
 * strings and brackets. */
static size_t skip_value(struct cbx_str text, size_t at)
{
    int depth = 0;
    size_t end = at;
    while (at < text.len) {
        char c = text.p[at];
        if (c == '#') {
            if (depth == 0) {
                return end;
            }
            at = end_of_line(text, at);
            continue;
        }
        if (c == '\n' && depth == 0) {
            return end;
        }
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
        at = c == '"' || c == '\'' ? skip_string(text, at) : at + 1;
        end = c == ' ' || c == '\t' || c == '\r' ? end : at;
    }
    return end;
}

/* Reads one part of a key into `out`, bare or quoted without escapes. Returns the position
 * behind it; 0 for another form. */
static size_t read_part(struct cbx_str text, size_t at, struct cbx_str *out)
{
    at = skip_blanks(text, at);
    size_t end = at;
    if (at < text.len && (text.p[at] == '"' || text.p[at] == '\'')) {
        end = skip_string(text, at);
        *out = cbx_str_sub(text, at + 1, end - 1);
        bool plain = end > at + 1 && (out->len == 0 || memchr(out->p, '\\', out->len) == NULL);
        return plain ? end : 0;
    }
    while (end < text.len &&
           ((text.p[end] >= '0' && text.p[end] <= '9') || text.p[end] == '_' ||
            text.p[end] == '-' || ((text.p[end] | 32) >= 'a' && (text.p[end] | 32) <= 'z'))) {
        end++;
    }
    *out = cbx_str_sub(text, at, end);
    return end > at ? end : 0;
}

/* Reads the parts of a dotted key. Returns their number, of which at most 3 are kept, and the
 * position behind them in *end. 0 = no key. */
static size_t read_key(struct cbx_str text, size_t at, struct cbx_str parts[3], size_t *end)
{
    size_t count = 0;
    for (;;) {
        struct cbx_str part;
        at = read_part(text, at, &part);
        if (at == 0) {
            return 0;
        }
        if (count < 3) {
            parts[count] = part;
        }
        count++;
        *end = skip_blanks(text, at);
        if (*end >= text.len || text.p[*end] != '.') {
            return count;
        }
        at = *end + 1;
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

enum kind { NOTHING, TABLE, MEMBER };

struct line {
    enum kind kind;
    bool array; /* [[TABLE]] */
    struct cbx_str parts[3];
    size_t count;       /* number of parts */
    size_t from, value; /* start of the line; start of a member's value */
    size_t end;         /* position behind the value, or the header; a comment may follow */
    size_t next;        /* start of the next line */
};

/* False if the text is no TOML. */
static bool read_line(struct cbx_str text, size_t at, struct line *out)
{
    *out = (struct line){ .from = at };
    at = skip_blanks(text, at);
    char c = at < text.len ? text.p[at] : '\n';
    size_t end = at;
    if (c == '\n' || c == '\r' || c == '#') {
        out->end = at;
        out->next = end_of_line(text, at) + 1;
        return true;
    }
    if (c == '[') {
        out->kind = TABLE;
        out->array = at + 1 < text.len && text.p[at + 1] == '[';
        out->count = read_key(text, at + 1 + out->array, out->parts, &end);
        out->end = end + 1 + out->array;
        out->next = end_of_line(text, end) + 1;
        return out->count > 0 && end < text.len && text.p[end] == ']';
    }
    out->kind = MEMBER;
    out->count = read_key(text, at, out->parts, &end);
    if (out->count == 0 || end >= text.len || text.p[end] != '=') {
        return false;
    }
    out->value = skip_blanks(text, end + 1);
    out->end = skip_value(text, out->value);
    out->next = end_of_line(text, out->end) + 1;
    return out->end > out->value;
}

/* --- the table -------------------------------------------------------------------------------- */

enum { MEMBERS_MAX = 8 };

struct table {
    bool found;
    size_t first;   /* position behind its header's line */
    size_t members; /* members of the entry that were found */
    struct line lines[MEMBERS_MAX];
    bool at_url;
};

static int fail_form(const struct cbx_client_entry *entry, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EINVAL,
                    "'%s' has another form than a table [%s.%s], which cannot be edited",
                    entry->section, entry->section, entry->name);
}

static bool names(const struct line *line, size_t count, const struct cbx_client_entry *entry)
{
    return line->count >= count && cbx_str_is(line->parts[0], entry->section) &&
           (count < 2 || cbx_str_is(line->parts[1], entry->name));
}

static void note_member(const struct line *line, struct table *out)
{
    out->at_url |= line->count == 1 && cbx_str_is(line->parts[0], "url");
    if (out->members < MEMBERS_MAX) {
        out->lines[out->members++] = *line;
    }
}

static int find_table(struct cbx_str text, const struct cbx_client_entry *entry, struct table *out,
                      struct cbx_err *err)
{
    struct line table = { 0 }, line;
    *out = (struct table){ 0 };
    for (size_t at = 0; at < text.len; at = line.next) {
        if (!read_line(text, at, &line)) {
            size_t number = 1;
            for (size_t i = 0; i < at; i++) {
                number += text.p[i] == '\n';
            }
            return cbx_fail(err, CBX_EINVAL, "line %zu is not valid TOML", number);
        }
        if (line.kind == TABLE) {
            table = line;
            bool ours = names(&line, 2, entry) && line.count == 2;
            if ((ours && (line.array || out->found)) ||
                (line.array && line.count == 1 && names(&line, 1, entry))) {
                return fail_form(entry, err);
            }
            out->found |= ours;
            out->first = ours ? line.next : out->first;
            continue;
        }
        if (line.kind != MEMBER) {
            continue;
        }
        if (table.count == 2 && names(&table, 2, entry)) {
            note_member(&line, out);
        }
        bool root = table.count == 0 && names(&line, 1, entry),
             inner = table.count == 1 && names(&table, 1, entry) &&
                     cbx_str_is(line.parts[0], entry->name);
        if (root || inner) {
            return fail_form(entry, err);
        }
    }
    return 0;
}

/* --- the edit --------------------------------------------------------------------------------- */

/* JSON's strings are TOML's basic strings, and JSON's lists are lists; objects do not occur. */
static void add_member(const char *key, const json_t *value, const char *line_end,
                       struct cbx_buf *out)
{
    cbx_buf_printf(out, "%s = ", key);
    cbx_json_write(out, value);
    cbx_buf_add_cstr(out, line_end);
}

static const struct line *find_member(const struct table *table, const char *key)
{
    for (size_t i = 0; i < table->members; i++) {
        if (table->lines[i].count == 1 && cbx_str_is(table->lines[i].parts[0], key)) {
            return &table->lines[i];
        }
    }
    return NULL;
}

/* Returns true if the value, which may have other white space and quotes, is the same JSON. */
static bool is_same(struct cbx_str text, const struct line *line, const json_t *value)
{
    struct cbx_str found = cbx_str_sub(text, line->value, line->end);
    CBX_AUTO_JSON json = json_loadb(found.p, found.len, JSON_DECODE_ANY, NULL);
    return json != NULL && json_equal(json, value);
}

static void add_table(struct cbx_str text, const struct cbx_client_entry *entry,
                      const char *line_end, struct cbx_buf *out)
{
    CBX_AUTO_JSON whole = cbx_client_entry_whole(entry);
    const char *key;
    json_t *value;
    cbx_buf_add(out, text);
    if (text.len > 0) {
        cbx_buf_add_cstr(out, text.p[text.len - 1] != '\n' ? line_end : "");
        cbx_buf_add_cstr(out, line_end);
    }
    cbx_buf_printf(out, "[%s.%s]%s", entry->section, entry->name, line_end);
    json_object_foreach(whole, key, value)
    {
        add_member(key, value, line_end, out);
    }
}

/* Replaces existing members in their places, and adds the others behind the header. */
static enum cbx_splice set_members(struct cbx_str text, const struct table *table,
                                   const struct cbx_client_entry *entry, const char *line_end,
                                   struct cbx_buf *out)
{
    enum cbx_splice what = CBX_SPLICE_SAME;
    const char *key;
    json_t *value;
    size_t first = table->first < text.len ? table->first : text.len;
    cbx_buf_add(out, cbx_str_sub(text, 0, first));
    if (first > 0 && text.p[first - 1] != '\n') {
        cbx_buf_add_cstr(out, line_end);
    }
    json_object_foreach((json_t *)(uintptr_t)entry->members, key, value)
    {
        if (find_member(table, key) == NULL) {
            add_member(key, value, line_end, out);
            what = CBX_SPLICE_REPLACED;
        }
    }
    size_t at = first;
    for (size_t i = 0; i < table->members; i++) {
        const struct line *line = &table->lines[i];
        char name[64];
        snprintf(name, sizeof(name), "%.*s",
                 (int)(line->parts[0].len < 63 ? line->parts[0].len : 63), line->parts[0].p);
        value = line->count == 1 ? json_object_get(entry->members, name) : NULL;
        if (value != NULL && !is_same(text, line, value)) {
            cbx_buf_add(out, cbx_str_sub(text, at, line->value));
            cbx_json_write(out, value);
            at = line->end;
            what = CBX_SPLICE_REPLACED;
        }
    }
    cbx_buf_add(out, cbx_str_sub(text, at, text.len));
    return what;
}

int cbx_client_entry_toml(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err)
{
    struct table table, after;
    CBX_AUTO_DONE(buf) result;
    cbx_buf_init(&result, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    const char *line_end =
        text.len > 0 && memmem(text.p, text.len, "\r\n", 2) != NULL ? "\r\n" : "\n";
    int failed = find_table(text, entry, &table, err);
    if (failed) {
        return failed;
    }
    if (table.at_url) {
        return cbx_fail(err, CBX_EINVAL,
                        "the entry '%s' is of a server at a URL ('url'); remove it first",
                        entry->name);
    }
    if (table.found) {
        *what = set_members(text, &table, entry, line_end, &result);
    } else {
        *what = CBX_SPLICE_ADDED;
        add_table(text, entry, line_end, &result);
    }
    if (*what == CBX_SPLICE_SAME) {
        return cbx_buf_add(out, text);
    }
    /* Checks that the result has the table with each of the members. */
    failed = find_table(cbx_buf_str(&result), entry, &after, err);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)entry->members, key, value)
    {
        const struct line *line = failed ? NULL : find_member(&after, key);
        if (line == NULL || !is_same(cbx_buf_str(&result), line, value)) {
            return cbx_fail(err, CBX_EINVAL,
                            "the file cannot be edited without changing more of it");
        }
    }
    return cbx_buf_add(out, cbx_buf_str(&result));
}
