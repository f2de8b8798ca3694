/* SPDX-License-Identifier: MIT
 * The bindings of import statements in Python. */
#include "analyzer/lang/python/bind.h"

#include "analyzer/lang/python/internal.h"

/* Notes an imported name. The number of noted names is limited; names of powerful modules replace
 * others. */
static void note_import(struct cbx_walk *py, struct cbx_str path)
{
    if (py->import_count < CBX_IMPORTS_MAX && cbx_py_holds_more(path)) {
        py->import_items[py->import_count++] = path;
        return;
    }
    for (uint32_t i = 0; cbx_py_is_powerful(path) && i < py->import_count; i++) {
        if (!cbx_py_is_powerful(py->import_items[i])) {
            py->import_items[i] = path;
            return;
        }
    }
}

static void bind_qualified(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *name,
                           struct cbx_str qualified)
{
    struct cbx_binding *binding =
        cbx_scope_bind(py, scope, scope, cbx_py_text(py, name), CBX_BIND_NAME, name);
    /* the name is an attribute of the class too */
    if (binding != NULL && scope->kind == CBX_SCOPE_CLASS) {
        struct cbx_binding *field =
            cbx_scope_bind(py, NULL, scope, binding->name, CBX_BIND_NAME, name);
        if (field != NULL) {
            field->path = cbx_py_canonical(py, qualified);
        }
    }
    if (binding != NULL) {
        binding->path = cbx_py_canonical(py, qualified);
        py->imported |= cbx_name_bit(binding->name);
        py->givers |=
            cbx_py_call_meaning(binding->path) != PY_CALL_NONE ? cbx_name_bit(binding->name) : 0;
        note_import(py, binding->path);
    }
}

/* Binds b of `from a import b`: b may be a name of a file. */
static void bind_from_file(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *name,
                           struct cbx_str attribute)
{
    struct cbx_binding *binding =
        py->files != NULL
            ? cbx_scope_bind(py, scope, scope, cbx_py_text(py, name), CBX_BIND_FIELD, name)
            : NULL;
    if (binding != NULL) {
        binding->path = attribute;
    }
}

static void note_star(struct cbx_walk *py, struct cbx_str module)
{
    for (size_t i = 0; i < py->stars.count; i++) {
        if (cbx_str_equal(py->star_items[i], module)) {
            return;
        }
    }
    if (py->stars.count == sizeof(py->star_items) / sizeof(py->star_items[0])) {
        py->gave_up = true; /* a name may come from any of these modules */
        return;
    }
    py->star_items[py->stars.count++] = module;
    py->stars.items = py->star_items;
}

/* import a.b.c binds a; import a.b.c as x binds x to a.b.c; from a import b as x binds x to a.b;
 * from a import * binds unknown names. */
void cbx_py_bind_import(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *module = cbx_child_of(node, CBX_FIELD_module_name);
    struct cbx_value package = { .kind = CBX_V_NAME,
                                 .text = cbx_py_canonical(py, cbx_py_text(py, module)) };
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        enum cbx_py_kind kind = cbx_py_kind(child);
        if (kind == PY_wildcard_import) {
            note_star(py, package.text);
        }
        if ((kind != PY_dotted_name && kind != PY_aliased_import) || child == module) {
            continue;
        }
        struct cbx_node *name =
            kind == PY_aliased_import ? cbx_child_of(child, CBX_FIELD_name) : child;
        struct cbx_str text = cbx_py_text(py, name);
        if (kind == PY_aliased_import) {
            bind_qualified(py, scope, cbx_child_of(child, CBX_FIELD_alias),
                           module != NULL ? cbx_py_qualify(py, &package, text) : text);
            bind_from_file(py, scope, cbx_child_of(child, CBX_FIELD_alias), text);
        } else if (module != NULL) {
            bind_qualified(py, scope, name, cbx_py_qualify(py, &package, text));
            bind_from_file(py, scope, name, text);
        } else {
            const char *dot = memchr(text.p, '.', text.len);
            bind_qualified(py, scope, cbx_child_at(name, 0),
                           dot != NULL ? cbx_str_sub(text, 0, (size_t)(dot - text.p)) : text);
        }
    }
}
