/* SPDX-License-Identifier: MIT
 * Names of attributes that lead into the interpreter. */
#include "analyzer/lang/python.h"

/* Is this something of a literal: "".__class__, [].append? */
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

/* f.__code__.co_name looks, f.__code__.replace() changes. */
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
