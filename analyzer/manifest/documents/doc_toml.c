/* SPDX-License-Identifier: MIT
 * TOML as a tree. tree-sitter's grammar reads the text; this file joins tables that are written in
 * parts, and refuses where it matters what the grammar accepts and TOML does not: a value that is
 * replaced by a table, and a table that is replaced by a value. */
#include "analyzer/manifest/documents/doc.h"

#include "analyzer/parse.h"
#include "analyzer/syntax/tree_memory.h"
#include "policies/base/table.h"

#include <utf8proc.h>

const TSLanguage *tree_sitter_toml(void);

enum { BUDGET_MS = 20000 };

/* An entry of a map, in the chain of those whose keys have one hash. */
struct named {
    struct cbx_doc_node *entry;
    struct named *next;
};

struct reading {
    struct cbx_doc_maker maker;
    struct cbx_doc doc;
    /* (map, hash of a key) -> struct named, of the maps in which a key was searched; (map, 0) ->
     * the last entry of the map that is in `names` */
    struct cbx_table names, last_named;
};

static int fail(struct reading *r, TSNode at, const char *what)
{
    return cbx_manifest_fail(r->maker.file, ts_node_start_byte(at), what, r->maker.err);
}

static bool is(TSNode node, const char *type)
{
    return strcmp(ts_node_type(node), type) == 0;
}

/* --- strings ---------------------------------------------------------------------------------- */

static uint32_t hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0');
    }
    return (uint32_t)((c | 0x20) - 'a' + 10);
}

/* Appends the character of the escape at `at`; returns the place behind it. The grammar has
 * checked it. */
static size_t put_escape(struct cbx_str raw, size_t at, struct cbx_buf *out)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\n\"\\";
    char c = at + 1 < raw.len ? raw.p[at + 1] : '\\';
    const char *known = memchr(from, c, sizeof(from) - 1);
    if (known != NULL) {
        cbx_buf_add_char(out, to[known - from]);
        return at + 2;
    }
    /* the line ends here: the following blanks are not part of the text */
    if (c != 'u' && c != 'U') {
        at++;
        while (at < raw.len && strchr(" \t\n", raw.p[at]) != NULL) {
            at++;
        }
        return at;
    }
    size_t digits = c == 'u' ? 4 : 8;
    uint32_t code = 0;
    for (size_t i = at + 2; i < at + 2 + digits && i < raw.len; i++) {
        code = code * 16 + hex_digit(raw.p[i]);
    }
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = 0;
    if (utf8proc_codepoint_valid((utf8proc_int32_t)code)) {
        n = utf8proc_encode_char((utf8proc_int32_t)code, bytes);
    }
    if (n > 0) {
        cbx_buf_add_bytes(out, bytes, (size_t)n);
    } else {
        cbx_buf_add_cstr(out, "\xEF\xBF\xBD");
    }
    return at + 2 + digits;
}

static struct cbx_str decode(struct reading *r, struct cbx_str raw)
{
    if (raw.len == 0 || memchr(raw.p, '\\', raw.len) == NULL) {
        return raw.len > 0 ? raw : CBX_STR("");
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_MANIFEST_MAX_BYTES);
    for (size_t at = 0; at < raw.len;) {
        if (raw.p[at] == '\\') {
            at = put_escape(raw, at, &text);
        } else {
            cbx_buf_add_char(&text, raw.p[at++]);
        }
    }
    return cbx_arena_copy(r->maker.arena, cbx_buf_str(&text));
}

