/* SPDX-License-Identifier: MIT
 * Trees of JSON, TOML and YAML: paths, and places of texts. */
#include "analyzer/manifest/documents/doc.h"

enum { PATH_NAMES_MAX = 8 };

struct cbx_doc_node *cbx_doc_add(struct cbx_doc_maker *maker, struct cbx_doc_node *parent,
                                 enum cbx_doc_kind kind, uint32_t start, uint32_t end)
{
    struct cbx_doc_node *node = NULL;
    if (++maker->nodes <= CBX_DOC_NODES_MAX) {
        node = cbx_arena_alloc(maker->arena, sizeof(*node));
    }
    if (node == NULL) {
        cbx_fail(maker->err, CBX_ETOOBIG, "more values than are read, allowed are %d",
                 CBX_DOC_NODES_MAX);
        return NULL;
    }
    node->kind = kind;
    node->start = start;
    node->end = end;
    if (parent != NULL && parent->last != NULL) {
        parent->last->next = node;
    } else if (parent != NULL) {
        parent->first = node;
    }
    if (parent != NULL) {
        parent->last = node;
    }
    return node;
}

const struct cbx_doc_node *cbx_doc_get(const struct cbx_doc_node *map, const char *key)
{
    if (map == NULL || map->kind != CBX_DOC_MAP) {
        return NULL;
    }
    const struct cbx_doc_node *entry = map->first;
    while (entry != NULL && !cbx_str_is(entry->key, key)) {
        entry = entry->next;
    }
    return entry;
}

struct cbx_str cbx_doc_text(const struct cbx_doc_node *map, const char *key)
{
    const struct cbx_doc_node *entry = cbx_doc_get(map, key);
    return entry != NULL && entry->kind == CBX_DOC_TEXT ? entry->text : CBX_STR("");
}

const char *cbx_doc_kind_name(enum cbx_doc_kind kind)
{
    static const char *const names[] = {
        [CBX_DOC_OTHER] = "a value that is no text",
        [CBX_DOC_TEXT] = "a text",
        [CBX_DOC_MAP] = "a table",
        [CBX_DOC_LIST] = "a list",
    };
    return names[kind];
}

int cbx_doc_fail(const struct cbx_doc *doc, const struct cbx_doc_node *node, const char *what,
                 struct cbx_err *err)
{
    uint32_t place = node->key.p != NULL ? node->key_start : node->start;
    return cbx_manifest_fail(doc->file, place, what, err);
}

/* --- paths ------------------------------------------------------------------------------------ */

struct step {
    struct cbx_str name; /* "*": each key */
    bool items;          /* and each item of the list there */
};

struct walk {
    const struct cbx_doc *doc;
    struct step steps[PATH_NAMES_MAX];
    size_t count;
    int (*take)(void *context, const struct cbx_doc_node *node);
    void *context;
    struct cbx_err *err;
};

static void read_path(const char *path, struct walk *w)
{
    struct cbx_str rest = cbx_str_of(path);
    while (rest.len > 0 && w->count < PATH_NAMES_MAX) {
        const char *dot = memchr(rest.p, '.', rest.len);
        struct cbx_str name = cbx_str_sub(rest, 0, dot != NULL ? (size_t)(dot - rest.p) : rest.len);
        rest = cbx_str_sub(rest, name.len + 1, rest.len);
        bool items = cbx_str_ends(name, CBX_STR("[]"));
        name.len -= items ? 2 : 0;
        w->steps[w->count++] = (struct step){ name, items };
    }
}

/* YAML has null where nothing is written: "script:". */
static bool is_absent(const struct cbx_doc_node *node)
{
    return node->kind == CBX_DOC_OTHER &&
           (node->text.len == 0 || cbx_str_is(node->text, "null") || cbx_str_is(node->text, "~"));
}

static int fail_kind(struct walk *w, const struct cbx_doc_node *node, const char *allowed)
{
    char what[160];
    snprintf(what, sizeof(what), "'%.*s' is %s, allowed is %s",
             (int)(node->key.len > 60 ? 60 : node->key.len), cbx_str_bytes(node->key),
             cbx_doc_kind_name(node->kind), allowed);
    return cbx_doc_fail(w->doc, node, what, w->err);
}

