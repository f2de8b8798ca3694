/* SPDX-License-Identifier: MIT
 * The parts of pass one over Python (bind.c): targets and imports. Private to bind*.c. */
#ifndef CBX_ANALYZER_LANG_PYTHON_BIND_H
#define CBX_ANALYZER_LANG_PYTHON_BIND_H

#include "analyzer/lang/scope.h"

/* The source of a target's value: `value`, a member of it (`each`), or the part of either at
 * `path`; anything if `value` is NULL, or if `unknown`. */
struct cbx_py_target {
    struct cbx_scope *scope; /* binds the names of the target */
    struct cbx_scope *where; /* the value is evaluated in it */
    struct cbx_node *value;
    bool each, unknown;
    struct cbx_str path;
};

/* Binds a name, an attribute, an item, or each target of a pattern at its place. */
void cbx_py_bind_target(struct cbx_walk *py, struct cbx_py_target t, struct cbx_node *target);
/* Does so for `target = value`, with `each` for any member of the value. */
void cbx_py_bind_value(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *target,
                       struct cbx_node *value, bool each);
/* Binds the attribute of setattr(x, 'name', value); nothing for a name that is not constant. */
void cbx_py_bind_setattr(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *call);
/* Binds the names of an import statement; `import *` binds unknown names. */
void cbx_py_bind_import(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node);

#endif
