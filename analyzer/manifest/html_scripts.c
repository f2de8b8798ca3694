/* SPDX-License-Identifier: MIT
 * Pages of HTML: scripts, handlers of events, addresses with code, and pages within a page (srcdoc,
 * "data:text/html"). The grammar of tree-sitter finds them. A page is refused if the grammar cannot
 * parse a part that may have one. */
#include "analyzer/manifest/html_text.h"
#include "analyzer/manifest/readers.h"

#include "analyzer/parse.h"
#include "analyzer/syntax/tree_memory.h"
#include "policies/base/text/base64.h"

#include <ctype.h>
#include <strings.h>

const TSLanguage *tree_sitter_html(void);

enum { BUDGET_MS = 20000, PAGES_MAX = 4 };

static const struct script_type {
    struct cbx_str glob;
    const char *language;
} types[] = {
#define CBX_SCRIPT_TYPE(glob, language) { { glob, sizeof(glob) - 1 }, language },
#include "analyzer/manifest/html_scripts.def"
};

struct reading {
    struct cbx_str text;
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
    const char *language; /* language of the open script; NULL: it is not judged */
    /* Of a page within a page: its text, with places in the text of `outer`. */
    const struct cbx_piece_maker *source;
    struct reading *outer;
    int depth; /* number of pages around this one */
};

static int read_tree(struct reading *r);

static bool is(TSNode node, const char *type)
{
    return strcmp(ts_node_type(node), type) == 0;
}

static struct cbx_range range_of(TSNode node)
{
    return (struct cbx_range){ ts_node_start_byte(node), ts_node_end_byte(node) };
}

/* --- pieces ----------------------------------------------------------------------------------- */

static int fail(const struct reading *r, uint32_t place, const char *what)
{
    while (r->outer != NULL) {
        place = cbx_piece_maker_place(r->source, place);
        r = r->outer;
    }
    return cbx_manifest_fail(r->text, place, what, r->err);
}

/* Appends a piece of an inner page, with places in the page around it. */
static void take_inner(const struct reading *r, const struct cbx_piece_maker *code,
                       struct cbx_piece_maker *out)
{
    struct cbx_str text = cbx_buf_str(&code->text);
    for (uint32_t i = 0; i < text.len; i++) {
        uint32_t place = cbx_piece_maker_place(r->source, cbx_piece_maker_place(code, i));
        cbx_piece_maker_put(out, cbx_str_sub(text, i, i + 1), place);
    }
    out->text.overflow |= code->text.overflow;
}

/* Adds the code. If it has the marks of a template, it is judged without them if it cannot be
 * read with them. */
static int end_piece(struct reading *r, struct cbx_piece_maker *code, const char *language)
{
    if (r->outer != NULL) {
        CBX_AUTO_DONE(piece_maker) outer;
        cbx_piece_maker_init(&outer, r->arena, r->outer->text);
        take_inner(r, code, &outer);
        return end_piece(r->outer, &outer, language);
    }
    size_t before = r->out->piece_count;
    struct cbx_piece_maker plain;
    cbx_piece_maker_init(&plain, r->arena, r->text);
    bool template = cbx_html_take_template(&plain, code);
    int failed = cbx_piece_maker_end(code, language, r->out, r->err);
    if (!failed && template) {
        failed = cbx_piece_maker_end(&plain, language, r->out, r->err);
    }
    if (!failed && template && r->out->piece_count == before + 2) {
        struct cbx_manifest_piece *instead = cbx_arena_alloc(r->arena, sizeof(*instead));
        if (instead != NULL) {
            *instead = r->out->pieces[--r->out->piece_count];
            r->out->pieces[before].instead = instead;
        }
    }
    cbx_piece_maker_done(&plain);
    return failed;
}

/* --- attributes ------------------------------------------------------------------------------- */

/* Returns the name and the value of an attribute, without quotes. */
static bool read_attribute(TSNode attribute, struct cbx_range *name, struct cbx_range *value)
{
    *value = (struct cbx_range){ 0 };
    TSNode first = ts_node_named_child(attribute, 0), second = ts_node_named_child(attribute, 1);
    if (ts_node_is_null(first) || !is(first, "attribute_name")) {
        return false;
    }
    *name = range_of(first);
    if (!ts_node_is_null(second) && is(second, "quoted_attribute_value")) {
        second = ts_node_named_child(second, 0);
    }
    if (!ts_node_is_null(second)) {
        *value = range_of(second);
    }
    return true;
}

static bool is_handler(struct cbx_str name)
{
    size_t i = 2;
    if (name.len < 4 || strncasecmp(name.p, "on", 2) != 0) {
        return false;
    }
    while (i < name.len && isalpha((unsigned char)name.p[i])) {
        i++;
    }
    return i == name.len;
}

/* Returns the language of a script's type; "" for data, NULL for a type without an analyzer. */
static const char *language_of_type(struct cbx_str type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (cbx_str_glob(types[i].glob, type)) {
            return types[i].language;
        }
    }
    return NULL;
}

