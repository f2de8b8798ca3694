/* SPDX-License-Identifier: MIT
 * The parts of pass one over JavaScript (bind.c): patterns and modules. Private to bind*.c. */
#ifndef CBX_ANALYZER_LANG_JAVASCRIPT_BIND_H
#define CBX_ANALYZER_LANG_JAVASCRIPT_BIND_H

#include "analyzer/lang/scope.h"

/* The source of a pattern's names: `value`, any member of it (`each`), or the part of either at
 * `path`; with `key` the name of a member; anything if `value` is NULL, or if `unknown`. */
struct cbx_js_target {
    struct cbx_scope *scope; /* binds the names; NULL: they are members of any object */
    struct cbx_scope *where; /* the value is evaluated in it */
    struct cbx_node *value;
    bool each, unknown, key;
    struct cbx_str path;
};

/* Binds one name. */
void cbx_js_bind_name(struct cbx_walk *js, const struct cbx_js_target *t, struct cbx_str name);
/* Binds the names of a pattern, each to its part of the value; a member is bound as a member of
 * any object. */
void cbx_js_bind_pattern(struct cbx_walk *js, struct cbx_js_target t, struct cbx_node *pattern);
/* Binds the names of each pattern below the node (parameters) to the whole value. */
void cbx_js_bind_children(struct cbx_walk *js, struct cbx_js_target t, struct cbx_node *pattern);
/* Returns the key that a pattern or a pair reads: {a}, {a: b}, {['a']: b}; CBX_JS_COMPUTED and the
 * number of the node for a computed key, "" without a key. */
struct cbx_str cbx_js_key_of(struct cbx_walk *js, struct cbx_node *key);

/* Binds import d, { a } from 'm'; import * as ns from 'm'. A default import is the module itself
 * (Node's CommonJS interop). */
void cbx_js_bind_import(struct cbx_walk *js, struct cbx_node *node);
/* Binds the names of an export as members, if the text has files. A default export is the module
 * (exports), as for CommonJS. */
void cbx_js_bind_exports(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node);

#endif
