/* SPDX-License-Identifier: MIT
 * Evaluates conditions of constants in Python, for the filters of comprehensions. */
#include "analyzer/lang/python/internal.h"

enum { CONDITION_DEPTH_MAX = 8 };

static enum cbx_py_truth invert(enum cbx_py_truth truth)
{
    switch (truth) {
    case CBX_PY_NO:
        return CBX_PY_YES;
    case CBX_PY_YES:
        return CBX_PY_NO;
    default:
        return CBX_PY_MAYBE;
    }
}

static enum cbx_py_truth truth_of(bool holds)
{
    return holds ? CBX_PY_YES : CBX_PY_NO;
}

static bool is_constant(const struct cbx_values *values)
{
    return values->count == 1 &&
           (values->items[0]->kind == CBX_V_TEXT || values->items[0]->kind == CBX_V_NUMBER);
}

static enum cbx_py_truth equals(const struct cbx_values *a, const struct cbx_values *b)
{
    if (!is_constant(a) || !is_constant(b)) {
        return CBX_PY_MAYBE;
    }
    const struct cbx_value *x = a->items[0], *y = b->items[0];
    return truth_of(x->kind == y->kind && cbx_str_equal(x->text, y->text));
}

/* Evaluates x in y: a member of a list, or a part of a text. */
static enum cbx_py_truth is_within(struct cbx_walk *py, const struct cbx_values *x,
                                   const struct cbx_values *y)
{
    struct cbx_str part, text;
    if (cbx_values_is_text(x, &part) && cbx_values_is_text(y, &text)) {
        return truth_of(part.len == 0 || (text.len >= part.len &&
                                          memmem(text.p, text.len, part.p, part.len) != NULL));
    }
    const struct cbx_value *list = cbx_py_sequence(py, y);
    enum cbx_py_truth found = list != NULL ? CBX_PY_NO : CBX_PY_MAYBE;
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        enum cbx_py_truth one = equals(x, list->members[i]);
        if (one == CBX_PY_YES) {
            return one;
        }
        found = one == CBX_PY_MAYBE ? one : found;
    }
    return found;
}

static enum cbx_py_truth compare(struct cbx_walk *py, struct cbx_node *node,
                                 struct cbx_scope *scope)
{
    struct cbx_node *left = cbx_child_at(node, 0), *op = left != NULL ? left->next : NULL,
                    *right = cbx_last_child(node);
    if (op == NULL || op->named || op->next != right) { /* a < b < c */
        return CBX_PY_MAYBE;
    }
    struct cbx_str how = cbx_walk_text(py, op);
    const struct cbx_values *a = cbx_py_eval(py, left, scope), *b = cbx_py_eval(py, right, scope);
    if (cbx_str_is(how, "==") || cbx_str_is(how, "is")) {
        return equals(a, b);
    }
    if (cbx_str_is(how, "!=") || cbx_str_is(how, "is not")) {
        return invert(equals(a, b));
    }
    if (cbx_str_is(how, "in")) {
        return is_within(py, a, b);
    }
    return cbx_str_is(how, "not in") ? invert(is_within(py, a, b)) : CBX_PY_MAYBE;
}

/* Evaluates x.startswith('a'). */
static enum cbx_py_truth call_test(struct cbx_walk *py, struct cbx_node *call,
                                   struct cbx_scope *scope)
{
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
    struct cbx_actuals actuals;
    struct cbx_str text, part;
    if (cbx_py_kind(callee) != PY_attribute) {
        return CBX_PY_MAYBE;
    }
    cbx_py_actuals(py, call, scope, &actuals);
    struct cbx_str method = cbx_walk_text(py, cbx_child_of(callee, CBX_FIELD_attribute));
    bool starts = cbx_str_is(method, "startswith"), ends = cbx_str_is(method, "endswith");
    if ((!starts && !ends) ||
        !cbx_values_is_text(cbx_py_eval(py, cbx_child_of(callee, CBX_FIELD_object), scope),
                            &text) ||
        !cbx_values_is_text(cbx_actual_values(py, &actuals, 0, NULL), &part)) {
        return CBX_PY_MAYBE;
    }
    return truth_of(starts ? cbx_str_starts(text, part) : cbx_str_ends(text, part));
}

static enum cbx_py_truth test(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope,
                              int depth)
{
    if (depth >= CONDITION_DEPTH_MAX) {
        return CBX_PY_MAYBE;
    }
    switch (cbx_py_kind(node)) {
    case PY_parenthesized_expression:
        return test(py, cbx_child_at(node, 0), scope, depth + 1);
    case PY_not_operator:
        return invert(test(py, cbx_last_child(node), scope, depth + 1));
    case PY_comparison_operator:
        return compare(py, node, scope);
    case PY_call:
        return call_test(py, node, scope);
    case PY_boolean_operator: {
        enum cbx_py_truth a = test(py, cbx_child_at(node, 0), scope, depth + 1),
                          b = test(py, cbx_last_child(node), scope, depth + 1);
        struct cbx_str op = cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_operator));
        enum cbx_py_truth decides = cbx_str_is(op, "and") ? CBX_PY_NO : CBX_PY_YES;
        if (a == decides || b == decides) {
            return decides;
        }
        return a == b ? a : CBX_PY_MAYBE;
    }
    default:
        return CBX_PY_MAYBE;
    }
}

enum cbx_py_truth cbx_py_test(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    return test(py, node, scope, 0);
}