static int read_inner_page(struct reading *r, const struct cbx_piece_maker *source)
{
    if (source->text.overflow) {
        return cbx_fail(r->err, CBX_ETOOBIG, "a page within a page is too large to be read");
    }
    if (r->depth == PAGES_MAX) {
        return fail(r, 0, "a page within a page within other pages, nested too deep");
    }
    struct reading inner = { .text = cbx_buf_str(&source->text),
                             .arena = r->arena,
                             .out = r->out,
                             .err = r->err,
                             .source = source,
                             .outer = r,
                             .depth = r->depth + 1 };
    return read_tree(&inner);
}

/* Decodes the content of a "data:" address (RFC 2397). Of Base64 each byte stands at its beginning.
 * False if it cannot be decoded: no browser runs it. */
static bool take_data(struct cbx_piece_maker *out, const struct cbx_piece_maker *url, size_t from,
                      bool base64)
{
    if (!base64) {
        cbx_html_take_url(out, url, from);
        return true;
    }
    CBX_AUTO_DONE(piece_maker) text;
    CBX_AUTO_DONE(buf) bytes;
    cbx_piece_maker_init(&text, out->arena, out->file);
    cbx_buf_init(&bytes, CBX_MANIFEST_MAX_BYTES);
    cbx_html_take_url(&text, url, from);
    if (!cbx_base64_decode(cbx_buf_str(&text.text), &bytes)) {
        return false;
    }
    cbx_piece_maker_put(out, cbx_buf_str(&bytes), cbx_piece_maker_place(url, (uint32_t)from));
    return true;
}

/* Reads "data:TYPE;PARAMETERS,CONTENT": scripts and pages. */
static int judge_data(struct reading *r, const struct cbx_piece_maker *url, size_t from)
{
    char type[64];
    struct cbx_str text = cbx_buf_str(&url->text);
    const char *comma = memchr(text.p + from, ',', text.len - from);
    struct cbx_str head = cbx_str_sub(text, from, comma != NULL ? (size_t)(comma - text.p) : from);
    bool base64 = head.len >= 7 && strncasecmp(head.p + head.len - 7, ";base64", 7) == 0;
    size_t len = 0;
    while (len < head.len && len < sizeof(type) && head.p[len] != ';') {
        type[len] = (char)tolower((unsigned char)head.p[len]);
        len++;
    }
    struct cbx_str name = { type, len };
    bool page = cbx_str_is(name, "text/html") || cbx_str_is(name, "application/xhtml+xml");
    const char *language = len > 0 ? language_of_type(name) : NULL;
    if (!page && (language == NULL || language[0] == '\0')) {
        return 0;
    }
    CBX_AUTO_DONE(piece_maker) content;
    cbx_piece_maker_init(&content, r->arena, r->text);
    if (!take_data(&content, url, from + head.len + 1, base64) || content.text.len == 0) {
        return 0;
    }
    return page ? read_inner_page(r, &content) : end_piece(r, &content, language);
}

static bool is_named(const struct reading *r, struct cbx_range name, const char *word)
{
    return name.end - name.start == strlen(word) &&
           strncasecmp(r->text.p + name.start, word, strlen(word)) == 0;
}

static int judge_attribute(struct reading *r, TSNode attribute)
{
    struct cbx_range name, value;
    if (!read_attribute(attribute, &name, &value) || value.end == value.start) {
        return 0;
    }
    CBX_AUTO_DONE(piece_maker) text;
    CBX_AUTO_DONE(piece_maker) code;
    cbx_piece_maker_init(&text, r->arena, r->text);
    cbx_piece_maker_init(&code, r->arena, r->text);
    cbx_html_take(&text, value.start, value.end);
    if (is_handler(cbx_str_sub(r->text, name.start, name.end))) {
        return end_piece(r, &text, "javascript");
    }
    if (is_named(r, name, "srcdoc")) {
        return read_inner_page(r, &text);
    }
    size_t data = cbx_html_url_behind(cbx_buf_str(&text.text), "data:");
    if (data > 0) {
        return judge_data(r, &text, data);
    }
    size_t from = cbx_html_url_behind(cbx_buf_str(&text.text), "javascript:");
    if (from == 0 || from == text.text.len) {
        return 0;
    }
    cbx_html_take_url(&code, &text, from);
    return end_piece(r, &code, "javascript");
}

/* --- scripts ---------------------------------------------------------------------------------- */

/* Reads the type from the attribute of that name, in small letters, without parameters and
 * blanks. False for another attribute. */
static bool read_type(struct reading *r, TSNode attribute, char *out, size_t size, size_t *len)
{
    struct cbx_range name, value;
    if (!is(attribute, "attribute") || !read_attribute(attribute, &name, &value) ||
        !is_named(r, name, "type")) {
        return false;
    }
    for (uint32_t at = value.start; at < value.end && r->text.p[at] != ';' && *len < size; at++) {
        char c = r->text.p[at];
        if (!isspace((unsigned char)c)) {
            out[(*len)++] = (char)tolower((unsigned char)c);
        }
    }
    return true;
}

