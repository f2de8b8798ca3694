/* SPDX-License-Identifier: MIT
 * A syntax tree as one array in the order of the text: every later pass is a loop over it, what is
 * known about a node lies in the node, and nothing recurses over the depth of the tree. Made from
 * tree-sitter's tree in one walk, which is the most expensive thing that an analysis does besides
 * parsing. Comments are left out, and tokens ("+", "(") where no kind asks for them. */
#ifndef CBX_ANALYZER_SYNTAX_SYNTAX_H
#define CBX_ANALYZER_SYNTAX_SYNTAX_H

#include "policies/base/arena.h"
#include "policies/base/str.h"

#include <tree_sitter/api.h>

enum cbx_field {
    CBX_FIELD_NONE = 0,
#define CBX_FIELD(name) CBX_FIELD_##name,
#include "analyzer/lang/fields.def"
#undef CBX_FIELD
    CBX_FIELDS
};

struct cbx_scope;
struct cbx_values;

struct cbx_node {
    uint8_t kind;        /* of the language's kinds; 0 is one that its extractor does not know */
    uint8_t field;       /* enum cbx_field, in its parent */
    bool named;          /* false: a token */
    uint8_t retries;     /* how often the memo was forgotten */
    uint32_t start, end; /* bytes of the text */
    bool holds;          /* statements store values in the object that it makes (stored.h) */
    struct cbx_node *parent, *first, *next; /* first child, next sibling; NULL at the end */
    struct cbx_scope *inner;                /* the scope that its children stand in (pass one) */
    const struct cbx_values *memo;          /* what it may be, in the scope that it stands in */
};

/* What a grammar's symbols are to an extractor; filled once per process. */
enum { CBX_SYMBOLS_MAX = 1024, CBX_FIELD_IDS_MAX = 128 };
struct cbx_grammar {
    uint8_t kind[CBX_SYMBOLS_MAX];
    bool named[CBX_SYMBOLS_MAX];
    uint8_t field[CBX_FIELD_IDS_MAX];
    bool tokens[256];  /* by kind: its tokens are kept */
    bool dropped[256]; /* by kind: it is left out */
};

/* `names[i]` is the grammar's name of kind i + 1; one that begins with '+' keeps its tokens, with
 * '-' is left out of trees. */
void cbx_grammar_fill(struct cbx_grammar *grammar, const TSLanguage *language,
                      const char *const *names, size_t count);

struct cbx_syntax {
    struct cbx_node *nodes; /* [0] is the root */
    uint32_t count;
    const struct cbx_node *too_deep; /* the first node whose children were left out for depth */
};

/* At most `depth_max` levels. False when the arena is exhausted. */
bool cbx_syntax_read(const TSTree *tree, const struct cbx_grammar *grammar, int depth_max,
                     struct cbx_arena *arena, struct cbx_syntax *out);

/* The first child of this field; NULL when there is none, or no node. */
struct cbx_node *cbx_child_of(const struct cbx_node *node, enum cbx_field field);
/* The n-th named child, or NULL. */
struct cbx_node *cbx_child_at(const struct cbx_node *node, uint32_t n);
struct cbx_node *cbx_last_child(const struct cbx_node *node);
uint32_t cbx_child_count(const struct cbx_node *node);
/* The first node behind a node and all that is in it; `end` when there is none. */
const struct cbx_node *cbx_node_behind(const struct cbx_node *node, const struct cbx_node *end);

#endif