static int walk_from(struct walk *w, size_t step, const struct cbx_doc_node *node);

static int enter(struct walk *w, size_t step, const struct cbx_doc_node *node)
{
    if (!w->steps[step].items) {
        return walk_from(w, step + 1, node);
    }
    if (is_absent(node)) {
        return 0;
    }
    if (node->kind != CBX_DOC_LIST) {
        return fail_kind(w, node, "a list");
    }
    int failed = 0;
    for (const struct cbx_doc_node *item = node->first; item != NULL && !failed;
         item = item->next) {
        failed = walk_from(w, step + 1, item);
    }
    return failed;
}

/* Recursion ends with the names of the path. */
static int walk_from(struct walk *w, size_t step, const struct cbx_doc_node *node)
{
    if (step == w->count) {
        return w->take(w->context, node);
    }
    if (is_absent(node)) {
        return 0;
    }
    if (node->kind != CBX_DOC_MAP) {
        return fail_kind(w, node, "a table");
    }
    bool each = cbx_str_is(w->steps[step].name, "*");
    int failed = 0;
    for (const struct cbx_doc_node *entry = node->first; entry != NULL && !failed;
         entry = entry->next) {
        if (each || cbx_str_equal(entry->key, w->steps[step].name)) {
            failed = enter(w, step, entry);
        }
    }
    return failed;
}

int cbx_doc_each(const struct cbx_doc *doc, const char *path,
                 int (*take)(void *context, const struct cbx_doc_node *node), void *context,
                 struct cbx_err *err)
{
    struct walk w = { .doc = doc, .take = take, .context = context, .err = err };
    read_path(path, &w);
    return doc->root != NULL ? walk_from(&w, 0, doc->root) : 0;
}

/* --- places of texts -------------------------------------------------------------------------- */

/* The bytes of a text are followed in the file, in order. A byte that cannot be followed gets
 * the place where the search stands: places are shown, what is judged is the decoded text. */
struct following {
    struct cbx_str file;
    uint32_t at, end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* The length of an escape, from its backslash on; JSON has \uD83D\uDE00 for one character. */
static uint32_t escape_bytes(const struct following *f)
{
    char c = f->at + 1 < f->end ? f->file.p[f->at + 1] : '\0';
    uint32_t digits = 0;
    bool pair = c == 'u' && f->at + 12 <= f->end && (f->file.p[f->at + 2] | 0x20) == 'd' &&
                strchr("89abAB", f->file.p[f->at + 3]) != NULL && f->file.p[f->at + 6] == '\\';
    if (pair) {
        return 12;
    }
    if (c == 'x') {
        digits = 2;
    } else if (c == 'u') {
        digits = 4;
    } else if (c == 'U') {
        digits = 8;
    }
    return 2 + digits;
}

/* Moves to where the next byte of the text may be written. */
static void skip_unwritten(struct following *f, enum cbx_doc_style style, char c)
{
    bool joined = style == CBX_DOC_ESCAPED && f->at + 1 < f->end && f->file.p[f->at] == '\\' &&
                  is_blank(f->file.p[f->at + 1]);
    f->at += joined;
    while (f->at < f->end && (joined || f->file.p[f->at] != c) && is_blank(f->file.p[f->at])) {
        f->at++;
    }
}

void cbx_doc_take(struct cbx_piece_maker *maker, const struct cbx_doc_node *text)
{
    struct following f = { .file = maker->file, .at = text->start, .end = text->end };
    for (size_t i = 0; i < text->text.len; i++) {
        char c = text->text.p[i];
        bool more = cbx_utf8_continues(c); /* of a character: it goes with its first byte */
        if (!more) {
            skip_unwritten(&f, text->style, c);
        }
        uint32_t place = f.at < f.end ? f.at : f.end;
        bool same = f.at < f.end && f.file.p[f.at] == c;
        bool escape = f.at < f.end && f.file.p[f.at] == '\\' && text->style == CBX_DOC_ESCAPED;
        cbx_piece_maker_put(maker, cbx_str_sub(text->text, i, i + 1), place);
        if (escape && !more) {
            f.at += escape_bytes(&f);
        } else if (same) {
            f.at++;
            f.at += text->style == CBX_DOC_QUOTED && c == '\'';
        }
    }
}
