/* SPDX-License-Identifier: MIT
 * Converts tree-sitter's tree to an array. */
#include "analyzer/syntax/syntax.h"

#include <src/language.h>
#include <src/tree.h>
#include <string.h>

static void fill_fields(struct cbx_grammar *grammar, const TSLanguage *language)
{
    static const char *const names[] = {
        "",
#define CBX_FIELD(name) #name,
#include "analyzer/lang/fields.def"
#undef CBX_FIELD
    };
    for (uint8_t f = 1; f < CBX_FIELDS; f++) {
        TSFieldId id =
            ts_language_field_id_for_name(language, names[f], (uint32_t)strlen(names[f]));
        if (id > 0 && id < CBX_FIELD_IDS_MAX) {
            grammar->field[id] = f;
        }
    }
}

void cbx_grammar_fill(struct cbx_grammar *grammar, const TSLanguage *language,
                      const char *const *names, size_t count)
{
    uint32_t symbols = ts_language_symbol_count(language);
    for (uint32_t s = 0; s < symbols && s < CBX_SYMBOLS_MAX; s++) {
        grammar->named[s] = ts_language_symbol_type(language, (TSSymbol)s) == TSSymbolTypeRegular;
        for (size_t i = 0; grammar->named[s] && i < count; i++) {
            bool marked = names[i][0] == '+' || names[i][0] == '-';
            if (strcmp(ts_language_symbol_name(language, (TSSymbol)s), names[i] + marked) == 0) {
                grammar->kind[s] = (uint8_t)(i + 1);
                grammar->tokens[i + 1] = names[i][0] == '+';
                grammar->dropped[i + 1] = names[i][0] == '-';
            }
        }
    }
    fill_fields(grammar, language);
}

/* The children of one node of tree-sitter's tree, while the walk is in them. */
struct level {
    struct level *outer, *inner; /* inner: of an earlier descent, for the next one */
    const Subtree *child, *end;  /* the next child; the end of the children */
    const TSSymbol *aliases;     /* by `index`; NULL: none */
    const TSFieldMapEntry *fields, *fields_end;
    struct cbx_node *parent; /* the node whose children these are; NULL: a node that is hidden */
    uint32_t index;          /* of the next child, without comments and other extras */
    uint32_t at;             /* byte behind the child before */
    uint8_t field;           /* of a hidden node: a child without a field has this one */
};

/* The state of one walk. */
struct reading {
    const TSLanguage *language;
    const struct cbx_grammar *grammar;
    struct cbx_arena *arena;
    struct cbx_syntax *out;
    uint32_t size; /* of out->nodes */
    int depth, depth_max;
    struct level *level;
    struct cbx_node *parent, **link; /* link: the pointer to the next node that is kept */
};

/* The field of the next child. Extras have none. */
static uint8_t read_field(const struct reading *r, const struct level *level, Subtree child)
{
    if (ts_subtree_extra(child)) {
        return 0;
    }
    for (const TSFieldMapEntry *f = level->fields; f < level->fields_end; f++) {
        if (!f->inherited && f->child_index == level->index) {
            return f->field_id < CBX_FIELD_IDS_MAX ? r->grammar->field[f->field_id] : 0;
        }
    }
    return level->field;
}

/* Goes to the children of a node. `parent` is NULL when the node is hidden. False when the arena is
 * exhausted. */
static bool enter(struct reading *r, Subtree node, uint32_t start, struct cbx_node *parent,
                  uint8_t field)
{
    struct level *level = r->level != NULL ? r->level->inner : NULL;
    if (level == NULL) {
        level = cbx_arena_alloc(r->arena, sizeof(*level));
        if (level == NULL) {
            return false;
        }
        level->outer = r->level;
        if (r->level != NULL) {
            r->level->inner = level;
        }
    }
    level->child = ts_subtree_children(node);
    level->end = level->child + ts_subtree_child_count(node);
    level->aliases = ts_language_alias_sequence(r->language, node.ptr->production_id);
    ts_language_field_map(r->language, node.ptr->production_id, &level->fields, &level->fields_end);
    level->parent = parent;
    level->index = 0;
    level->at = start - ts_subtree_padding(node).bytes; /* its first child has the same padding */
    level->field = field;
    r->level = level;
    if (parent != NULL) {
        r->parent = parent;
        r->link = &parent->first;
        r->depth++;
    }
    return true;
}

static void leave(struct reading *r)
{
    struct cbx_node *parent = r->level->parent;
    if (parent != NULL) {
        r->parent = parent->parent;
        r->link = &parent->next;
        r->depth--;
    }
    r->level = r->level->outer;
}