/* Determines the span of a string without its quotes, and its notation. */
static struct cbx_range inside(const struct reading *r, TSNode string, enum cbx_doc_style *style)
{
    struct cbx_range range = { ts_node_start_byte(string), ts_node_end_byte(string) };
    struct cbx_str raw = cbx_str_sub(r->maker.file, range.start, range.end);
    *style = raw.len > 0 && raw.p[0] == '"' ? CBX_DOC_ESCAPED : CBX_DOC_VERBATIM;
    bool three = raw.len >= 6 &&
                 (cbx_str_starts(raw, CBX_STR("\"\"\"")) || cbx_str_starts(raw, CBX_STR("'''")));
    uint32_t quotes = three ? 3 : 1;
    range.start += quotes;
    range.end -= quotes;
    bool feed = three && range.start < range.end && r->maker.file.p[range.start] == '\n';
    range.start += feed; /* the first line feed is not part of the text */
    return range;
}

static struct cbx_str read_key(struct reading *r, TSNode key)
{
    struct cbx_range range = { ts_node_start_byte(key), ts_node_end_byte(key) };
    enum cbx_doc_style style = CBX_DOC_VERBATIM;
    if (is(key, "quoted_key")) {
        range = inside(r, key, &style);
    }
    struct cbx_str raw = cbx_str_sub(r->maker.file, range.start, range.end);
    struct cbx_str text = style == CBX_DOC_ESCAPED ? decode(r, raw) : raw;
    return text.p != NULL ? text : CBX_STR("");
}

/* --- keys and tables -------------------------------------------------------------------------- */

static void set_key(struct reading *r, struct cbx_doc_node *node, TSNode key)
{
    node->key = read_key(r, key);
    node->key_start = ts_node_start_byte(key);
    node->key_end = ts_node_end_byte(key);
}

static int fail_memory(struct reading *r)
{
    return cbx_fail(r->maker.err, CBX_ETOOBIG, "out of the analysis's memory");
}

static int add_name(struct reading *r, const struct cbx_doc_node *map, struct cbx_doc_node *entry)
{
    struct named *named = cbx_arena_alloc(r->maker.arena, sizeof(*named));
    void **first = cbx_table_slot(r->maker.arena, &r->names, map, cbx_name_hash(entry->key));
    if (named == NULL || r->names.size <= r->names.count + 1) {
        return fail_memory(r);
    }
    *named = (struct named){ entry, *first };
    *first = named;
    return 0;
}

/* Searches the entry of this key; *out is NULL if there is none. A map is entered into the table
 * when it is searched first, and its further entries when it is searched again. */
static int find(struct reading *r, const struct cbx_doc_node *map, struct cbx_str key,
                struct cbx_doc_node **out)
{
    void **last = cbx_table_slot(r->maker.arena, &r->last_named, map, 0);
    struct cbx_doc_node *entry = *last != NULL ? ((struct cbx_doc_node *)*last)->next : map->first;
    for (; entry != NULL; entry = entry->next) {
        int failed = add_name(r, map, entry);
        if (failed) {
            return failed;
        }
        *last = entry;
    }
    const struct named *named = cbx_table_find(&r->names, map, cbx_name_hash(key));
    while (named != NULL && !cbx_str_equal(named->entry->key, key)) {
        named = named->next;
    }
    *out = named != NULL ? named->entry : NULL;
    return r->last_named.size > 0 ? 0 : fail_memory(r);
}

/* Enters the table of this name in `map`, or the last one of a list of tables; makes it if it is
 * missing. */
static int enter_table(struct reading *r, struct cbx_doc_node **map, TSNode key)
{
    struct cbx_doc_node *entry;
    int failed = find(r, *map, read_key(r, key), &entry);
    if (failed) {
        return failed;
    }
    if (entry == NULL) {
        entry = cbx_doc_add(&r->maker, *map, CBX_DOC_MAP, ts_node_start_byte(key),
                            ts_node_end_byte(key));
        if (entry == NULL) {
            return CBX_ETOOBIG;
        }
        set_key(r, entry, key);
    }
    if (entry->kind == CBX_DOC_LIST && entry->last != NULL) {
        entry = entry->last;
    }
    *map = entry;
    if (entry->kind != CBX_DOC_MAP) {
        return fail(r, key, "this key is no table above");
    }
    return 0;
}

