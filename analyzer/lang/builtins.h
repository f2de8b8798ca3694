/* SPDX-License-Identifier: MIT
 * Builtins whose names the text binds: `eval = 1` does not make an earlier eval harmless. */
#ifndef CBX_ANALYZER_LANG_BUILTINS_H
#define CBX_ANALYZER_LANG_BUILTINS_H

#include "analyzer/lang/scope.h"

/* The role of a node for a name. */
enum cbx_builtin_use {
    CBX_BUILTIN_NO_USE, /* no identifier, a member, a place where the name is bound */
    CBX_BUILTIN_USED,
    CBX_BUILTIN_DELETED, /* `del eval`: the builtin is back */
};

struct cbx_builtins {
    const char *const *names; /* the powerful ones */
    size_t count;
    enum cbx_builtin_use (*use)(const struct cbx_node *node);
    /* The byte of the text after which the module's binding has certainly happened; 0: before
     * anything runs, UINT32_MAX: it may never happen. */
    uint32_t (*holds_from)(struct cbx_walk *walk, const struct cbx_binding *binding);
    /* True when the use is before that byte but runs after it. May be NULL. */
    bool (*runs_later)(struct cbx_walk *walk, const struct cbx_binding *binding,
                       const struct cbx_node *use, uint32_t from);
};

/* Call it before the text is bound: sets the names to watch. */
void cbx_builtins_begin(struct cbx_walk *walk, const struct cbx_builtins *language);

/* Call it after the text is bound: a powerful builtin that the module or a class binds may still be
 * the builtin, unless the binding is certain for every use. A function's own names hide it with
 * certainty. */
void cbx_builtins_keep(struct cbx_walk *walk, const struct cbx_builtins *language);

extern const struct cbx_builtins cbx_py_builtins, cbx_js_builtins;

#endif
