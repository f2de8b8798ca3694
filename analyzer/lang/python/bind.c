/* SPDX-License-Identifier: MIT
 * Pass one over Python: the bindings of every scope. Flow-insensitive: a name may have any value
 * that the text binds to it anywhere in its scope. */
#include "analyzer/lang/python/bind.h"

#include "analyzer/lang/builtins.h"
#include "analyzer/lang/python/internal.h"

/* --- parameters ------------------------------------------------------------------------------- */

/* Returns the values that a parameter may have besides the arguments of the calls in the text. */
static const struct cbx_values *other_arguments(struct cbx_walk *py, struct cbx_node *function)
{
    return cbx_values_marked(py->arena,
                             cbx_py_is_only_called(py, function) ? CBX_UNKNOWN_CALLER : 0);
}

static void bind_parameters(struct cbx_walk *py, struct cbx_scope *inner, struct cbx_scope *outer,
                            struct cbx_node *function)
{
    const struct cbx_values *other = other_arguments(py, function);
    struct cbx_node *parameters = cbx_child_of(function, CBX_FIELD_parameters);
    for (struct cbx_node *p = parameters != NULL ? parameters->first : NULL; p != NULL;
         p = p->next) {
        struct cbx_node *name = cbx_py_parameter(p), *value = cbx_child_of(p, CBX_FIELD_value);
        if (name == NULL) {
            continue;
        }
        struct cbx_str text = cbx_py_text(py, name);
        struct cbx_binding *b = cbx_scope_bind(py, inner, outer, text, CBX_BIND_VALUES, name);
        if (b != NULL) {
            b->values = other;
        }
        if (value != NULL) {
            cbx_scope_bind(py, inner, outer, text, CBX_BIND_EXPR, value);
        }
    }
}

/* --- match ------------------------------------------------------------------------------------ */

static struct cbx_node *subject_of(struct cbx_node *node)
{
    while (node != NULL && cbx_py_kind(node) != PY_match_statement) {
        node = node->parent;
    }
    return cbx_child_of(node, CBX_FIELD_subject);
}

static bool is_in_pattern(const struct cbx_node *node)
{
    enum cbx_py_kind parent = cbx_py_kind(node->parent);
    return cbx_py_kind(node) == PY_splat_pattern || parent == PY_case_pattern ||
           parent == PY_keyword_pattern;
}

/* Binds a name of a pattern: in case Point(x=a) `a` is the subject's attribute x; elsewhere it
 * is the subject, or a part of it. */