/* Adds a table to the list of this name. */
static int add_item(struct reading *r, struct cbx_doc_node **map, TSNode key)
{
    uint32_t start = ts_node_start_byte(key), end = ts_node_end_byte(key);
    struct cbx_doc_node *list;
    int failed = find(r, *map, read_key(r, key), &list);
    if (failed) {
        return failed;
    }
    if (list == NULL) {
        list = cbx_doc_add(&r->maker, *map, CBX_DOC_LIST, start, end);
        if (list == NULL) {
            return CBX_ETOOBIG;
        }
        set_key(r, list, key);
    }
    if (list->kind != CBX_DOC_LIST) {
        return fail(r, key, "this key is no list of tables above");
    }
    *map = cbx_doc_add(&r->maker, list, CBX_DOC_MAP, start, end);
    return *map != NULL ? 0 : CBX_ETOOBIG;
}

/* The names of a key: a.b.c is ((a.b).c). Enters the tables of all but the last, which is *last. */
static int enter_keys(struct reading *r, struct cbx_doc_node **map, TSNode key, TSNode *last)
{
    TSNode names[CBX_DOC_DEPTH_MAX];
    size_t count = 0;
    while (is(key, "dotted_key")) {
        if (count == CBX_DOC_DEPTH_MAX - 1 || ts_node_named_child_count(key) < 2) {
            return fail(r, key, "a key of too many names");
        }
        names[count++] = ts_node_named_child(key, ts_node_named_child_count(key) - 1);
        key = ts_node_named_child(key, 0);
    }
    names[count++] = key;
    *last = names[0];
    while (--count > 0) {
        int failed = enter_table(r, map, names[count]);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

/* --- values ----------------------------------------------------------------------------------- */

static int read_pair(struct reading *r, struct cbx_doc_node *map, TSNode pair, int depth);

static int read_value(struct reading *r, struct cbx_doc_node *parent, TSNode value, int depth,
                      struct cbx_doc_node **out)
{
    uint32_t start = ts_node_start_byte(value), end = ts_node_end_byte(value);
    enum cbx_doc_kind kind = CBX_DOC_OTHER;
    if (is(value, "string")) {
        kind = CBX_DOC_TEXT;
    } else if (is(value, "array")) {
        kind = CBX_DOC_LIST;
    } else if (is(value, "inline_table")) {
        kind = CBX_DOC_MAP;
    }
    struct cbx_doc_node *node = cbx_doc_add(&r->maker, parent, kind, start, end);
    *out = node;
    if (node == NULL) {
        return CBX_ETOOBIG;
    }
    if (depth == CBX_DOC_DEPTH_MAX) {
        return fail(r, value, "a value that is nested too deep");
    }
    if (kind == CBX_DOC_OTHER) {
        node->text = cbx_str_sub(r->maker.file, start, end);
        return 0;
    }
    if (kind == CBX_DOC_TEXT) {
        struct cbx_range range = inside(r, value, &node->style);
        node->start = range.start;
        node->end = range.end;
        struct cbx_str raw = cbx_str_sub(r->maker.file, range.start, range.end);
        node->text = node->style == CBX_DOC_ESCAPED ? decode(r, raw) : raw;
        return 0;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(value);
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    int failed = 0;
    for (; more && !failed; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        struct cbx_doc_node *item;
        if (!ts_node_is_named(child) || is(child, "comment")) {
            continue;
        }
        if (kind == CBX_DOC_MAP) {
            failed = read_pair(r, node, child, depth + 1);
        } else {
            failed = read_value(r, node, child, depth + 1, &item);
        }
    }
    ts_tree_cursor_delete(&cursor);
    return failed;
}

static int read_pair(struct reading *r, struct cbx_doc_node *map, TSNode pair, int depth)
{
    TSNode last;
    struct cbx_doc_node *node;
    TSNode key = ts_node_named_child(pair, 0);
    TSNode value = ts_node_named_child(pair, 1);
    if (ts_node_is_null(key) || ts_node_is_null(value)) {
        return fail(r, pair, "no TOML");
    }
    int failed = enter_keys(r, &map, key, &last);
    if (failed) {
        return failed;
    }
    failed = read_value(r, map, value, depth, &node);
    if (failed) {
        return failed;
    }
    set_key(r, node, last);
    return 0;
}

/* Reads [a.b] and [[a.b]] with the pairs below. */
static int read_table(struct reading *r, TSTreeCursor *cursor, bool item)
{
    struct cbx_doc_node *map = r->doc.root;
    TSNode last;
    int failed = 0;
    bool named = false;
    bool more = ts_tree_cursor_goto_first_child(cursor);
    for (; more && !failed; more = ts_tree_cursor_goto_next_sibling(cursor)) {
        TSNode child = ts_tree_cursor_current_node(cursor);
        if (!ts_node_is_named(child) || is(child, "comment")) {
            continue;
        }
        if (named) {
            failed = read_pair(r, map, child, 0);
            continue;
        }
        named = true;
        failed = enter_keys(r, &map, child, &last);
        if (!failed) {
            failed = item ? add_item(r, &map, last) : enter_table(r, &map, last);
        }
    }
    ts_tree_cursor_goto_parent(cursor);
    return failed;
}

static int read_document(struct reading *r, TSNode root)
{
    r->doc.root = cbx_doc_add(&r->maker, NULL, CBX_DOC_MAP, 0, 0);
    if (r->doc.root == NULL) {
        return CBX_ETOOBIG;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int failed = 0;
    bool more = ts_tree_cursor_goto_first_child(&cursor);
    for (; more && !failed; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (is(child, "pair")) {
            failed = read_pair(r, r->doc.root, child, 0);
        } else if (is(child, "table") || is(child, "table_array_element")) {
            failed = read_table(r, &cursor, is(child, "table_array_element"));
        }
    }
    ts_tree_cursor_delete(&cursor);
    return failed;
}

/* Enters the first child with an error; false if there is none. */
static bool enter_error(TSTreeCursor *cursor)
{
    if (!ts_tree_cursor_goto_first_child(cursor)) {
        return false;
    }
    while (!ts_node_has_error(ts_tree_cursor_current_node(cursor))) {
        if (!ts_tree_cursor_goto_next_sibling(cursor)) {
            return false;
        }
    }
    return true;
}

/* Returns the first node that the grammar could not read. */
static TSNode find_error(TSNode root)
{
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    TSNode node = root;
    while (!ts_node_is_error(node) && !ts_node_is_missing(node) && enter_error(&cursor)) {
        node = ts_tree_cursor_current_node(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
    return node;
}

static int read_tree(struct reading *r, int64_t deadline)
{
    TSTree *tree = cbx_parse_tree(tree_sitter_toml(), r->maker.file, deadline);
    if (tree == NULL) {
        return cbx_fail(r->maker.err, CBX_ETOOBIG, "it could not be read in %d s",
                        BUDGET_MS / 1000);
    }
    TSNode root = ts_tree_root_node(tree);
    int failed = 0;
    if (ts_node_has_error(root)) {
        failed = fail(r, find_error(root), "no TOML");
    } else {
        failed = read_document(r, root);
    }
    cbx_tree_delete(tree);
    return failed;
}

int cbx_doc_read_toml(struct cbx_str file, struct cbx_arena *arena, struct cbx_doc *out,
                      struct cbx_err *err)
{
    struct reading r = { .maker = { .file = file, .arena = arena, .err = err },
                         .doc = { .file = file } };
    cbx_tree_memory_begin();
    int failed = read_tree(&r, cbx_parse_deadline(BUDGET_MS));
    cbx_tree_memory_end();
    if (!failed) {
        *out = r.doc;
    }
    return failed;
}
