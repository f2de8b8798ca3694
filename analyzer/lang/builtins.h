/* SPDX-License-Identifier: MIT
 * Builtins whose names the text binds: `eval = 1` does not make an earlier eval harmless. */
#ifndef CBX_ANALYZER_LANG_BUILTINS_H
#define CBX_ANALYZER_LANG_BUILTINS_H

#include "analyzer/lang/scope.h"

/* The role of a node that is an identifier. */
enum cbx_builtin_use {
    CBX_BUILTIN_NO_USE, /* the identifier is no use: a member, a place where the name is bound */
    CBX_BUILTIN_USED,
    CBX_BUILTIN_DELETED, /* `del eval`: the name means the builtin again */
};

struct cbx_builtins {
    const char *const *names; /* the builtins to watch */
    size_t count;
    enum cbx_builtin_use (*use)(const struct cbx_node *node);
    /* Returns the byte of the text after which the module's binding has certainly happened; 0 if
     * it happens before any code runs, UINT32_MAX if it may never happen. */
    uint32_t (*holds_from)(struct cbx_walk *walk, const struct cbx_binding *binding);
    /* Returns true if the use is before the byte `from` in the text but runs after that byte.
     * May be NULL. */
    bool (*runs_later)(struct cbx_walk *walk, const struct cbx_binding *binding,
                       const struct cbx_node *use, uint32_t from);
};

/* Sets the names to watch. Call it before the text is bound. */
void cbx_builtins_begin(struct cbx_walk *walk, const struct cbx_builtins *language);

/* Keeps the builtin as a possible value of each watched name that the module or a class binds,
 * unless the binding is certain for every use. A function's own names hide the builtin with
 * certainty. Call it after the text is bound. */
void cbx_builtins_keep(struct cbx_walk *walk, const struct cbx_builtins *language);

extern const struct cbx_builtins cbx_py_builtins, cbx_js_builtins;

#endif
