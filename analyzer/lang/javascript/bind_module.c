/* SPDX-License-Identifier: MIT
 * The bindings of imports and exports in JavaScript. */
#include "analyzer/lang/javascript/bind.h"

#include "analyzer/lang/javascript/internal.h"

static void bind_qualified(struct cbx_walk *js, const struct cbx_node *name,
                           struct cbx_str qualified)
{
    struct cbx_binding *binding =
        cbx_scope_bind(js, js->module, js->module, cbx_js_name(js, name), CBX_BIND_NAME, NULL);
    if (binding != NULL) {
        binding->path = qualified;
        js->imported |= cbx_name_bit(binding->name);
    }
}

/* Binds the name of an import to an export of a file that it may mean. */
static void bind_export_of_file(struct cbx_walk *js, struct cbx_node *name, struct cbx_str key)
{
    struct cbx_binding *binding = js->files != NULL
                                      ? cbx_scope_bind(js, js->module, js->module,
                                                       cbx_js_name(js, name), CBX_BIND_FIELD, NULL)
                                      : NULL;
    if (binding != NULL) {
        binding->path = key;
    }
}

/* Binds import { a, b as c } from 'm'. */
static void bind_named_import(struct cbx_walk *js, struct cbx_str module,
                              const struct cbx_node *specifier)
{
    struct cbx_node *name = cbx_child_of(specifier, CBX_FIELD_name),
                    *alias = cbx_child_of(specifier, CBX_FIELD_alias);
    if (cbx_js_kind(specifier) != JS_import_specifier) {
        return;
    }
    struct cbx_value object = { .kind = CBX_V_NAME, .text = module };
    struct cbx_str key =
        cbx_js_kind(name) == JS_string ? cbx_js_key_of(js, name) : cbx_js_name(js, name);
    if (cbx_js_is_file(js, module)) {
        bind_export_of_file(js, alias != NULL ? alias : name, key);
        return;
    }
    const struct cbx_values *value = cbx_js_read(js, cbx_values_one(js->arena, &object), key);
    bind_qualified(js, alias != NULL ? alias : name, value->items[0]->text);
}

void cbx_js_bind_import(struct cbx_walk *js, struct cbx_node *node)
{
    struct cbx_str module;
    if (!cbx_values_is_text(cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_source), js->module),
                            &module)) {
        return;
    }
    module = cbx_js_module(module);
    struct cbx_node *clause = cbx_child_at(node, 0);
    for (struct cbx_node *child = cbx_js_kind(clause) == JS_import_clause ? clause->first : NULL;
         child != NULL; child = child->next) {
        if (cbx_js_kind(child) == JS_identifier) {
            bind_qualified(js, child, module);
            bind_export_of_file(js, child, CBX_STR("exports"));
        } else if (cbx_js_kind(child) == JS_namespace_import) {
            bind_qualified(js, cbx_child_at(child, 0), module);
        } else if (cbx_js_kind(child) == JS_named_imports) {
            for (struct cbx_node *s = child->first; s != NULL; s = s->next) {
                bind_named_import(js, module, s);
            }
        }
    }
}

/* Binds an export as an attribute: a text that imports the file reads it there. */
static void export_as(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_str name,
                      struct cbx_node *value)
{
    struct cbx_js_target t = { .where = scope, .value = value };
    if (value != NULL) {
        cbx_js_bind_name(js, &t, name);
    }
}

/* Handles export const a = 1, export function f() {}. */
static void export_declared(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    if (name != NULL) {
        export_as(js, scope, cbx_js_name(js, name), name);
    }
    for (struct cbx_node *d = node != NULL ? node->first : NULL; d != NULL; d = d->next) {
        struct cbx_node *declared = cbx_child_of(d, CBX_FIELD_name);
        if (cbx_js_kind(d) == JS_variable_declarator && cbx_js_kind(declared) == JS_identifier) {
            export_as(js, scope, cbx_js_name(js, declared), declared);
        }
    }
}

void cbx_js_bind_exports(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *clause = cbx_child_at(node, 0);
    if (js->files == NULL) {
        return;
    }
    export_as(js, scope, CBX_STR("exports"), cbx_child_of(node, CBX_FIELD_value));
    export_declared(js, scope, cbx_child_of(node, CBX_FIELD_declaration));
    for (struct cbx_node *s = cbx_js_kind(clause) == JS_export_clause ? clause->first : NULL;
         s != NULL; s = s->next) {
        struct cbx_node *name = cbx_child_of(s, CBX_FIELD_name),
                        *alias = cbx_child_of(s, CBX_FIELD_alias);
        struct cbx_str as = alias != NULL ? cbx_js_name(js, alias) : CBX_STR("");
        as = as.len == 0 && name != NULL ? cbx_js_name(js, name) : as;
        export_as(js, scope, cbx_str_is(as, "default") ? CBX_STR("exports") : as, name);
    }
}