/* Returns the type of a script: its first attribute of that name counts. */
static struct cbx_str type_of(struct reading *r, TSNode start_tag, char *out, size_t size)
{
    size_t len = 0;
    bool found = false;
    TSTreeCursor cursor = ts_tree_cursor_new(start_tag);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more && !found; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        found = read_type(r, ts_tree_cursor_current_node(&cursor), out, size, &len);
    }
    ts_tree_cursor_delete(&cursor);
    return (struct cbx_str){ out, len };
}

/* Handles a start tag: a script's tag determines the language of its text. */
static int open_tag(struct reading *r, TSNode tag)
{
    char name[64];
    struct cbx_range word = range_of(ts_node_named_child(tag, 0));
    r->language = NULL;
    if (word.end - word.start != 6 || strncasecmp(r->text.p + word.start, "script", 6) != 0) {
        return 0;
    }
    struct cbx_str type = type_of(r, tag, name, sizeof(name));
    const char *language = language_of_type(type);
    if (language == NULL) {
        return cbx_manifest_add_skip(r->out, r->arena, CBX_SKIPPED_FOREIGN, type, r->err);
    }
    r->language = language[0] != '\0' ? language : NULL;
    return 0;
}

static int judge_script(struct reading *r, TSNode raw)
{
    struct cbx_range range = range_of(raw);
    if (r->language == NULL || range.end == range.start) {
        return 0;
    }
    CBX_AUTO_DONE(piece_maker) code;
    cbx_piece_maker_init(&code, r->arena, r->text);
    cbx_piece_maker_take(&code, range.start, range.end);
    return end_piece(r, &code, r->language);
}

/* --- the page --------------------------------------------------------------------------------- */

/* Returns true if a part of the page that the grammar cannot read may have code. */
static bool may_have_code(struct cbx_str part)
{
    static const char *const words[] = { "<script", "javascript:", " on", "\non", "\ton", "/on" };
    for (size_t at = 0; at < part.len; at++) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            size_t len = strlen(words[i]);
            bool same = at + len <= part.len && strncasecmp(part.p + at, words[i], len) == 0;
            bool handler = same && i >= 2;
            size_t end = at + len;
            while (handler && end < part.len && isalpha((unsigned char)part.p[end])) {
                end++;
            }
            if (same && (!handler || (end < part.len && part.p[end] == '='))) {
                return true;
            }
        }
    }
    return false;
}

/* Checks the text between the children of an error, which was not read. */
static int check_gap(struct reading *r, uint32_t start, uint32_t end)
{
    if (end <= start || !may_have_code(cbx_str_sub(r->text, start, end))) {
        return 0;
    }
    return fail(r, start, "HTML that cannot be read, with code in it");
}

static int check_error(struct reading *r, TSNode error)
{
    struct cbx_range range = range_of(error);
    TSTreeCursor cursor = ts_tree_cursor_new(error);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    int failed = 0;
    for (; more && !failed; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        bool read = ts_node_is_named(child) && !ts_node_is_error(child);
        if (read) {
            failed = check_gap(r, range.start, ts_node_start_byte(child));
            range.start = ts_node_end_byte(child);
        }
    }
    ts_tree_cursor_delete(&cursor);
    if (failed) {
        return failed;
    }
    return check_gap(r, range.start, range.end);
}

static int take_node(struct reading *r, TSNode node)
{
    if (ts_node_is_error(node)) {
        return check_error(r, node);
    }
    if (is(node, "start_tag")) {
        return open_tag(r, node);
    }
    if (is(node, "attribute")) {
        return judge_attribute(r, node);
    }
    return is(node, "raw_text") ? judge_script(r, node) : 0;
}

static int read_tree(struct reading *r)
{
    TSTree *tree = cbx_parse_tree(tree_sitter_html(), r->text, cbx_parse_deadline(BUDGET_MS));
    if (tree == NULL) {
        return cbx_fail(r->err, CBX_ETOOBIG, "it could not be read in %d s", BUDGET_MS / 1000);
    }
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    int failed = 0, depth = 0;
    for (bool more = true; more && !failed; more = cbx_tree_move(&cursor, true, &depth)) {
        failed = take_node(r, ts_tree_cursor_current_node(&cursor));
    }
    ts_tree_cursor_delete(&cursor);
    cbx_tree_delete(tree);
    return failed;
}

int cbx_manifest_read_html(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                           struct cbx_err *err)
{
    struct reading r = { .text = text, .arena = arena, .out = out, .err = err };
    *out = (struct cbx_manifest){ .text = text, .code = CBX_MANIFEST_PAGE };
    cbx_tree_memory_begin();
    int failed = read_tree(&r);
    cbx_tree_memory_end();
    return failed;
}
