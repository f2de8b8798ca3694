/* SPDX-License-Identifier: MIT
 * JSON, also with comments, as a tree: jansson reads and checks the text, a scan finds the
 * places. */
#include "analyzer/manifest/documents/doc.h"
#include "analyzer/manifest/documents/json_text.h"

#include "policies/base/text/json.h"

struct scan {
    struct cbx_doc_maker maker;
    struct cbx_doc_node *stack[CBX_JSON_DEPTH_MAX + 2];
    struct cbx_doc_node *root;
    size_t depth;
    struct cbx_json_place key; /* key of the next value; end 0: none */
    bool behind_colon;
    uint32_t at;
};

/* Adds a new value: an item of the list, or the entry of the map, that is open. */
static struct cbx_doc_node *add_value(struct scan *s, enum cbx_doc_kind kind, uint32_t start,
                                      uint32_t end)
{
    struct cbx_doc_node *parent = s->depth > 0 ? s->stack[s->depth - 1] : NULL;
    struct cbx_doc_node *node = cbx_doc_add(&s->maker, parent, kind, start, end);
    if (node != NULL && s->behind_colon) {
        node->key = cbx_json_text_read(s->maker.arena, s->maker.file, s->key);
        node->key_start = s->key.start;
        node->key_end = s->key.end;
    }
    s->behind_colon = false;
    s->root = s->root == NULL ? node : s->root;
    return node;
}

static bool take_string(struct scan *s)
{
    struct cbx_json_place string = cbx_json_text_at(s->maker.file, s->at);
    bool in_map = s->depth > 0 && s->stack[s->depth - 1]->kind == CBX_DOC_MAP;
    s->at = string.end;
    if (in_map && !s->behind_colon) {
        s->key = string;
        return true;
    }
    struct cbx_doc_node *node = add_value(s, CBX_DOC_TEXT, string.start + 1, string.end - 1);
    if (node != NULL) {
        node->style = CBX_DOC_ESCAPED;
        node->text = cbx_json_text_read(s->maker.arena, s->maker.file, string);
    }
    return node != NULL;
}

static bool take_literal(struct scan *s)
{
    uint32_t start = s->at;
    struct cbx_str file = s->maker.file;
    while (s->at < file.len && strchr(" \t\r\n,]}", file.p[s->at]) == NULL) {
        s->at++;
    }
    struct cbx_doc_node *node = add_value(s, CBX_DOC_OTHER, start, s->at);
    if (node != NULL) {
        node->text = cbx_str_sub(file, start, s->at);
    }
    return node != NULL;
}

static bool take_open(struct scan *s, char c)
{
    enum cbx_doc_kind kind = c == '{' ? CBX_DOC_MAP : CBX_DOC_LIST;
    struct cbx_doc_node *node = add_value(s, kind, s->at, s->at + 1);
    s->at++;
    if (node != NULL && s->depth < sizeof(s->stack) / sizeof(s->stack[0])) {
        s->stack[s->depth++] = node;
        return true;
    }
    return false;
}

/* Takes one token of a valid text. False if a cap is reached. */
static bool take_token(struct scan *s)
{
    char c = s->maker.file.p[s->at];
    switch (c) {
    case '"':
        return take_string(s);
    case '{':
    case '[':
        return take_open(s, c);
    case '}':
    case ']':
        s->at++;
        s->stack[s->depth - 1]->end = s->at;
        s->depth--;
        return true;
    case ':':
        s->behind_colon = true;
        s->at++;
        return true;
    case ',':
    case ' ':
    case '\t':
    case '\r':
    case '\n':
        s->at++;
        return true;
    default:
        return take_literal(s);
    }
}

int cbx_doc_read_json(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                      struct cbx_err *err)
{
    CBX_AUTO_JSON checked = NULL;
    int failed = cbx_json_parse(file, CBX_MANIFEST_MAX_BYTES, &checked, err);
    if (failed && err->line > 0) {
        return cbx_wrap(err, "line %u, column %u", err->line, err->column);
    }
    if (failed) {
        return failed;
    }
    struct scan s = { .maker = { .file = file, .arena = arena, .err = err } };
    while (s.at < file.len) {
        if (!take_token(&s)) {
            return CBX_ETOOBIG;
        }
    }
    *out = (struct cbx_doc){ .file = file, .root = s.root };
    return 0;
}

/* --- comments and trailing commas ------------------------------------------------------------- */

/* Returns the end of the comment that begins at `at`; `at` if none does. */
static size_t end_of_comment(struct cbx_str text, size_t at)
{
    struct cbx_str rest = cbx_str_sub(text, at, text.len);
    if (cbx_str_starts(rest, CBX_STR("//"))) {
        const char *newline = memchr(rest.p, '\n', rest.len);
        return newline != NULL ? (size_t)(newline - text.p) : text.len;
    }
    if (!cbx_str_starts(rest, CBX_STR("/*"))) {
        return at;
    }
    const char *end = memmem(rest.p + 2, rest.len - 2, "*/", 2);
    return end != NULL ? (size_t)(end - text.p) + 2 : text.len;
}

static size_t end_of_string(struct cbx_str text, size_t at)
{
    for (at++; at < text.len && text.p[at] != '"'; at++) {
        at += text.p[at] == '\\';
    }
    return at < text.len ? at + 1 : text.len;
}

/* Replaces comments, and commas before a closing bracket, by blanks: places stay. */
static void blank_comments(struct cbx_str text, char *out)
{
    size_t comma = text.len; /* place of a comma behind an item; text.len: none */
    bool item = false;       /* the last token ends an item */
    for (size_t at = 0; at < text.len;) {
        size_t comment = end_of_comment(text, at);
        char c = text.p[at];
        if (comment > at) {
            for (; at < comment; at++) {
                out[at] = text.p[at] == '\n' ? '\n' : ' ';
            }
            continue;
        }
        size_t end = c == '"' ? end_of_string(text, at) : at + 1;
        memcpy(out + at, text.p + at, end - at);
        if ((c == '}' || c == ']') && comma < text.len) {
            out[comma] = ' ';
        }
        if (strchr(" \t\n", c) == NULL || c == '\0') {
            comma = c == ',' && item ? at : text.len;
            item = c != ',' && c != '{' && c != '[' && c != ':';
        }
        at = end;
    }
}

int cbx_doc_read_jsonc(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                       struct cbx_err *err)
{
    char *blanked = cbx_arena_alloc(arena, file.len + 1);
    if (blanked == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    blank_comments(file, blanked);
    struct cbx_str text = { .p = blanked, .len = file.len };
    int failed = cbx_doc_read_json(text, arena, out, err);
    if (failed) {
        return failed;
    }
    out->file = file;
    return 0;
}
