/* SPDX-License-Identifier: MIT
 * What the files of the Python extractor share: scopes, bindings, the evaluator. */
#ifndef CBX_ANALYZER_LANG_PYTHON_H
#define CBX_ANALYZER_LANG_PYTHON_H

#include "analyzer/lang.h"
#include "analyzer/value.h"

enum cbx_py_kind {
    PY_OTHER = 0,
#define CBX_KIND(name) PY_##name,
#include "analyzer/lang/python_kinds.def"
#undef CBX_KIND
    PY_KINDS
};

enum cbx_py_bind { PY_BIND_NAME, PY_BIND_EXPR, PY_BIND_ITEM, PY_BIND_MEMBER, PY_BIND_FUNCTION, PY_BIND_UNKNOWN, PY_BIND_GLOBAL };

struct cbx_py_scope;
struct cbx_py_binding {
    enum cbx_py_bind kind;
    struct cbx_str name, qualified;
    struct cbx_py_scope *scope, *where; /* bound in; evaluated in */
    TSNode node;
    uint32_t index;
    struct cbx_py_binding *next;        /* another binding of the same name */
    const struct cbx_values *memo;      /* of the whole chain, on its first */
    bool busy;
};

struct cbx_py_scope {
    struct cbx_py_scope *parent;
    enum { PY_MODULE, PY_FUNCTION, PY_CLASS, PY_COMPREHENSION } kind;
    const void *node; /* id of the node that opens it */
    struct cbx_py_return {
        TSNode node;
        struct cbx_py_return *next;
    } *returns;
};

/* A hash table from two words to one pointer. */
struct cbx_py_table {
    struct cbx_py_slot {
        const void *a;
        uint64_t b;
        void *value;
    } *slots;
    size_t count, size;
};

struct cbx_py {
    struct cbx_parsed *parsed;
    struct cbx_arena *arena;
    struct cbx_facts *facts;
    const char *src;
    struct cbx_py_scope *module;
    struct cbx_py_table bindings; /* (scope, hash of name) -> chain */
    struct cbx_py_table scopes;   /* node id -> scope */
    struct cbx_py_table memo;     /* (node id, scope) -> values */
    struct cbx_py_binding *fields; /* "obj.x = v": by attribute name, scope NULL, in `bindings` too */
    struct cbx_strs stars;
    struct cbx_str star_items[16];
    int depth;
    uint32_t steps;
};

enum cbx_py_kind cbx_py_kind(TSNode node);
TSNode cbx_py_field(TSNode node, const char *field);
struct cbx_str cbx_py_text(const struct cbx_py *py, TSNode node);
uint64_t cbx_py_hash(struct cbx_str text);
void **cbx_py_slot(struct cbx_py *py, struct cbx_py_table *table, const void *a, uint64_t b);

/* Pass one: every binding of every scope. */
void cbx_py_bind_all(struct cbx_py *py, TSNode root);

/* What an expression may be, in this scope. Never NULL. */
const struct cbx_values *cbx_py_eval(struct cbx_py *py, TSNode node, struct cbx_py_scope *scope);
struct cbx_py_scope *cbx_py_scope_of(struct cbx_py *py, TSNode node, struct cbx_py_scope *otherwise);

/* Name of a thing read from another: canonical ("logging", "os" -> "os"). */
struct cbx_str cbx_py_qualify(struct cbx_py *py, const struct cbx_value *object, struct cbx_str attribute);
struct cbx_str cbx_py_canonical(struct cbx_py *py, struct cbx_str name);

/* The n-th positional or the named argument of a call; a null node when it is not given. */
TSNode cbx_py_argument(struct cbx_py *py, TSNode call, uint32_t position, const char *keyword);

enum cbx_py_call {
    PY_CALL_NONE = 0, PY_CALL_GETATTR, PY_CALL_SETATTR, PY_CALL_IMPORT_TOP, PY_CALL_IMPORT, PY_CALL_IMPORT_NAME, PY_CALL_CHR, PY_CALL_SAME,
    PY_CALL_REVERSED, PY_CALL_ORD, PY_CALL_MEMBER, PY_CALL_MAP, PY_CALL_HEX, PY_CALL_BASE64, PY_CALL_CODEC, PY_CALL_NAMESPACE, PY_CALL_VARS, PY_CALL_DICT,
};
enum cbx_py_call cbx_py_call_meaning(struct cbx_str name);
bool cbx_py_is_dunder(struct cbx_str name);
const char *cbx_py_runs(struct cbx_str name);

#endif