static void bind_capture(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *name)
{
    struct cbx_py_target t = { .scope = scope, .where = scope, .value = subject_of(name) };
    struct cbx_node *pattern = name->parent;
    while (pattern != NULL && cbx_py_kind(pattern) != PY_case_clause &&
           cbx_py_kind(pattern) != PY_keyword_pattern) {
        pattern = pattern->parent;
    }
    if (cbx_py_kind(pattern) == PY_keyword_pattern) {
        if (cbx_child_at(pattern, 0) == name) {
            return;
        }
        t.path = cbx_py_text(py, cbx_child_at(pattern, 0));
        cbx_py_bind_target(py, t, name);
        t.each = true;
    } else {
        cbx_py_bind_target(py, t, name);
        t.each = true;
    }
    cbx_py_bind_target(py, t, name);
    t.unknown = true; /* or a deeper part of it */
    cbx_py_bind_target(py, t, name);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void bind_globals(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    bool global = cbx_py_kind(node) == PY_global_statement;
    for (struct cbx_node *name = node->first; name != NULL; name = name->next) {
        cbx_scope_bind(py, scope, scope, cbx_py_text(py, name),
                       global ? CBX_BIND_GLOBAL : CBX_BIND_NONLOCAL, node);
    }
}

/* Returns the scope in which an assignment binds: a walrus in a comprehension binds in the
 * enclosing function. */
static struct cbx_scope *binding_scope(struct cbx_scope *scope)
{
    while (scope->kind == CBX_SCOPE_COMPREHENSION && scope->parent != NULL) {
        scope = scope->parent;
    }
    return scope;
}

/* Binds the names in the cases of a match that is misread: the grammar reads `match [a, b]:` as
 * `match[a, b]: type`, with the cases as types. These names may have any value. */
static void bind_misread_match(struct cbx_walk *py, struct cbx_scope *scope,
                               const struct cbx_node *node)
{
    struct cbx_node *type = cbx_child_of(node, CBX_FIELD_type);
    if (!cbx_str_starts(cbx_walk_text(py, node), CBX_STR("match")) || type == NULL) {
        return;
    }
    const struct cbx_node *end = cbx_node_behind(type, py->syntax.nodes + py->syntax.count);
    for (struct cbx_node *n = type; n < end; n++) {
        struct cbx_binding *b =
            cbx_py_kind(n) == PY_identifier && n->field == CBX_FIELD_NONE
                ? cbx_scope_bind(py, scope, scope, cbx_py_text(py, n), CBX_BIND_VALUES, n)
                : NULL;
        if (b != NULL) { /* the old value stays possible */
            b->values = cbx_values_join(py->arena, cbx_values_bare(py->arena, b->name),
                                        &cbx_values_unknown);
        }
    }
}

static void bind_walrus(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_py_target t = { .scope = binding_scope(scope),
                               .where = scope,
                               .value = cbx_child_of(node, CBX_FIELD_value) };
    cbx_py_bind_target(py, t, cbx_child_of(node, CBX_FIELD_name));
}

static void bind_call(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *call)
{
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
    if (cbx_py_kind(callee) == PY_identifier && cbx_str_is(cbx_walk_text(py, callee), "setattr")) {
        cbx_py_bind_setattr(py, scope, call);
    }
}

static void bind_assignment(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *right = cbx_child_of(node, CBX_FIELD_right);
    while (cbx_py_kind(right) == PY_assignment) {
        right = cbx_child_of(right, CBX_FIELD_right); /* a = b = value */
    }
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    if (right == NULL) {
        bind_misread_match(py, scope, node);
        return;
    }
    cbx_py_bind_value(py, scope, left, right, false);
    if (scope->kind == CBX_SCOPE_CLASS && cbx_py_kind(left) == PY_identifier) {
        cbx_scope_bind(py, NULL, scope, cbx_py_text(py, left), CBX_BIND_EXPR, right);
    }
}

/* x += y: the value is the node; the evaluator computes the sum. */
static void bind_augmented(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct cbx_py_target t = { .scope = scope, .where = scope, .value = node, .unknown = true };
    cbx_py_bind_target(py, t, left);
    t.unknown = false;
    cbx_py_bind_target(py, t, left);
}

/* Binds the name of a definition in its scope, in a class also an attribute. With decorators,
 * the name may also have the value that they return. */
static void bind_definition(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_str name = cbx_py_name(py, node);
    bool decorated = cbx_py_kind(node->parent) == PY_decorated_definition;
    for (int attribute = 0; attribute <= (scope->kind == CBX_SCOPE_CLASS); attribute++) {
        struct cbx_scope *where = attribute ? NULL : scope;
        cbx_scope_bind(py, where, scope, name, CBX_BIND_FUNCTION, node);
        if (decorated) {
            cbx_scope_bind(py, where, scope, name, CBX_BIND_EXPR, node->parent);
        }
    }
}

static struct cbx_scope *open_function(struct cbx_walk *py, struct cbx_scope *scope,
                                       struct cbx_node *node)
{
    struct cbx_scope *inner = cbx_scope_open(py, scope, node, CBX_SCOPE_FUNCTION);
    py->giving = true;
    bind_parameters(py, inner, scope, node);
    py->giving = false;
    return inner;
}

static void bind_result(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    scope = binding_scope(scope);
    struct cbx_node *value = cbx_child_at(node, 0);
    bool from = false;
    for (struct cbx_node *token = node->first; token != NULL; token = token->next) {
        from |= !token->named && cbx_str_is(cbx_walk_text(py, token), "from");
    }
    enum cbx_result kind = cbx_py_kind(node) != PY_yield ? CBX_RETURNS
                           : from                        ? CBX_YIELDS_FROM
                                                         : CBX_YIELDS;
    if (scope->kind == CBX_SCOPE_FUNCTION && value != NULL) {
        cbx_scope_return(py, scope, value, kind);
    }
}

/* Binds x of `with f() as x`: the value that f returns, or that its generator yields
 * (contextlib.contextmanager). */
static void bind_alias(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *value = cbx_child_at(node, 0), *alias = cbx_child_of(node, CBX_FIELD_alias);
    if (alias == NULL) { /* `as` of a case */
        alias = cbx_last_child(node);
        if (cbx_py_kind(alias) == PY_identifier) {
            bind_capture(py, scope, alias);
        }
        return;
    }
    cbx_py_bind_value(py, scope, alias, value, false);
    cbx_py_bind_value(py, scope, alias, value, true);
}

static void bind_loop(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    cbx_py_bind_value(py, scope, cbx_child_of(node, CBX_FIELD_left),
                      cbx_child_of(node, CBX_FIELD_right), true);
}

/* f(o=os): an object that f makes may have the argument as its attribute */
static void bind_keyword(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    cbx_scope_bind(py, NULL, scope, cbx_py_name(py, node), CBX_BIND_EXPR,
                   cbx_child_of(node, CBX_FIELD_value));
}

static void bind_name_of_pattern(struct cbx_walk *py, struct cbx_scope *scope,
                                 struct cbx_node *node)
{
    if (cbx_child_count(node) == 1 && is_in_pattern(node) && subject_of(node) != NULL) {
        bind_capture(py, scope, cbx_child_at(node, 0));
    }
}

static void note_method(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    (void)scope;
    py->changes |= cbx_py_changes(cbx_walk_text(py, cbx_child_of(node, CBX_FIELD_attribute)));
}

static void note_delete(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node)
{
    (void)scope;
    (void)node;
    py->changes = true;
}

static struct cbx_scope *open_lambda(struct cbx_walk *py, struct cbx_scope *scope,
                                     struct cbx_node *node)
{
    struct cbx_scope *inner = open_function(py, scope, node);
    cbx_scope_return(py, inner, cbx_child_of(node, CBX_FIELD_body), CBX_RETURNS);
    return inner;
}

static struct cbx_scope *open_class(struct cbx_walk *py, struct cbx_scope *scope,
                                    struct cbx_node *node)
{
    return cbx_scope_open(py, scope, node, CBX_SCOPE_CLASS);
}

static struct cbx_scope *open_comprehension(struct cbx_walk *py, struct cbx_scope *scope,
                                            struct cbx_node *node)
{
    return cbx_scope_open(py, scope, node, CBX_SCOPE_COMPREHENSION);
}

/* `bind` binds the names of a node; `open` returns the scope of its children, which is the scope
 * around it where NULL. */
static const struct {
    void (*bind)(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node);
    struct cbx_scope *(*open)(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *node);
} rows[PY_KINDS] = {
    [PY_import_statement] = { .bind = cbx_py_bind_import },
    [PY_import_from_statement] = { .bind = cbx_py_bind_import },
    [PY_assignment] = { .bind = bind_assignment },
    [PY_augmented_assignment] = { .bind = bind_augmented },
    [PY_named_expression] = { .bind = bind_walrus },
    [PY_for_statement] = { .bind = bind_loop },
    [PY_for_in_clause] = { .bind = bind_loop },
    [PY_as_pattern] = { .bind = bind_alias },
    [PY_dotted_name] = { .bind = bind_name_of_pattern },
    [PY_splat_pattern] = { .bind = bind_name_of_pattern },
    [PY_call] = { .bind = bind_call },
    [PY_keyword_argument] = { .bind = bind_keyword },
    [PY_attribute] = { .bind = note_method },
    [PY_delete_statement] = { .bind = note_delete },
    [PY_return_statement] = { .bind = bind_result },
    [PY_yield] = { .bind = bind_result },
    [PY_global_statement] = { .bind = bind_globals },
    [PY_nonlocal_statement] = { .bind = bind_globals },
    [PY_function_definition] = { .bind = bind_definition, .open = open_function },
    [PY_class_definition] = { .bind = bind_definition, .open = open_class },
    [PY_lambda] = { .open = open_lambda },
    [PY_list_comprehension] = { .open = open_comprehension },
    [PY_set_comprehension] = { .open = open_comprehension },
    [PY_dictionary_comprehension] = { .open = open_comprehension },
    [PY_generator_expression] = { .open = open_comprehension },
};

/* Binds the names of one node; returns the scope for its children. */
static struct cbx_scope *bind_node(struct cbx_walk *py, struct cbx_scope *scope,
                                   struct cbx_node *node)
{
    enum cbx_py_kind kind = cbx_py_kind(node);
    if (rows[kind].bind != NULL) {
        rows[kind].bind(py, scope, node);
    }
    return rows[kind].open != NULL ? rows[kind].open(py, scope, node) : scope;
}

void cbx_py_bind_all(struct cbx_walk *py)
{
    py->eval = cbx_py_eval;
    py->member = cbx_py_member;
    cbx_builtins_begin(py, &cbx_py_builtins);
    cbx_py_read_mentions(py);
    for (uint32_t i = 0; i < py->syntax.count; i++) {
        struct cbx_node *node = &py->syntax.nodes[i];
        struct cbx_scope *scope = cbx_scope_around(py, node);
        py->at = node->start;
        node->inner = bind_node(py, scope, node);
    }
    py->patched |= cbx_walk_file_names(py);
    cbx_builtins_keep(py, &cbx_py_builtins);
}