/* Adds a node to the array, or returns NULL when it is left out. */
static struct cbx_node *keep(struct reading *r, TSSymbol internal)
{
    TSSymbol symbol = ts_language_public_symbol(r->language, internal);
    bool known = symbol < CBX_SYMBOLS_MAX; /* an ERROR node is not */
    bool named = !known || r->grammar->named[symbol];
    uint8_t kind = known ? r->grammar->kind[symbol] : 0;
    bool kept = named ? !r->grammar->dropped[kind]
                      : r->parent != NULL && r->grammar->tokens[r->parent->kind];
    if (!kept || r->out->count == r->size) {
        return NULL;
    }
    struct cbx_node *node = &r->out->nodes[r->out->count++];
    node->kind = kind;
    node->named = named;
    node->parent = r->parent;
    *r->link = node;
    r->link = &node->next;
    return node;
}

/* Reads a node that is not hidden, and enters it when it has children. */
static bool read_node(struct reading *r, Subtree tree, TSSymbol symbol, uint32_t start,
                      uint8_t field)
{
    struct cbx_node *node = keep(r, symbol);
    if (node == NULL) {
        return true;
    }
    node->field = field;
    node->start = start;
    node->end = start + ts_subtree_size(tree).bytes;
    if (ts_subtree_visible_child_count(tree) == 0) {
        return true;
    }
    if (r->depth >= r->depth_max) {
        r->out->too_deep = r->out->too_deep != NULL ? r->out->too_deep : node;
        return true;
    }
    return enter(r, tree, start, node, 0);
}

static bool read_child(struct reading *r)
{
    struct level *level = r->level;
    Subtree child = *level->child++;
    uint32_t start = level->at + ts_subtree_padding(child).bytes;
    level->at = start + ts_subtree_size(child).bytes;
    bool extra = ts_subtree_extra(child);
    TSSymbol alias = level->aliases != NULL && !extra ? level->aliases[level->index] : 0;
    bool hidden = alias == 0 && !ts_subtree_visible(child);
    uint8_t field = read_field(r, level, child);
    level->index += !extra;
    if (!hidden) {
        return read_node(r, child, alias != 0 ? alias : ts_subtree_symbol(child), start, field);
    }
    return ts_subtree_visible_child_count(child) == 0 || enter(r, child, start, NULL, field);
}

/* Reads tree-sitter's own structures: with its cursor the same walk costs a fifth of the parse,
 * because the cursor counts lines and columns, and begins anew at the parent for each sibling. */
bool cbx_syntax_read(const TSTree *tree, const struct cbx_grammar *grammar, int depth_max,
                     struct cbx_arena *arena, struct cbx_syntax *out)
{
    uint32_t size = ts_node_descendant_count(ts_tree_root_node(tree)) + 1;
    struct cbx_node *nodes = cbx_arena_array(arena, size, sizeof(*nodes)), *root = NULL;
    *out = (struct cbx_syntax){ .nodes = nodes };
    if (nodes == NULL) {
        return false;
    }
    struct reading r = { .language = tree->language,
                         .grammar = grammar,
                         .arena = arena,
                         .out = out,
                         .size = size,
                         .depth_max = depth_max,
                         .link = &root };
    bool read = read_node(&r, tree->root, ts_subtree_symbol(tree->root),
                          ts_subtree_padding(tree->root).bytes, 0);
    while (read && r.level != NULL) {
        if (r.level->child == r.level->end) {
            leave(&r);
        } else {
            read = read_child(&r);
        }
    }
    return read;
}

struct cbx_node *cbx_child_of(const struct cbx_node *node, enum cbx_field field)
{
    struct cbx_node *child = node != NULL ? node->first : NULL;
    while (child != NULL && child->field != field) {
        child = child->next;
    }
    return child;
}

struct cbx_node *cbx_child_at(const struct cbx_node *node, uint32_t n)
{
    struct cbx_node *child = node != NULL ? node->first : NULL;
    while (child != NULL && (!child->named || n-- > 0)) {
        child = child->next;
    }
    return child;
}

struct cbx_node *cbx_last_child(const struct cbx_node *node)
{
    struct cbx_node *last = NULL;
    for (struct cbx_node *child = node != NULL ? node->first : NULL; child != NULL;
         child = child->next) {
        last = child->named ? child : last;
    }
    return last;
}

uint32_t cbx_child_count(const struct cbx_node *node)
{
    uint32_t count = 0;
    for (const struct cbx_node *child = node != NULL ? node->first : NULL; child != NULL;
         child = child->next) {
        count += child->named;
    }
    return count;
}

const struct cbx_node *cbx_node_behind(const struct cbx_node *node, const struct cbx_node *end)
{
    while (node != NULL && node->next == NULL) {
        node = node->parent;
    }
    return node != NULL ? node->next : end;
}
