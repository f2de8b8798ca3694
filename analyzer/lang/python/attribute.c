/* SPDX-License-Identifier: MIT
 * Names of attributes that lead into the interpreter, and dictionaries of modules, where an
 * attribute is an item. */
#include "analyzer/lang/python/internal.h"

/* True when this is an attribute of a literal: "".__class__, [].append. */
static bool is_of_literal(const struct cbx_node *node)
{
    for (;;) {
        switch (cbx_py_kind(node)) {
        case PY_attribute:
        case PY_subscript:
        case PY_call:
        case PY_parenthesized_expression:
            node = cbx_child_at(node, 0);
            continue;
        case PY_string:
        case PY_tuple:
        case PY_list:
        case PY_dictionary:
        case PY_set:
        case PY_integer:
        case PY_float:
        case PY_true:
        case PY_false:
        case PY_none:
        case PY_lambda:
            return true;
        default:
            return false;
        }
    }
}

/* f.__code__.co_name only reads, f.__code__.replace() changes the function. */
static bool is_code_object(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node)
{
    const struct cbx_node *whole = node->parent, *use = whole != NULL ? whole->parent : NULL;
    bool looks =
        cbx_py_kind(use) == PY_attribute &&
        cbx_str_starts(cbx_walk_text(py, cbx_child_of(use, CBX_FIELD_attribute)), CBX_STR("co_"));
    return (cbx_str_is(name, "__code__") || cbx_str_is(name, "func_code")) && !looks;
}

void cbx_py_extract_attribute(struct cbx_walk *py, struct cbx_str name, const struct cbx_node *node)
{
    cbx_facts_add(py->facts, CBX_IS_ATTRIBUTE, name, node->start, node->end);
    bool climbs =
        cbx_py_climbs(name) && (node->field != CBX_FIELD_attribute || is_of_literal(node->parent));
    if (climbs || cbx_py_is_dunder(name) || is_code_object(py, name, node)) {
        cbx_py_special(py, CBX_FACT_DUNDER_WALK, name, node);
    }
}

/* --- dictionaries of modules ------------------------------------------------------------------ */

/* The dictionary of a module, as an object. */
static bool is_module_dictionary(const struct cbx_values *values)
{
    struct cbx_str dict = CBX_STR(".__dict__");
    if (values->count != 1 || values->items[0]->kind != CBX_V_NAME) {
        return false; /* empty: a cycle that is in progress */
    }
    struct cbx_str name = values->items[0]->text;
    return cbx_str_ends(name, dict) &&
           cbx_py_is_powerful(cbx_str_sub(name, 0, name.len - dict.len));
}

/* os.__dict__[name], vars(os).values(): any member of os. */
void cbx_py_check_dictionary(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    bool subscript = cbx_py_kind(node) == PY_subscript;
    struct cbx_node *object = cbx_child_of(node, subscript ? CBX_FIELD_value : CBX_FIELD_object);
    const struct cbx_values *values = cbx_py_eval(py, object, scope);
    if (!is_module_dictionary(values)) {
        return;
    }
    struct cbx_str method = cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_attribute));
    struct cbx_node *key = subscript ? cbx_child_of(node, CBX_FIELD_subscript) : NULL,
                    *call = node->parent;
    bool get = cbx_str_is(method, "get") || cbx_str_is(method, "pop");
    if (get && cbx_py_kind(call) == PY_call) {
        key = cbx_child_at(cbx_child_of(call, CBX_FIELD_arguments), 0);
    }
    if (cbx_str_is(method, "keys") ||
        (key != NULL && cbx_values_all_text(cbx_py_eval(py, key, scope)))) {
        return;
    }
    cbx_py_special(py, CBX_FACT_COMPUTED_ATTRIBUTE, cbx_walk_text(py, object), node);
}

/* for name, value in vars(os).items(): and so on: any member of the module. */
void cbx_py_check_iteration(struct cbx_walk *py, const struct cbx_node *node,
                            struct cbx_scope *scope)
{
    struct cbx_node *right = cbx_child_of(node, CBX_FIELD_right);
    if (is_module_dictionary(cbx_py_eval(py, right, scope)) && cbx_py_kind(right) == PY_call) {
        cbx_py_special(py, CBX_FACT_COMPUTED_ATTRIBUTE, cbx_walk_text(py, right), right);
    }
}
