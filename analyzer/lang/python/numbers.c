/* SPDX-License-Identifier: MIT
 * Texts of Python with numbers in their holes: the code is the same for any numbers. */
#include "analyzer/lang/python/internal.h"

enum { NUMBER_DEPTH_MAX = 6, BINDINGS_MAX = 32 };

static bool is_number(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope,
                      int depth);

/* Returns true if every value is a number, also if an earlier cell bound the name. */
static bool are_numbers(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool number = v->kind == CBX_V_NUMBER ||
                      (v->kind == CBX_V_UNKNOWN && (v->number & CBX_UNKNOWN_NUMBER) != 0);
        if (!number) {
            return false;
        }
    }
    return values->count > 0;
}

/* Returns true if every member is a number: range(n), [1, 10, 100]. */
static bool has_numbers(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope,
                        int depth)
{
    if (cbx_py_kind(node) == PY_call) {
        return cbx_str_is(cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_function)), "range");
    }
    if (cbx_py_kind(node) != PY_list && cbx_py_kind(node) != PY_tuple) {
        const struct cbx_value *list = cbx_py_sequence(py, cbx_py_eval(py, node, scope));
        for (uint32_t i = 0; list != NULL && i < list->count; i++) {
            const struct cbx_values *member = list->members[i];
            if (member->count != 1 || member->items[0]->kind != CBX_V_NUMBER) {
                return false;
            }
        }
        return list != NULL;
    }
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        if (child->named && !is_number(py, child, scope, depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool is_number_name(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope,
                           int depth)
{
    struct cbx_str name = cbx_py_text(py, node);
    struct cbx_binding *b = NULL;
    for (struct cbx_scope *s = scope; s != NULL && b == NULL; s = s->parent) {
        b = cbx_scope_chain(py, s, name);
    }
    bool number = b != NULL;
    for (int steps = 0; number && b != NULL; b = b->next, steps++) {
        bool caller =
            b->kind == CBX_BIND_VALUES && (cbx_values_flags(b->values) & CBX_UNKNOWN_CALLER) != 0;
        if (!cbx_str_equal(b->name, name) || caller) {
            continue;
        }
        if (b->kind == CBX_BIND_VALUES && b->values != NULL) {
            number = are_numbers(b->values);
            continue;
        }
        number = steps < BINDINGS_MAX && b->kind == CBX_BIND_EXPR && b->path.len == 0 &&
                 (b->each ? has_numbers(py, b->node, b->where, depth + 1)
                          : is_number(py, b->node, b->where, depth + 1));
    }
    return number;
}

static bool is_number(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope,
                      int depth)
{
    if (depth > NUMBER_DEPTH_MAX) {
        return false;
    }
    switch (cbx_py_kind(node)) {
    case PY_integer:
    case PY_float:
        return true;
    case PY_parenthesized_expression:
    case PY_unary_operator:
        return is_number(py, cbx_last_child(node), scope, depth + 1);
    case PY_binary_operator:
        return is_number(py, cbx_child_of(node, CBX_FIELD_left), scope, depth + 1) &&
               is_number(py, cbx_child_of(node, CBX_FIELD_right), scope, depth + 1);
    case PY_call:
        return are_numbers(cbx_py_eval(py, node, scope));
    case PY_identifier:
        return is_number_name(py, node, scope, depth);
    default:
        return false;
    }
}

/* Returns the text of an f-string with 0 in its holes; {NULL, 0} if one may be no number. */
static struct cbx_str fill_string(struct cbx_walk *py, struct cbx_node *node,
                                  struct cbx_scope *scope)
{
    struct cbx_str out = CBX_STR(""), none = { 0 };
    for (struct cbx_node *child = node->first; child != NULL && out.p != NULL;
         child = child->next) {
        struct cbx_str part = cbx_walk_text(py, child);
        if (cbx_py_kind(child) == PY_interpolation) {
            if (!is_number(py, cbx_child_at(child, 0), scope, 0)) {
                return none;
            }
            part = CBX_STR("0");
        } else if (cbx_py_kind(child) == PY_string_content) {
            part = cbx_fold_unescape(py->arena, part, true);
        } else {
            continue;
        }
        out = cbx_fold_concat(py->arena, out, part);
    }
    return out;
}

/* Returns the text of 'f(%d)' % n: %d accepts only numbers. */
static struct cbx_str fill_percent(struct cbx_walk *py, struct cbx_node *node,
                                   struct cbx_scope *scope)
{
    struct cbx_str format, out = CBX_STR(""), none = { 0 };
    if (!cbx_str_is(cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_operator)), "%") ||
        !cbx_values_is_text(cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_left), scope), &format)) {
        return none;
    }
    for (size_t at = 0; at < format.len && out.p != NULL;) {
        const char *percent = memchr(format.p + at, '%', format.len - at);
        size_t end = percent != NULL ? (size_t)(percent - format.p) : format.len;
        out = cbx_fold_concat(py->arena, out, cbx_str_sub(format, at, end));
        if (percent == NULL) {
            break;
        }
        if (end + 1 >= format.len || format.p[end + 1] != 'd') {
            return none;
        }
        out = out.p != NULL ? cbx_fold_concat(py->arena, out, CBX_STR("0")) : out;
        at = end + 2;
    }
    return out;
}

bool cbx_py_judge_numbered(struct cbx_walk *py, const struct cbx_actual *text,
                           const struct cbx_node *call)
{
    struct cbx_str code = { 0 };
    struct cbx_node *node = text != NULL ? text->node : NULL;
    if (cbx_py_kind(node) == PY_string) {
        code = fill_string(py, node, text->scope);
    } else if (cbx_py_kind(node) == PY_binary_operator) {
        code = fill_percent(py, node, text->scope);
    }
    return code.p != NULL && code.len > 0 && cbx_py_judge_loosely(py, code, call, false);
}
