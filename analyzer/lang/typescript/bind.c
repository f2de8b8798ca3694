/* SPDX-License-Identifier: MIT
 * Bindings that TypeScript adds to JavaScript: namespaces, their exports, enums. */
#include "analyzer/lang/javascript/internal.h"

void cbx_ts_bind_namespace(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    while (name != NULL && cbx_js_kind(name) != JS_identifier) {
        name = cbx_child_at(name, 0);
    }
    if (name != NULL) {
        cbx_scope_bind(js, scope, scope, cbx_js_name(js, name), CBX_BIND_UNKNOWN, name);
    }
}

void cbx_ts_bind_export(struct cbx_walk *js, struct cbx_scope *scope,
                        const struct cbx_node *declaration, struct cbx_node *name)
{
    const struct cbx_node *block = declaration->parent->parent;
    enum cbx_js_kind around = cbx_js_kind(block != NULL ? block->parent : NULL);
    struct cbx_str kind = cbx_walk_text(js, cbx_child_of(declaration, CBX_FIELD_kind));
    if ((around != JS_internal_module && around != JS_module) || cbx_str_is(kind, "const") ||
        cbx_js_kind(name) != JS_identifier) {
        return;
    }
    struct cbx_binding *b =
        cbx_scope_bind(js, scope, scope, cbx_js_name(js, name), CBX_BIND_FIELD, NULL);
    if (b != NULL) {
        b->path = b->name;
    }
}

struct cbx_scope *cbx_ts_bind_enum(struct cbx_walk *js, struct cbx_scope *scope,
                                   struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name),
                    *body = cbx_child_of(node, CBX_FIELD_body);
    struct cbx_scope *inner = cbx_scope_open(js, scope, node, CBX_SCOPE_COMPREHENSION);
    if (name == NULL || body == NULL) {
        return inner;
    }
    cbx_scope_bind(js, scope, scope, cbx_js_name(js, name), CBX_BIND_EXPR, body);
    for (struct cbx_node *m = body->first; m != NULL; m = m->next) {
        struct cbx_node *key = cbx_child_of(m, CBX_FIELD_key),
                        *value = cbx_child_of(m, CBX_FIELD_value);
        if (key != NULL && value != NULL) {
            cbx_scope_bind(js, inner, inner, cbx_js_name(js, key), CBX_BIND_EXPR, value);
        }
    }
    return inner;
}
