/* SPDX-License-Identifier: MIT
 * What the files of the Python extractor share. */
#ifndef CBX_ANALYZER_LANG_PYTHON_INTERNAL_H
#define CBX_ANALYZER_LANG_PYTHON_INTERNAL_H

#include "analyzer/lang/scope.h"

enum cbx_py_kind {
    PY_OTHER = 0,
#define CBX_KIND(name) PY_##name,
#define CBX_KEEP(name) PY_##name,
#define CBX_DROP(name) PY_##name,
#include "analyzer/lang/python/kinds.def"
#undef CBX_KIND
#undef CBX_KEEP
#undef CBX_DROP
    PY_KINDS
};

static inline enum cbx_py_kind cbx_py_kind(const struct cbx_node *node)
{
    return node != NULL ? (enum cbx_py_kind)node->kind : PY_OTHER;
}

enum cbx_py_call {
    PY_CALL_NONE = 0, /* not followed */
#define CBX_MEANING(name) PY_CALL_##name,
#include "analyzer/lang/python/meanings.def"
#undef CBX_MEANING
};

const struct cbx_grammar *cbx_py_grammar(void);

/* The text of a node as a name (NFKC); the name that a definition or a keyword argument gives; the
 * identifier of a parameter, whatever is around it. */
struct cbx_str cbx_py_text(struct cbx_walk *py, const struct cbx_node *node);
struct cbx_str cbx_py_name(struct cbx_walk *py, const struct cbx_node *node);
struct cbx_node *cbx_py_parameter(struct cbx_node *parameter);
/* Is this a module, as far as a name can tell? What was taken out of one is followed by itself. */
bool cbx_py_holds_more(struct cbx_str name);

/* What parameters are given, and what goes out of sight; a part of pass one. */
void cbx_py_flow_all(struct cbx_walk *py);
/* Pass one: every binding of every scope, and what parameters are given. */
void cbx_py_bind_all(struct cbx_walk *py);

/* What an expression may be, in this scope. Never NULL. */
const struct cbx_values *cbx_py_eval(struct cbx_walk *py, struct cbx_node *node,
                                     struct cbx_scope *scope);
/* A bare name, as seen from a scope. */
const struct cbx_values *cbx_py_eval_name(struct cbx_walk *py, struct cbx_str name,
                                          struct cbx_scope *scope);

/* What reading an attribute, or an item, may give. */
const struct cbx_values *cbx_py_read(struct cbx_walk *py, const struct cbx_values *object,
                                     struct cbx_str attribute);
/* The same by a key of a path: an index, "from:rest" of a starred target, an attribute of a
 * pattern. */
const struct cbx_values *cbx_py_member(struct cbx_walk *py, const struct cbx_values *object,
                                       struct cbx_str key);
const struct cbx_values *cbx_py_item(struct cbx_walk *py, const struct cbx_values *object,
                                     const struct cbx_values *key, struct cbx_scope *scope);

/* object[a:b] of everything that it may be. */
const struct cbx_values *cbx_py_slice(struct cbx_walk *py, const struct cbx_values *object,
                                      struct cbx_node *slice, struct cbx_scope *scope);

/* What a call is given. */
void cbx_py_actuals(struct cbx_walk *py, struct cbx_node *call, struct cbx_scope *scope,
                    struct cbx_actuals *out);
/* What calling this with that may give. */
const struct cbx_values *cbx_py_apply(struct cbx_walk *py, const struct cbx_values *callee,
                                      struct cbx_actuals *actuals, struct cbx_scope *scope);

/* What a callable of this meaning makes of its arguments, when it calls nothing. */
const struct cbx_values *cbx_py_make(struct cbx_walk *py, enum cbx_py_call meaning,
                                     struct cbx_actuals *actuals, struct cbx_scope *scope);
/* A key as mappings hold it; "\xff" for one that is not known. */
struct cbx_str cbx_py_key(struct cbx_walk *py, const struct cbx_values *key);
/* (a, b) */
const struct cbx_values *cbx_py_pair(struct cbx_walk *py, const struct cbx_values *a,
                                     const struct cbx_values *b);

/* The arguments of a call of a partial: its own in front. */
void cbx_py_whole(const struct cbx_value *partial, const struct cbx_actuals *actuals,
                  struct cbx_actuals *whole);
/* What a partial of this name calls (operator.methodcaller), given all its arguments; *rest are
 * those for the method. */
#define CBX_PY_METHOD_CALLER "operator.methodcaller()"
const struct cbx_values *cbx_py_method_called(struct cbx_walk *py, struct cbx_actuals *actuals,
                                              struct cbx_actuals *rest);

/* The members of something that is iterated over, one by one when they are known: a comprehension
 * is run for each member of what it goes through. NULL when they are not. */
const struct cbx_value *cbx_py_sequence(struct cbx_walk *py, const struct cbx_values *values);
/* Any one of its members. */
const struct cbx_values *cbx_py_members(struct cbx_walk *py, const struct cbx_values *values);

