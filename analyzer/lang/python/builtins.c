/* SPDX-License-Identifier: MIT
 * The bindings in Python that certainly replace a builtin: statements of the module itself, from
 * the end of the statement on. */
#include "analyzer/lang/builtins.h"
#include "analyzer/lang/python/internal.h"

static enum cbx_builtin_use use(const struct cbx_node *node)
{
    if (cbx_py_kind(node) != PY_identifier) {
        return CBX_BUILTIN_NO_USE;
    }
    switch (cbx_py_kind(node->parent)) {
    case PY_delete_statement:
        return CBX_BUILTIN_DELETED;
    case PY_expression_list:
        return cbx_py_kind(node->parent->parent) == PY_delete_statement ? CBX_BUILTIN_DELETED
                                                                        : CBX_BUILTIN_USED;
    case PY_attribute:
        return node->field == CBX_FIELD_attribute ? CBX_BUILTIN_NO_USE : CBX_BUILTIN_USED;
    case PY_assignment:
    case PY_for_statement:
    case PY_for_in_clause:
        return node->field == CBX_FIELD_left ? CBX_BUILTIN_NO_USE : CBX_BUILTIN_USED;
    case PY_keyword_argument:
    case PY_function_definition:
    case PY_class_definition:
    case PY_default_parameter:
    case PY_typed_default_parameter:
        return node->field == CBX_FIELD_name ? CBX_BUILTIN_NO_USE : CBX_BUILTIN_USED;
    case PY_pattern_list:
    case PY_tuple_pattern:
    case PY_list_pattern:
    case PY_list_splat_pattern:
    case PY_as_pattern_target:
    case PY_parameters:
    case PY_lambda_parameters:
    case PY_typed_parameter:
    case PY_global_statement:
    case PY_nonlocal_statement:
    case PY_dotted_name:
    case PY_aliased_import:
        return CBX_BUILTIN_NO_USE;
    default:
        return CBX_BUILTIN_USED;
    }
}

/* A binding that holds in the body of its statement: for x in y, with y as x, except y as x. */
enum { HOLDS_INSIDE = UINT32_MAX - 1 };

/* Returns the statement of such a binding, NULL for another one; *from is the place where the
 * name is bound. */
static const struct cbx_node *statement_of(const struct cbx_binding *binding, uint32_t *from)
{
    const struct cbx_node *value = binding->node, *up = value != NULL ? value->parent : NULL;
    bool plain = binding->kind == CBX_BIND_EXPR && binding->path.len == 0;
    if (!plain) {
        return NULL;
    }
    *from = value->end;
    if (cbx_py_kind(up) == PY_for_statement && value->field == CBX_FIELD_right) {
        return up;
    }
    if (cbx_py_kind(up) != PY_as_pattern) {
        return NULL;
    }
    *from = up->end;
    bool with = cbx_py_kind(up->parent) == PY_with_item;
    up = with ? up->parent->parent : up->parent;
    return with && up != NULL ? up->parent : up;
}

static uint32_t holds_from(struct cbx_walk *py, const struct cbx_binding *binding)
{
    const struct cbx_node *root = &py->syntax.nodes[0], *node = binding->node;
    bool certain =
        node != NULL && (binding->kind == CBX_BIND_NAME || binding->kind == CBX_BIND_FUNCTION ||
                         (binding->kind == CBX_BIND_EXPR && node->field == CBX_FIELD_right &&
                          cbx_py_kind(node->parent) == PY_assignment));
    while (certain && node->parent != root) {
        node = node->parent;
        switch (cbx_py_kind(node)) {
        case PY_assignment:
        case PY_expression_statement:
        case PY_decorated_definition:
        case PY_dotted_name:
        case PY_aliased_import:
        case PY_import_statement:
        case PY_import_from_statement:
            break;
        default:
            certain = false;
        }
    }
    uint32_t from;
    if (!certain && statement_of(binding, &from) != NULL) {
        return HOLDS_INSIDE;
    }
    return certain ? node->end : UINT32_MAX;
}

/* Returns true if running the statement calls nothing; the bodies of functions do not run. */
static bool is_quiet(const struct cbx_walk *py, const struct cbx_node *statement)
{
    const struct cbx_node *all = py->syntax.nodes + py->syntax.count,
                          *end = cbx_node_behind(statement, all);
    for (const struct cbx_node *n = statement; n < end;) {
        enum cbx_py_kind kind = cbx_py_kind(n), parent = cbx_py_kind(n->parent);
        if (kind == PY_call || kind == PY_decorator || kind == PY_await || kind == PY_yield ||
            kind == PY_for_statement || kind == PY_for_in_clause || kind == PY_with_item) {
            return false;
        }
        bool body =
            n->field == CBX_FIELD_body && (parent == PY_function_definition || parent == PY_lambda);
        n = body ? cbx_node_behind(n, all) : n + 1;
    }
    return true;
}

/* Returns true if the use is in a function of the module, and nothing is called between the
 * function's definition and the binding. */
static bool runs_later(struct cbx_walk *py, const struct cbx_binding *binding,
                       const struct cbx_node *use, uint32_t from)
{
    const struct cbx_node *root = &py->syntax.nodes[0], *top = use;
    bool in_body = false;
    if (from == HOLDS_INSIDE) {
        const struct cbx_node *statement = statement_of(binding, &from);
        return statement != NULL && use->start >= from && use->start < statement->end &&
               cbx_scope_around(py, use) == binding->where;
    }
    for (; top->parent != NULL && top->parent != root; top = top->parent) {
        in_body |=
            top->field == CBX_FIELD_body && cbx_py_kind(top->parent) == PY_function_definition;
    }
    if (!in_body ||
        (cbx_py_kind(top) != PY_function_definition && cbx_py_kind(top) != PY_class_definition)) {
        return false;
    }
    (void)binding;
    for (const struct cbx_node *s = top; s != NULL && s->start < from; s = s->next) {
        if (!is_quiet(py, s)) {
            return false;
        }
    }
    return true;
}

static const char *const names[] = {
    "eval",       "exec",     "compile",     "open",     "__import__", "breakpoint",
    "getattr",    "setattr",  "delattr",     "globals",  "locals",     "__builtins__",
    "__loader__", "__spec__", "get_ipython", "execfile", "reload",     "__build_class__",
};

const struct cbx_builtins cbx_py_builtins = {
    .names = names,
    .count = sizeof(names) / sizeof(names[0]),
    .use = use,
    .holds_from = holds_from,
    .runs_later = runs_later,
};
