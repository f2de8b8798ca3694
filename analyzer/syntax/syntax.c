/* SPDX-License-Identifier: MIT
 * tree-sitter's tree to an array. */
#include "analyzer/syntax/syntax.h"

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

/* The node under the cursor, or false when it is left out. */
static bool take_node(TSTreeCursor *cursor, const struct cbx_grammar *grammar,
                      struct cbx_node *parent, struct cbx_node *out)
{
    TSNode node = ts_tree_cursor_current_node(cursor);
    TSSymbol symbol = ts_node_symbol(node);
    bool known = symbol < CBX_SYMBOLS_MAX; /* an ERROR node is not */
    bool named = !known || grammar->named[symbol];
    uint8_t kind = known ? grammar->kind[symbol] : 0;
    bool kept = named ? !grammar->dropped[kind] : parent != NULL && grammar->tokens[parent->kind];
    if (!kept) {
        return false;
    }
    TSFieldId field = ts_tree_cursor_current_field_id(cursor);
    *out = (struct cbx_node){ .kind = kind,
                              .field = field < CBX_FIELD_IDS_MAX ? grammar->field[field] : 0,
                              .named = named,
                              .start = ts_node_start_byte(node),
                              .end = ts_node_end_byte(node),
                              .parent = parent };
    return true;
}

bool cbx_syntax_read(const TSTree *tree, const struct cbx_grammar *grammar, int depth_max,
                     struct cbx_arena *arena, struct cbx_syntax *out)
{
    TSNode root = ts_tree_root_node(tree);
    uint32_t size = ts_node_descendant_count(root) + 1;
    struct cbx_node *nodes = cbx_arena_array(arena, size, sizeof(*nodes));
    *out = (struct cbx_syntax){ .nodes = nodes };
    if (nodes == NULL) {
        return false;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    struct cbx_node *parent = NULL, *before = NULL; /* the sibling before */
    for (int depth = 0;;) {
        struct cbx_node *node = &nodes[out->count];
        bool kept = out->count < size && take_node(&cursor, grammar, parent, node);
        if (kept) {
            out->count++;
            *(before != NULL ? &before->next : parent != NULL ? &parent->first : &before) = node;
            before = node;
            if (depth >= depth_max &&
                ts_node_child_count(ts_tree_cursor_current_node(&cursor)) > 0) {
                out->too_deep = out->too_deep != NULL ? out->too_deep : node;
            } else if (ts_tree_cursor_goto_first_child(&cursor)) {
                parent = node;
                before = NULL;
                depth++;
                continue;
            }
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (depth == 0 || !ts_tree_cursor_goto_parent(&cursor)) {
                ts_tree_cursor_delete(&cursor);
                return true;
            }
            depth--;
            before = parent;
            parent = parent->parent;
        }
    }
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
