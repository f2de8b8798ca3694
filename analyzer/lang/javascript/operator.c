/* SPDX-License-Identifier: MIT
 * Operators of JavaScript on constants, and the texts that they join. */
#include "analyzer/lang/javascript/internal.h"

/* A value that is only there if the variable is not set (process.env.HOME || '/root') does not
 * count: HOME and PWD are set. */
struct cbx_str cbx_js_piece(const struct cbx_values *values, uint32_t *gaps)
{
    enum { ALTERNATIVES_MAX = 2 };
    struct cbx_str piece = cbx_values_piece(values, gaps);
    for (uint32_t i = 0; i < values->count && values->count <= ALTERNATIVES_MAX; i++) {
        const struct cbx_value *v = values->items[i];
        struct cbx_str folder = v->kind == CBX_V_NAME ? cbx_js_folder(v->text) : CBX_STR("");
        if (folder.len > 0) {
            return folder;
        }
    }
    return piece;
}

/* Computes x op y; returns false if JavaScript's numbers would give another result, or for
 * another operator. */
static bool compute(struct cbx_str op, int64_t x, int64_t y, int64_t *out)
{
    bool shifts = y >= 0 && y < 31 && x >= 0 && x <= INT32_MAX;
    if (cbx_str_is(op, "<<")) {
        *out = shifts ? x << y : 0;
        return shifts;
    }
    if (cbx_str_is(op, ">>") || cbx_str_is(op, ">>>")) {
        *out = shifts ? x >> y : 0;
        return shifts;
    }
    if (op.len != 1) {
        return false;
    }
    switch (op.p[0]) {
    case '+':
        return !__builtin_add_overflow(x, y, out);
    case '-':
        return !__builtin_sub_overflow(x, y, out);
    case '*':
        return !__builtin_mul_overflow(x, y, out);
    case '^':
        *out = x ^ y;
        return true;
    case '&':
        *out = x & y;
        return true;
    case '|':
        *out = x | y;
        return true;
    case '%':
        if (y <= 0 || x < 0) {
            return false;
        }
        *out = x % y;
        return true;
    default:
        return false;
    }
}

static const struct cbx_values *eval_numbers(struct cbx_walk *js, struct cbx_str op, int64_t x,
                                             int64_t y)
{
    int64_t out = 0;
    if (!compute(op, x, y, &out)) {
        return &cbx_values_unknown;
    }
    return cbx_values_number(js->arena, cbx_arena_number(js->arena, out), out);
}

static const struct cbx_values *eval_operator(struct cbx_walk *js, struct cbx_str op,
                                              const struct cbx_values *left,
                                              const struct cbx_values *right)
{
    struct cbx_str a, b;
    int64_t x, y;
    if (cbx_str_is(op, "||") || cbx_str_is(op, "&&") || cbx_str_is(op, "??")) {
        return cbx_values_join(js->arena, left, right);
    }
    if (cbx_values_is_number(left, &x) && cbx_values_is_number(right, &y)) {
        return eval_numbers(js, op, x, y);
    }
    uint32_t gaps = cbx_js_secrets(js, left, false) | cbx_js_secrets(js, right, false);
    a = cbx_js_piece(left, &gaps);
    b = cbx_js_piece(right, &gaps);
    return cbx_str_is(op, "+") ? cbx_values_built(js->arena, cbx_fold_concat(js->arena, a, b), gaps)
                               : &cbx_values_unknown;
}

/* Evaluates a + b + c + ..., which is nested to the left: down to the first operand, then up
 * again. */
const struct cbx_values *cbx_js_eval_binary(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    struct cbx_node *first = node;
    while (cbx_js_kind(cbx_child_of(first, CBX_FIELD_left)) == JS_binary_expression) {
        first = cbx_child_of(first, CBX_FIELD_left);
    }
    const struct cbx_values *out = cbx_js_eval(js, cbx_child_of(first, CBX_FIELD_left), scope);
    for (struct cbx_node *n = first;; n = n->parent) {
        struct cbx_str op = cbx_walk_text(js, cbx_child_of(n, CBX_FIELD_operator));
        out = eval_operator(js, op, out, cbx_js_eval(js, cbx_child_of(n, CBX_FIELD_right), scope));
        if (n == node) {
            return out;
        }
    }
}

/* Evaluates `x += y`: the values of the binding before it, and of y. */
const struct cbx_values *cbx_js_eval_augmented(struct cbx_walk *js, struct cbx_node *node,
                                               struct cbx_scope *scope)
{
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct cbx_str op = cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator)),
                   name = cbx_js_name(js, left);
    struct cbx_binding *b = NULL;
    for (struct cbx_scope *s = scope; s != NULL && b == NULL; s = s->parent) {
        b = cbx_js_kind(left) == JS_identifier ? cbx_scope_chain(js, s, name) : NULL;
    }
    /* in the chain declarations follow assignments, the first declaration first */
    struct cbx_binding *before = NULL;
    for (; b != NULL && b->node != node; b = b->next) {
        before = cbx_str_equal(b->name, name) && b->kind == CBX_BIND_EXPR ? b : before;
    }
    for (bool first = before == NULL; b != NULL && first; b = b->next) { /* the declaration */
        bool other = cbx_str_equal(b->name, name) && b->node != node;
        before = other && b->kind == CBX_BIND_EXPR ? b : before;
    }
    bool logical = cbx_str_is(op, "||=") || cbx_str_is(op, "&&=") || cbx_str_is(op, "?\?=");
    if (before == NULL && logical) { /* the old value, or the right side */
        return cbx_values_join(js->arena,
                               cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope),
                               &cbx_values_unknown);
    }
    return before == NULL || op.len < 2
               ? &cbx_values_unknown
               : eval_operator(js, cbx_str_sub(op, 0, op.len - 1),
                               cbx_binding_eval(js, before, before->where),
                               cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope));
}
