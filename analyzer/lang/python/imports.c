/* SPDX-License-Identifier: MIT
 * The facts about imports: statements, and calls of functions that import. */
#include "analyzer/lang/python/internal.h"

#include "analyzer/facts/sinks.h"
#include "policies/load/index.h"

enum { FROM_LIST_MAX = 16 };

void cbx_py_add_import(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node)
{
    struct cbx_str canonical = cbx_py_canonical(py, name);
    py->armed |= cbx_name_is_within(canonical, CBX_STR("importlib.metadata")) ||
                 cbx_name_is_within(canonical, CBX_STR("importlib_metadata"));
    cbx_facts_add(py->facts, CBX_IS_IMPORT, name, node->start, node->end);
    if (!cbx_str_equal(canonical, name)) {
        cbx_facts_add(py->facts, CBX_IS_IMPORT, canonical, node->start, node->end);
    }
}

void cbx_py_mark_alone(struct cbx_walk *py, size_t before)
{
    for (size_t i = before; i < py->facts->count; i++) {
        py->facts->items[i].alone = true;
    }
}

/* Adds the import of a member that can do nothing, or that the text calls with constants alone. */
static void add_judged_import(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node)
{
    struct cbx_fact *fact = cbx_facts_add(py->facts, CBX_IS_IMPORT, name, node->start, node->end);
    if (fact != NULL) {
        fact->cleared = CBX_PY_JUDGED;
    }
}

/* Adds the facts of import a, or from a import b; `full` is the module, or its member. If the
 * text reads only harmless members of it, the facts are about these members. */
static void add_import_of(struct cbx_walk *py, const struct cbx_node *import, struct cbx_node *part,
                          struct cbx_str full, bool member)
{
    const struct cbx_str *members;
    uint32_t count =
        cbx_sinks_of_module(CBX_PYTHON, cbx_py_canonical(py, full)) != 0 ||
                cbx_sinks_of(CBX_PYTHON, full) != 0
            ? cbx_py_harmless_members(py, cbx_py_bound_text(py, import, part), &members)
            : 0;
    for (uint32_t i = 0; i < count; i++) {
        add_judged_import(py, members[i], part);
    }
    if (count > 0) {
        return;
    }
    size_t before = py->facts->count;
    cbx_py_add_import(py, full, part);
    if (member) {
        cbx_facts_add(py->facts, CBX_IS_REFERENCE, full, part->start, part->end);
    }
    if (cbx_py_is_unused(py, cbx_py_bound_text(py, import, part))) {
        cbx_py_mark_alone(py, before);
    }
}

/* "from a.b import c" gives the fact a.b.c: a rule for a.b covers it, and an exclusion of a.b.c
 * ("!importlib.metadata") applies to it. */
void cbx_py_extract_import(struct cbx_walk *py, struct cbx_node *node)
{
    const struct cbx_node *module = cbx_child_of(node, CBX_FIELD_module_name);
    struct cbx_value package = { .kind = CBX_V_NAME,
                                 .text = cbx_py_canonical(py, cbx_py_text(py, module)) };
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        enum cbx_py_kind kind = cbx_py_kind(child);
        if (kind == PY_wildcard_import) {
            if (!cbx_py_is_plain(package.text)) {
                cbx_py_special(py, CBX_FACT_STAR_IMPORT, package.text, node);
            }
            cbx_py_add_import(py, package.text, node);
        }
        if ((kind != PY_dotted_name && kind != PY_aliased_import) || child == module) {
            continue;
        }
        struct cbx_str name = cbx_py_text(
            py, kind == PY_aliased_import ? cbx_child_of(child, CBX_FIELD_name) : child);
        add_import_of(py, node, child, module != NULL ? cbx_py_qualify(py, &package, name) : name,
                      module != NULL);
    }
}

/* --- calls that import ------------------------------------------------------------------------ */

/* Returns true for a module object, or the name of this module. */
static bool is_module_object(const struct cbx_value *v)
{
    return v->kind == CBX_V_NAME && (v->number == 0 || cbx_str_is(v->text, "__name__") ||
                                     cbx_str_is(v->text, "__package__"));
}

static void extract_import_call(struct cbx_walk *py, struct cbx_str callee,
                                struct cbx_actuals *actuals, const struct cbx_node *call)
{
    const struct cbx_values *values = cbx_actual_values(py, actuals, 0, "name");
    const struct cbx_values *package = cbx_actual_values(py, actuals, 1, "package");
    bool known = values->count > 0;
    for (uint32_t i = 0; i < values->count; i++) {
        struct cbx_str name = values->items[i]->text, base;
        bool text = values->items[i]->kind == CBX_V_TEXT;
        known &= text || (cbx_py_call_meaning(callee) == PY_CALL_IMPORT_NAME &&
                          is_module_object(values->items[i]));
        /* relative to the package in the arguments */
        if (text && cbx_str_starts(name, CBX_STR("."))) {
            known &= cbx_values_is_text(package, &base);
            name =
                cbx_values_is_text(package, &base) ? cbx_fold_concat(py->arena, base, name) : name;
        }
        if (text) {
            cbx_py_add_import(py, name, call);
        }
    }
    if (!known) {
        cbx_py_special(py, CBX_FACT_DYNAMIC_IMPORT, callee, call);
    }
}

/* Handles __import__('a', fromlist=['b']), which may import a.b too. */
static void extract_from_list(struct cbx_walk *py, struct cbx_str callee,
                              struct cbx_actuals *actuals, const struct cbx_node *call)
{
    const struct cbx_actual *list = cbx_actual_find(actuals, 3, "fromlist");
    struct cbx_str package;
    if (list == NULL || !cbx_values_is_text(cbx_actual_values(py, actuals, 0, "name"), &package)) {
        return;
    }
    const struct cbx_value *names =
        cbx_py_sequence(py, cbx_actual_values(py, actuals, 3, "fromlist"));
    for (uint32_t i = 0; names != NULL && i < names->count && i < FROM_LIST_MAX; i++) {
        struct cbx_str name;
        if (!cbx_values_is_text(names->members[i], &name)) {
            names = NULL;
            break;
        }
        struct cbx_value object = { .kind = CBX_V_NAME, .text = package };
        cbx_py_add_import(py, cbx_py_qualify(py, &object, name), call);
    }
    if (names == NULL || names->number != 0 || names->count > FROM_LIST_MAX) {
        cbx_py_special(py, CBX_FACT_DYNAMIC_IMPORT, callee, call);
    }
}

void cbx_py_extract_import_call(struct cbx_walk *py, struct cbx_str callee,
                                struct cbx_actuals *actuals, const struct cbx_node *call)
{
    extract_import_call(py, callee, actuals, call);
    extract_from_list(py, callee, actuals, call);
}
