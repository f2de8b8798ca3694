/* SPDX-License-Identifier: MIT
 * Scopes and bindings: which name is bound where, and to what. Shared by the extractors; flow does
 * not count, a name may be anything that it is bound to anywhere in its scope. All of it lives in
 * the request's arena. */
#ifndef CBX_ANALYZER_LANG_SCOPE_H
#define CBX_ANALYZER_LANG_SCOPE_H

#include "analyzer/lang.h"
#include "analyzer/value.h"

enum cbx_bind {
    CBX_BIND_NAME,
    CBX_BIND_EXPR,
    CBX_BIND_ITEM,
    CBX_BIND_MEMBER,
    CBX_BIND_FUNCTION,
    CBX_BIND_UNKNOWN,
    CBX_BIND_GLOBAL,
    CBX_BIND_KEY
};

struct cbx_scope;
struct cbx_binding {
    enum cbx_bind kind;
    struct cbx_str name, qualified;
    struct cbx_scope *scope, *where; /* bound in; evaluated in */
    TSNode node;
    uint32_t index;
    struct cbx_binding *next;      /* another binding of the same name */
    const struct cbx_values *memo; /* of the whole chain, on its first */
    bool busy;
};

struct cbx_scope {
    struct cbx_scope *parent;
    enum { CBX_SCOPE_MODULE, CBX_SCOPE_FUNCTION, CBX_SCOPE_CLASS, CBX_SCOPE_COMPREHENSION } kind;
    const void *node; /* id of the node that opens it */
    struct cbx_return {
        TSNode node;
        struct cbx_return *next;
    } * returns;
};

/* A hash table from two words to one pointer. */
struct cbx_table {
    struct cbx_slot {
        const void *a;
        uint64_t b;
        void *value;
    } * slots;
    size_t count, size;
};

struct cbx_walk {
    struct cbx_parsed *parsed;
    struct cbx_arena *arena;
    struct cbx_facts *facts;
    const char *src;
    struct cbx_scope *module;
    struct cbx_table bindings; /* (scope, hash of name) -> chain; scope NULL: attributes of objects,
                                  by their name */
    struct cbx_table scopes;   /* node id -> scope */
    struct cbx_table memo;     /* (node id, scope) -> values */
    /* The evaluator of the language, and how it reads a member (for CBX_BIND_KEY; `qualified` holds
     * "key" or "key.key"). */
    const struct cbx_values *(*eval)(struct cbx_walk *walk, TSNode node, struct cbx_scope *scope);
    const struct cbx_values *(*member)(struct cbx_walk *walk, const struct cbx_values *object,
                                       struct cbx_str key);
    struct cbx_strs stars;
    struct cbx_str star_items[16];
    int depth;
    uint32_t steps;
};

uint64_t cbx_name_hash(struct cbx_str text);

/* What is at (a, b); NULL when nothing is. */
void *cbx_table_find(const struct cbx_table *table, const void *a, uint64_t b);

/* The place of (a, b) in the table; what it holds is NULL until it is set. When the arena is
 * exhausted it is a place that nobody reads. */
void **cbx_table_slot(struct cbx_walk *walk, struct cbx_table *table, const void *a, uint64_t b);

/* Binds `name` in `scope` (NULL: as an attribute of any object); NULL when the arena is exhausted.
 */
struct cbx_binding *cbx_scope_bind(struct cbx_walk *walk, struct cbx_scope *scope,
                                   struct cbx_scope *where, struct cbx_str name, enum cbx_bind kind,
                                   TSNode node);

/* A scope that `node` opens. */
struct cbx_scope *cbx_scope_open(struct cbx_walk *walk, struct cbx_scope *parent, TSNode node,
                                 int kind);

/* The scope that a node opens, or `otherwise`. */
struct cbx_scope *cbx_scope_of(struct cbx_walk *walk, TSNode node, struct cbx_scope *otherwise);

/* Notes an expression that a function returns. */
void cbx_scope_return(struct cbx_walk *walk, struct cbx_scope *scope, TSNode node);

/* Everything that a name may be in one scope; NULL when the scope does not bind it. Scope NULL: as
 * an attribute of any object. */
const struct cbx_values *cbx_scope_lookup(struct cbx_walk *walk, struct cbx_scope *scope,
                                          struct cbx_str name);

/* `eval_kind` behind a memo and the bounds on depth and steps; whatever is beyond them is
 * "anything". Never NULL. */
const struct cbx_values *cbx_scope_eval(struct cbx_walk *walk, TSNode node, struct cbx_scope *scope,
                                        const struct cbx_values *(*eval_kind)(struct cbx_walk *,
                                                                              TSNode,
                                                                              struct cbx_scope *));

/* A row of a table of names. */
struct cbx_name_row {
    const char *name, *text;
    int number;
};

/* The row of this name, or an empty one (text NULL, number 0). Never NULL. */
const struct cbx_name_row *cbx_name_find(const struct cbx_name_row *rows, size_t count,
                                         struct cbx_str name);

/* Numbers of a grammar's named node types: out[symbol] = 1 + the index of its name in `names`, 0
 * when it is not among them. */
enum { CBX_SYMBOLS_MAX = 1024 };
void cbx_kinds_fill(const TSLanguage *language, const char *const *names, size_t count,
                    uint8_t out[CBX_SYMBOLS_MAX]);

enum cbx_field {
#define CBX_FIELD(name) CBX_FIELD_##name,
#include "analyzer/lang/fields.def"
#undef CBX_FIELD
    CBX_FIELDS
};

/* The child of this field; a null node when there is none, or when the node's language has no such
 * field. */
TSNode cbx_node_field(TSNode node, enum cbx_field field);

/* The source of a node; empty for a null node. */
struct cbx_str cbx_walk_text(const struct cbx_walk *walk, TSNode node);

#endif
