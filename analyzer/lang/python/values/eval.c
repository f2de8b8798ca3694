/* SPDX-License-Identifier: MIT
 * The Python evaluator: the possible values of an expression. Bounded in depth and steps; beyond a
 * bound the value is "anything". */
#include "analyzer/lang/python/internal.h"

enum { AUGMENTED_MAX = 256, AUGMENTED_DEPTH_MAX = 150 };

/* Returns `out` joined with the values that a free name of inner code has in the outer text. A
 * function of the outer text counts as anything: its nodes are not in this text. */
static const struct cbx_values *eval_outside(struct cbx_walk *py, struct cbx_str name,
                                             const struct cbx_values *out)
{
    struct cbx_walk *outer = py->parsed->outer;
    const struct cbx_values *values = outer != NULL
                                          ? cbx_py_eval_name(outer, name, py->parsed->outer_scope)
                                          : &cbx_values_nothing;
    for (uint32_t i = 0; i < values->count; i++) {
        enum cbx_value_kind kind = values->items[i]->kind;
        bool plain = kind == CBX_V_NAME || kind == CBX_V_TEXT || kind == CBX_V_NUMBER;
        out = plain ? cbx_values_join(py->arena, out, cbx_values_one(py->arena, values->items[i]))
                    : cbx_values_join(py->arena, out, &cbx_values_unknown);
    }
    return out;
}

static bool is_constant(const struct cbx_values *values)
{
    bool only = true;
    for (uint32_t i = 0; i < values->count; i++) {
        only &= values->items[i]->kind != CBX_V_NAME && values->items[i]->kind != CBX_V_FUNCTION;
    }
    return only;
}

/* Returns true for _, __, _3, Out: results of earlier cells in IPython. */
static bool is_history(struct cbx_str name)
{
    size_t n = 0;
    while (n < name.len && n < 3 && name.p[n] == '_') {
        n++;
    }
    bool numbered = n == 1;
    for (size_t i = n; numbered && i < name.len; i++) {
        numbered = name.p[i] >= '0' && name.p[i] <= '9';
    }
    return (n > 0 && n == name.len) || (numbered && name.len > 1) || cbx_str_is(name, "Out") ||
           cbx_str_is(name, "_oh");
}

const struct cbx_values *cbx_py_eval_name(struct cbx_walk *py, struct cbx_str name,
                                          struct cbx_scope *scope)
{
    bool first = true;
    for (struct cbx_scope *s = scope; s != NULL; s = s->parent, first = false) {
        if (s->kind == CBX_SCOPE_CLASS && !first) {
            continue;
        }
        const struct cbx_values *found = cbx_scope_lookup(py, s, name);
        if (found != NULL) { /* globals() may bind it too */
            return py->namespaces && s->parent == NULL && is_constant(found)
                       ? cbx_values_join(py->arena, found, &cbx_values_unknown)
                       : found;
        }
    }
    const struct cbx_values *out = is_history(name)
                                       ? &cbx_values_unknown
                                       : cbx_values_bare(py->arena, cbx_py_canonical(py, name));
    for (size_t i = 0; i < py->stars.count; i++) {
        struct cbx_value module = { .kind = CBX_V_NAME, .text = py->stars.items[i] };
        if (cbx_py_is_plain(module.text) && cbx_py_is_given(name)) {
            continue; /* the builtin */
        }
        out = cbx_values_join(py->arena, out,
                              cbx_values_name(py->arena, cbx_py_qualify(py, &module, name)));
    }
    /* globals().update(name=x); from file import * */
    bool anywhere = py->namespaces || (py->files != NULL && py->stars.count > 0);
    const struct cbx_values *fields = anywhere ? cbx_scope_lookup(py, NULL, name) : NULL;
    out = fields != NULL ? cbx_values_join(py->arena, out, fields) : out;
    out = py->namespaces ? cbx_values_join(py->arena, out, &cbx_values_unknown) : out;
    return eval_outside(py, name, out);
}

static const struct cbx_values *eval_identifier(struct cbx_walk *py, struct cbx_str name,
                                                struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_py_eval_name(py, name, scope);
    bool loose = py->changes && !cbx_py_is_only_read(py, name);
    return loose ? cbx_values_loose(py->arena, values) : values;
}

static const struct cbx_values *eval_number(struct cbx_walk *py, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    (void)scope;
    int64_t number;
    struct cbx_str text = cbx_walk_text(py, node);
    return cbx_fold_integer(text, &number) ? cbx_values_number(py->arena, text, number)
                                           : &cbx_values_unknown;
}

/* --- operators -------------------------------------------------------------------------------- */

