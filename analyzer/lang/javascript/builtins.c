/* SPDX-License-Identifier: MIT
 * The bindings in JavaScript that certainly replace a global or one of a module's own names
 * (require, module). Hoisted declarations, and names that cannot be read before their declaration,
 * always do; statements of the program from their end on. `var` does not change the value. */
#include "analyzer/lang/builtins.h"
#include "analyzer/lang/javascript/internal.h"

static enum cbx_builtin_use use(const struct cbx_node *node)
{
    enum cbx_js_kind kind = cbx_js_kind(node), parent = cbx_js_kind(node->parent);
    bool name = kind == JS_identifier || kind == JS_shorthand_property_identifier,
         bound = (parent == JS_variable_declarator && node->field == CBX_FIELD_name) ||
                 (parent == JS_assignment_expression && node->field == CBX_FIELD_left) ||
                 (cbx_js_is_function(parent) && node->field == CBX_FIELD_name) ||
                 parent == JS_formal_parameters;
    return name && !bound ? CBX_BUILTIN_USED : CBX_BUILTIN_NO_USE;
}

static uint32_t holds_from(struct cbx_walk *js, const struct cbx_binding *binding)
{
    const struct cbx_node *root = &js->syntax.nodes[0], *node = binding->node;
    if (binding->kind == CBX_BIND_NAME) {
        return 0; /* an import */
    }
    if (node == NULL || (binding->kind != CBX_BIND_EXPR && binding->kind != CBX_BIND_FUNCTION)) {
        return UINT32_MAX;
    }
    bool hoisted = binding->kind == CBX_BIND_FUNCTION,
         value = node->field == CBX_FIELD_value || node->field == CBX_FIELD_right,
         certain = hoisted || value;
    while (certain && node->parent != root) {
        node = node->parent;
        switch (cbx_js_kind(node)) {
        case JS_lexical_declaration:
            hoisted = true;
            break;
        case JS_variable_declarator:
        case JS_variable_declaration:
        case JS_assignment_expression:
        case JS_expression_statement:
        case JS_export_statement:
            break;
        default:
            certain = false;
        }
    }
    return !certain ? UINT32_MAX : hoisted ? 0 : node->end;
}

static const char *const names[] = {
    "require",    "module",      "exports",     "eval",         "Function",      "process",
    "globalThis", "global",      "Error",       "Reflect",      "Object",        "window",
    "self",       "setTimeout",  "Proxy",       "Promise",      "Buffer",        "Array",
    "String",     "setInterval", "WebAssembly", "setImmediate", "importScripts",
};

const struct cbx_builtins cbx_js_builtins = {
    .names = names,
    .count = sizeof(names) / sizeof(names[0]),
    .use = use,
    .holds_from = holds_from,
};