/* Methods of constant texts; `self` is the text. NULL for a method that is not followed. */
const struct cbx_values *cbx_py_text_method(struct cbx_walk *py, struct cbx_str self,
                                            struct cbx_str method, struct cbx_actuals *actuals);
/* A binary operator of everything that both sides may be. */
const struct cbx_values *cbx_py_operator(struct cbx_walk *py, struct cbx_str op,
                                         const struct cbx_values *left,
                                         const struct cbx_values *right);
/* left % right. */
const struct cbx_values *cbx_py_percent(struct cbx_walk *py, struct cbx_str format,
                                        const struct cbx_values *right);
/* bytes([111, 115]); itself when it is nothing of the kind. */
const struct cbx_values *cbx_py_from_numbers(struct cbx_walk *py, const struct cbx_values *values);
/* codecs.decode and encode, bytes.decode, str.encode: an encoding that is known. */
const struct cbx_values *cbx_py_codec(struct cbx_walk *py, struct cbx_str text,
                                      struct cbx_str name);
/* Every field of a format string that walks attributes or items of what it is given: calls `found`
 * with what it comes out to, and with the last name in it. */
void cbx_py_format_fields(struct cbx_walk *py, struct cbx_str format, struct cbx_actuals *actuals,
                          void (*found)(struct cbx_walk *py, const struct cbx_values *values,
                                        struct cbx_str name, void *context),
                          void *context);

/* Name of a thing read from another: canonical ("logging", "os" -> "os"). */
struct cbx_str cbx_py_qualify(struct cbx_walk *py, const struct cbx_value *object,
                              struct cbx_str attribute);
struct cbx_str cbx_py_canonical(struct cbx_walk *py, struct cbx_str name);
/* The module that an attribute of anything at all may be (x.os), or NULL. */
const char *cbx_py_module_anywhere(struct cbx_str attribute);

/* How the evaluator follows a callable of this name. */
enum cbx_py_call cbx_py_call_meaning(struct cbx_str name);
/* Does this attribute lead into the interpreter? */
bool cbx_py_is_dunder(struct cbx_str name);
/* Does a method or function of this name change a container in place? */
bool cbx_py_changes(struct cbx_str method);
/* Is this a method that half of all objects have? */
bool cbx_py_is_common(struct cbx_str method);
/* Does `import *` from this module hide nothing? */
bool cbx_py_is_plain(struct cbx_str module);
/* The constant text of this name; {NULL, 0} when it is none that is known. */
struct cbx_str cbx_py_constant(struct cbx_str name);
/* Does it when it is read from a literal? */
bool cbx_py_climbs(struct cbx_str name);
/* A module that others are searched for: os, sys, builtins, ... */
bool cbx_py_is_powerful(struct cbx_str module);
/* The language of the code that it runs the n-th (0, 1) of such arguments as, and which argument
 * that is; NULL when there is none. */
const char *cbx_py_runs(struct cbx_str name, uint32_t n, uint32_t *position, const char **keyword);
/* The type of what it makes ("pathlib.Path"); NULL when that is not followed. */
const char *cbx_py_makes(struct cbx_str name);
/* A callable that calls one of its arguments: which, and from where on the arguments for it
 * stand; false when it is none. */
bool cbx_py_calls_through(struct cbx_str name, uint32_t *function, uint32_t *first);

/* --- facts ------------------------------------------------------------------------------------ */

/* Adds the facts of the tree, of a plain file as of a notebook cell. */
void cbx_extract_python(struct cbx_parsed *parsed);

void cbx_py_special(struct cbx_walk *py, enum cbx_fact_id id, struct cbx_str name,
                    const struct cbx_node *node);
/* A fact when an item (or attribute) of a module's dictionary is read by a name that is no
 * constant; and when a loop goes through its members. */
void cbx_py_check_dictionary(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
void cbx_py_check_iteration(struct cbx_walk *py, const struct cbx_node *node,
                            struct cbx_scope *scope);
/* The name of an attribute that is read at a node, by itself, by getattr or in a format string. */
void cbx_py_extract_attribute(struct cbx_walk *py, struct cbx_str name,
                              const struct cbx_node *node);
/* Code in a call of this name, judged as what it is. */
void cbx_py_extract_code(struct cbx_walk *py, struct cbx_str callee, struct cbx_actuals *actuals,
                         const struct cbx_node *call);
/* A call of doctest's: the examples of all docstrings. */
void cbx_py_extract_doctest(struct cbx_walk *py, struct cbx_str callee);
/* x: "code" */
void cbx_py_extract_annotation(struct cbx_walk *py, const struct cbx_node *type);
/* A text that is put together, and is SQL. */
void cbx_py_extract_built(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);
/* The constant texts that an expression comes out to. */
void cbx_py_extract_text(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);

#endif
