/* SPDX-License-Identifier: MIT
 * What the files of the Python extractor share. */
#ifndef CBX_ANALYZER_LANG_PYTHON_H
#define CBX_ANALYZER_LANG_PYTHON_H

#include "analyzer/lang/scope.h"

enum cbx_py_kind {
    PY_OTHER = 0,
#define CBX_KIND(name) PY_##name,
#include "analyzer/lang/python_kinds.def"
#undef CBX_KIND
    PY_KINDS
};

enum cbx_py_kind cbx_py_kind(TSNode node);

/* Pass one: every binding of every scope. */
void cbx_py_bind_all(struct cbx_walk *py, TSNode root);

/* What an expression may be, in this scope. Never NULL. */
const struct cbx_values *cbx_py_eval(struct cbx_walk *py, TSNode node, struct cbx_scope *scope);

/* What a call may give, and what reading an attribute may. */
const struct cbx_values *cbx_py_eval_call(struct cbx_walk *py, TSNode node,
                                          struct cbx_scope *scope);
const struct cbx_values *cbx_py_read(struct cbx_walk *py, const struct cbx_values *object,
                                     struct cbx_str attribute);

/* map(function, list): followed for chr alone. */
const struct cbx_values *cbx_py_map(struct cbx_walk *py, const struct cbx_values *function,
                                    const struct cbx_values *list);

/* Name of a thing read from another: canonical ("logging", "os" -> "os"). */
struct cbx_str cbx_py_qualify(struct cbx_walk *py, const struct cbx_value *object,
                              struct cbx_str attribute);
struct cbx_str cbx_py_canonical(struct cbx_walk *py, struct cbx_str name);

/* The n-th positional or the named argument of a call; a null node when it is not given. */
TSNode cbx_py_argument(struct cbx_walk *py, TSNode call, uint32_t position, const char *keyword);

enum cbx_py_call {
    PY_CALL_NONE = 0, /* not followed */
    PY_CALL_GETATTR,
    PY_CALL_SETATTR,
    PY_CALL_IMPORT_TOP,
    PY_CALL_IMPORT,
    PY_CALL_IMPORT_NAME,
    PY_CALL_CHR,
    PY_CALL_SAME,
    PY_CALL_REVERSED,
    PY_CALL_ORD,
    PY_CALL_MEMBER,
    PY_CALL_MAP,
    PY_CALL_HEX,
    PY_CALL_BASE64,
    PY_CALL_CODEC,
    PY_CALL_NAMESPACE,
    PY_CALL_VARS,
    PY_CALL_DICT,
    PY_CALL_GETTER,
};
/* How the evaluator follows a callable of this name. */
enum cbx_py_call cbx_py_call_meaning(struct cbx_str name);
/* Does this attribute lead into the interpreter? */
bool cbx_py_is_dunder(struct cbx_str name);
/* The language of the code that it runs its first argument as; NULL when it runs none. */
const char *cbx_py_runs(struct cbx_str name);

#endif