/* Evaluates a + b + c + ..., which is nested to the left: down to the first operand, then up
 * again. */
static const struct cbx_values *eval_binary(struct cbx_walk *py, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    struct cbx_node *first = node;
    while (cbx_py_kind(cbx_child_of(first, CBX_FIELD_left)) == PY_binary_operator) {
        first = cbx_child_of(first, CBX_FIELD_left);
    }
    const struct cbx_values *out = cbx_py_eval(py, cbx_child_of(first, CBX_FIELD_left), scope);
    for (struct cbx_node *n = first;; n = n->parent) {
        struct cbx_str op = cbx_walk_text(py, cbx_child_of(n, CBX_FIELD_operator));
        const struct cbx_values *right = cbx_py_eval(py, cbx_child_of(n, CBX_FIELD_right), scope);
        out = cbx_py_operator(py, op, out, right);
        if (n == node) {
            return out;
        }
    }
}

/* Evaluates `x += y`: the values of the binding before it, and of y. */
static const struct cbx_values *eval_augmented(struct cbx_walk *py, struct cbx_node *node,
                                               struct cbx_scope *scope)
{
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct cbx_str op = cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_operator)),
                   name = cbx_walk_text(py, left);
    struct cbx_binding *b =
        cbx_py_kind(left) == PY_identifier ? cbx_scope_chain(py, scope, name) : NULL;
    int steps = 0;
    while (b != NULL && b->node != node && steps++ < AUGMENTED_MAX) {
        b = b->next;
    }
    if (steps > AUGMENTED_MAX || py->depth > AUGMENTED_DEPTH_MAX) {
        return &cbx_values_unknown; /* the program builds a text over many lines */
    }
    while (b != NULL && (b->node == node || !cbx_str_equal(b->name, name))) {
        b = b->next;
    }
    if (b == NULL || op.len < 2) {
        return &cbx_values_unknown;
    }
    return cbx_py_operator(py, cbx_str_sub(op, 0, op.len - 1), cbx_binding_eval(py, b, b->where),
                           cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_right), scope));
}

static const struct cbx_values *eval_unary(struct cbx_walk *py, struct cbx_node *node,
                                           struct cbx_scope *scope)
{
    int64_t number;
    struct cbx_str op = cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_operator));
    const struct cbx_values *of = cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_argument), scope);
    if (of->count == 1 && cbx_py_is_symbolic(of->items[0])) {
        return of;
    }
    if (!cbx_values_is_number(of, &number) || number == INT64_MIN || op.len != 1) {
        return &cbx_values_unknown;
    }
    number = op.p[0] == '-' ? -number : op.p[0] == '~' ? ~number : number;
    return cbx_values_number(py->arena, cbx_arena_number(py->arena, number), number);
}

/* --- expressions ------------------------------------------------------------------------------ */

static const struct cbx_values *eval_subscript(struct cbx_walk *py, struct cbx_node *node,
                                               struct cbx_scope *scope)
{
    const struct cbx_values *object = cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_value), scope);
    struct cbx_node *key = cbx_child_of(node, CBX_FIELD_subscript);
    return cbx_py_kind(key) == PY_slice
               ? cbx_py_slice(py, object, key, scope)
               : cbx_py_item(py, object, cbx_py_eval(py, key, scope), scope);
}

static const struct cbx_values *eval_either(struct cbx_walk *py, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    const struct cbx_values *first = cbx_py_eval(py, cbx_child_at(node, 0), scope);
    struct cbx_node *last = cbx_last_child(node);
    return last == cbx_child_at(node, 0)
               ? first
               : cbx_values_join(py->arena, first, cbx_py_eval(py, last, scope));
}

/* Evaluates @a @b def f: a(b(f)). */
static const struct cbx_values *eval_decorated(struct cbx_walk *py, struct cbx_node *node,
                                               struct cbx_scope *scope)
{
    struct cbx_node *decorators[16];
    uint32_t count = 0;
    for (struct cbx_node *d = node->first; d != NULL && count < 16; d = d->next) {
        if (cbx_py_kind(d) == PY_decorator) {
            decorators[count++] = cbx_child_at(d, 0);
        }
    }
    const struct cbx_values *value = cbx_py_eval(py, cbx_last_child(node), scope);
    while (count > 0) {
        struct cbx_actuals actuals = { 0 };
        cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, NULL, NULL, value);
        value = cbx_py_apply(py, cbx_py_eval(py, decorators[--count], scope), &actuals, scope);
    }
    return value;
}

static const struct cbx_values *eval_call(struct cbx_walk *py, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    struct cbx_actuals actuals;
    cbx_py_actuals(py, node, scope, &actuals);
    return cbx_py_apply(py, cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_function), scope),
                        &actuals, scope);
}

/* Returns the constant text of string.digits and the like; else the value itself. */
static const struct cbx_values *or_constant(struct cbx_walk *py, const struct cbx_values *values)
{
    bool name =
        values->count == 1 && values->items[0]->kind == CBX_V_NAME && values->items[0]->number == 0;
    struct cbx_str text = name ? cbx_py_constant(values->items[0]->text) : (struct cbx_str){ 0 };
    return text.p != NULL ? cbx_values_text(py->arena, text) : values;
}

static const struct cbx_values *eval_name(struct cbx_walk *py, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    return or_constant(
        py, eval_identifier(py, cbx_fold_nfkc(py->arena, cbx_walk_text(py, node)), scope));
}

static const struct cbx_values *eval_attribute(struct cbx_walk *py, struct cbx_node *node,
                                               struct cbx_scope *scope)
{
    const struct cbx_values *object = cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_object), scope);
    struct cbx_str name = cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_attribute));
    return or_constant(py, cbx_py_read(py, object, cbx_fold_nfkc(py->arena, name)));
}

static const struct cbx_values *eval_constant(struct cbx_walk *py, struct cbx_node *node,
                                              struct cbx_scope *scope)
{
    (void)scope;
    return cbx_values_constant(py->arena, cbx_walk_text(py, node));
}

static const struct cbx_values *eval_inner(struct cbx_walk *py, struct cbx_node *node,
                                           struct cbx_scope *scope)
{
    return cbx_py_eval(py, cbx_child_at(node, 0), scope);
}

static const struct cbx_values *eval_walrus(struct cbx_walk *py, struct cbx_node *node,
                                            struct cbx_scope *scope)
{
    return cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_value), scope);
}

/* Returns a function or class of this source. */
static const struct cbx_values *eval_function(struct cbx_walk *py, struct cbx_node *node,
                                              struct cbx_scope *scope)
{
    (void)scope;
    struct cbx_value function = { .kind = CBX_V_FUNCTION, .node = node, .scope = node->inner };
    return cbx_values_one(py->arena, &function);
}

static const struct cbx_values *(*const evaluators[PY_KINDS])(struct cbx_walk *py,
                                                              struct cbx_node *node,
                                                              struct cbx_scope *scope) = {
    [PY_identifier] = eval_name,
    [PY_attribute] = eval_attribute,
    [PY_subscript] = eval_subscript,
    [PY_call] = eval_call,
    [PY_string] = cbx_py_eval_string,
    [PY_concatenated_string] = cbx_py_eval_strings,
    [PY_integer] = eval_number,
    [PY_float] = eval_constant,
    [PY_true] = eval_constant,
    [PY_false] = eval_constant,
    [PY_none] = eval_constant,
    [PY_binary_operator] = eval_binary,
    [PY_unary_operator] = eval_unary,
    [PY_augmented_assignment] = eval_augmented,
    [PY_boolean_operator] = eval_either,
    [PY_conditional_expression] = eval_either,
    [PY_list] = cbx_py_eval_list,
    [PY_tuple] = cbx_py_eval_list,
    [PY_set] = cbx_py_eval_list,
    [PY_expression_list] = cbx_py_eval_list,
    [PY_pattern_list] = cbx_py_eval_list,
    [PY_dictionary] = cbx_py_eval_dictionary,
    [PY_list_comprehension] = cbx_py_eval_comprehension,
    [PY_set_comprehension] = cbx_py_eval_comprehension,
    [PY_generator_expression] = cbx_py_eval_comprehension,
    [PY_dictionary_comprehension] = cbx_py_eval_comprehension,
    [PY_parenthesized_expression] = eval_inner,
    [PY_await] = eval_inner,
    [PY_list_splat] = eval_inner,
    [PY_as_pattern] = eval_inner,
    [PY_named_expression] = eval_walrus,
    [PY_lambda] = eval_function,
    [PY_function_definition] = eval_function,
    [PY_class_definition] = eval_function,
    [PY_decorated_definition] = eval_decorated,
};

static const struct cbx_values *eval_kind(struct cbx_walk *py, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    enum cbx_py_kind kind = cbx_py_kind(node);
    return evaluators[kind] != NULL ? evaluators[kind](py, node, scope) : &cbx_values_unknown;
}

const struct cbx_values *cbx_py_eval(struct cbx_walk *py, struct cbx_node *node,
                                     struct cbx_scope *scope)
{
    return cbx_scope_eval(py, node, scope, eval_kind);
}
