/* SPDX-License-Identifier: MIT
 * Pass one over Python: which name is bound where, and to what. Flow does not count: a name may be
 * anything that it is bound to anywhere in its scope. */
#include "analyzer/lang/python.h"

#include <pthread.h>

const TSLanguage *tree_sitter_python(void);

static uint8_t kind_of_symbol[CBX_SYMBOLS_MAX];
static pthread_once_t kinds_once = PTHREAD_ONCE_INIT;

static void fill_kinds(void)
{
    static const char *const names[] = {
#define CBX_KIND(name) #name,
#include "analyzer/lang/python_kinds.def"
#undef CBX_KIND
    };
    cbx_kinds_fill(tree_sitter_python(), names, sizeof(names) / sizeof(names[0]), kind_of_symbol);
}

enum cbx_py_kind cbx_py_kind(TSNode node)
{
    pthread_once(&kinds_once, fill_kinds);
    TSSymbol symbol = ts_node_is_null(node) ? 0 : ts_node_symbol(node);
    return symbol < sizeof(kind_of_symbol) ? (enum cbx_py_kind)kind_of_symbol[symbol] : PY_OTHER;
}

/* x['k'] = value: what is read as 'k' from an object that is not followed may be it; globals()['k']
 * = value binds a name. */
static void bind_item(struct cbx_walk *py, struct cbx_scope *scope, TSNode target,
                      enum cbx_bind kind, TSNode node, uint32_t index)
{
    struct cbx_str key;
    TSNode subscript = cbx_node_field(target, CBX_FIELD_subscript),
           object = cbx_node_field(target, CBX_FIELD_value);
    if (cbx_py_kind(subscript) != PY_string ||
        !cbx_values_is_text(cbx_py_eval(py, subscript, scope), &key)) {
        return;
    }
    bool names =
        cbx_py_kind(object) == PY_call && cbx_str_is(cbx_walk_text(py, object), "globals()");
    struct cbx_binding *binding =
        cbx_scope_bind(py, names ? py->module : NULL, scope, key, kind, node);
    if (binding != NULL) {
        binding->index = index;
    }
}

/* A target of an assignment of the value of `node`; kind says how the target's value comes out of
 * it. */
static void bind_target(struct cbx_walk *py, struct cbx_scope *scope, TSNode target,
                        enum cbx_bind kind, TSNode node, uint32_t index, int depth)
{
    struct cbx_binding *binding;
    TSTreeCursor cursor;
    uint32_t i = 0;
    switch (cbx_py_kind(target)) {
    case PY_identifier:
        binding = cbx_scope_bind(py, scope, scope,
                                 cbx_fold_nfkc(py->arena, cbx_walk_text(py, target)), kind, node);
        if (binding != NULL) {
            binding->index = index;
        }
        return;
    case PY_attribute:
        binding = cbx_scope_bind(
            py, NULL, scope,
            cbx_fold_nfkc(py->arena,
                          cbx_walk_text(py, cbx_node_field(target, CBX_FIELD_attribute))),
            kind, node);
        if (binding != NULL) {
            binding->index = index;
        }
        return;
    case PY_subscript:
        bind_item(py, scope, target, kind, node, index);
        return;
    case PY_pattern_list:
    case PY_tuple_pattern:
    case PY_list_pattern:
    case PY_expression_list:
    case PY_tuple:
    case PY_list:
    case PY_list_splat_pattern:
    case PY_parenthesized_expression:
    case PY_as_pattern_target:
    case PY_list_splat:
        cursor = ts_tree_cursor_new(target);
        for (bool more = depth < 32 && ts_tree_cursor_goto_first_child(&cursor); more;
             more = ts_tree_cursor_goto_next_sibling(&cursor)) {
            TSNode child = ts_tree_cursor_current_node(&cursor);
            if (ts_node_is_named(child)) {
                bool flat = kind == CBX_BIND_EXPR &&
                            cbx_py_kind(target) != PY_parenthesized_expression &&
                            cbx_py_kind(target) != PY_as_pattern_target;
                bind_target(py, scope, child,
                            flat                    ? CBX_BIND_ITEM
                            : kind == CBX_BIND_EXPR ? kind
                                                    : CBX_BIND_MEMBER,
                            node, i++, depth + 1);
            }
        }
        ts_tree_cursor_delete(&cursor);
        return;
    default:
        return;
    }
}

static void bind_qualified(struct cbx_walk *py, struct cbx_scope *scope, TSNode name,
                           struct cbx_str qualified)
{
    struct cbx_binding *binding = cbx_scope_bind(
        py, scope, scope, cbx_fold_nfkc(py->arena, cbx_walk_text(py, name)), CBX_BIND_NAME, name);
    if (binding != NULL) {
        binding->qualified = cbx_py_canonical(py, qualified);
    }
}

static struct cbx_str join_names(struct cbx_walk *py, struct cbx_str a, struct cbx_str b)
{
    return cbx_arena_printf(py->arena, "%.*s.%.*s", (int)a.len, a.p, (int)b.len, b.p);
}

/* import a.b.c binds a; import a.b.c as x binds x to a.b.c; from a import b as x binds x to a.b;
 * from a import * binds whatever. */
static void bind_import(struct cbx_walk *py, struct cbx_scope *scope, TSNode node, bool from)
{
    TSNode module = from ? cbx_node_field(node, CBX_FIELD_module_name) : node;
    struct cbx_str prefix =
        from ? cbx_fold_nfkc(py->arena, cbx_walk_text(py, module)) : (struct cbx_str){ 0 };
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        enum cbx_py_kind kind = cbx_py_kind(child);
        if (kind == PY_wildcard_import && py->stars.count < 16) {
            py->star_items[py->stars.count++] = prefix;
            py->stars.items = py->star_items;
        }
        TSNode name = kind == PY_aliased_import ? cbx_node_field(child, CBX_FIELD_name) : child;
        if ((kind != PY_dotted_name && kind != PY_aliased_import) ||
            (from && ts_node_eq(child, module))) {
            continue;
        }
        struct cbx_str text = cbx_fold_nfkc(py->arena, cbx_walk_text(py, name));
        if (kind == PY_aliased_import) {
            bind_qualified(py, scope, cbx_node_field(child, CBX_FIELD_alias),
                           from ? join_names(py, prefix, text) : text);
        } else if (from) {
            bind_qualified(py, scope, name, join_names(py, prefix, text));
        } else {
            const char *dot = memchr(text.p, '.', text.len);
            TSNode first = ts_node_named_child(name, 0);
            bind_qualified(py, scope, first,
                           dot != NULL ? cbx_str_sub(text, 0, (size_t)(dot - text.p)) : text);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

static void bind_parameters(struct cbx_walk *py, struct cbx_scope *inner, struct cbx_scope *outer,
                            TSNode parameters)
{
    if (ts_node_is_null(parameters)) {
        return;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(parameters);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode p = ts_tree_cursor_current_node(&cursor);
        enum cbx_py_kind kind = cbx_py_kind(p);
        TSNode name = kind == PY_identifier ? p
                      : kind == PY_default_parameter || kind == PY_typed_default_parameter
                          ? cbx_node_field(p, CBX_FIELD_name)
                          : ts_node_named_child(p, 0);
        while (cbx_py_kind(name) == PY_list_splat_pattern ||
               cbx_py_kind(name) == PY_dictionary_splat_pattern) {
            name = ts_node_named_child(name, 0);
        }
        if (cbx_py_kind(name) != PY_identifier) {
            continue;
        }
        cbx_scope_bind(py, inner, outer, cbx_fold_nfkc(py->arena, cbx_walk_text(py, name)),
                       CBX_BIND_UNKNOWN, name);
        if (kind == PY_default_parameter || kind == PY_typed_default_parameter) {
            cbx_scope_bind(py, inner, outer, cbx_fold_nfkc(py->arena, cbx_walk_text(py, name)),
                           CBX_BIND_EXPR, cbx_node_field(p, CBX_FIELD_value));
        }
    }
    ts_tree_cursor_delete(&cursor);
}

static void bind_globals(struct cbx_walk *py, struct cbx_scope *scope, TSNode node)
{
    for (uint32_t i = 0, n = ts_node_named_child_count(node); i < n && i < 64; i++) {
        cbx_scope_bind(py, scope, scope,
                       cbx_fold_nfkc(py->arena, cbx_walk_text(py, ts_node_named_child(node, i))),
                       CBX_BIND_GLOBAL, node);
    }
}

/* The scope that an assignment in here binds in: names of a comprehension's walrus belong to the
 * function around it. */
static struct cbx_scope *binding_scope(struct cbx_scope *scope)
{
    while (scope->kind == CBX_SCOPE_COMPREHENSION && scope->parent != NULL) {
        scope = scope->parent;
    }
    return scope;
}

/* The name that a definition or a keyword argument gives. */
static struct cbx_str name_of(struct cbx_walk *py, TSNode node)
{
    return cbx_fold_nfkc(py->arena, cbx_walk_text(py, cbx_node_field(node, CBX_FIELD_name)));
}

static void bind_assignment(struct cbx_walk *py, struct cbx_scope *scope, TSNode node)
{
    TSNode right = cbx_node_field(node, CBX_FIELD_right);
    while (cbx_py_kind(right) == PY_assignment) {
        right = cbx_node_field(right, CBX_FIELD_right); /* a = b = value */
    }
    if (!ts_node_is_null(right)) {
        bind_target(py, scope, cbx_node_field(node, CBX_FIELD_left), CBX_BIND_EXPR, right, 0, 0);
    }
}

/* case Point(x, y): */
static void bind_captures(struct cbx_walk *py, struct cbx_scope *scope, TSNode node)
{
    for (uint32_t i = 0, n = ts_node_named_child_count(node); i < n && i < 64; i++) {
        TSNode name = ts_node_named_child(node, i);
        if (cbx_py_kind(name) == PY_dotted_name && ts_node_named_child_count(name) == 1) {
            cbx_scope_bind(py, scope, scope, cbx_fold_nfkc(py->arena, cbx_walk_text(py, name)),
                           CBX_BIND_UNKNOWN, node);
        }
    }
}

/* One node on the way down; returns the scope for its children. */
static struct cbx_scope *bind_node(struct cbx_walk *py, struct cbx_scope *scope, TSNode node)
{
    struct cbx_scope *inner;
    switch (cbx_py_kind(node)) {
    case PY_import_statement:
        bind_import(py, scope, node, false);
        return scope;
    case PY_import_from_statement:
        bind_import(py, scope, node, true);
        return scope;
    case PY_assignment:
        bind_assignment(py, scope, node);
        return scope;
    case PY_augmented_assignment:
        bind_target(py, scope, cbx_node_field(node, CBX_FIELD_left), CBX_BIND_UNKNOWN, node, 0, 0);
        return scope;
    case PY_keyword_argument: /* f(o=os): an object that f makes may have it as its attribute */
        cbx_scope_bind(py, NULL, scope, name_of(py, node), CBX_BIND_EXPR,
                       cbx_node_field(node, CBX_FIELD_value));
        return scope;
    case PY_named_expression:
        bind_target(py, binding_scope(scope), cbx_node_field(node, CBX_FIELD_name), CBX_BIND_EXPR,
                    cbx_node_field(node, CBX_FIELD_value), 0, 0);
        return scope;
    case PY_for_statement:
    case PY_for_in_clause:
        bind_target(py, scope, cbx_node_field(node, CBX_FIELD_left), CBX_BIND_MEMBER,
                    cbx_node_field(node, CBX_FIELD_right), 0, 0);
        return scope;
    case PY_as_pattern:
        bind_target(py, scope, cbx_node_field(node, CBX_FIELD_alias), CBX_BIND_EXPR,
                    ts_node_named_child(node, 0), 0, 0);
        return scope;
    case PY_case_pattern:
        bind_captures(py, scope, node);
        return scope;
    case PY_function_definition:
        cbx_scope_bind(py, scope, scope, name_of(py, node), CBX_BIND_FUNCTION, node);
        inner = cbx_scope_open(py, scope, node, CBX_SCOPE_FUNCTION);
        bind_parameters(py, inner, scope, cbx_node_field(node, CBX_FIELD_parameters));
        return inner;
    case PY_lambda:
        inner = cbx_scope_open(py, scope, node, CBX_SCOPE_FUNCTION);
        bind_parameters(py, inner, scope, cbx_node_field(node, CBX_FIELD_parameters));
        cbx_scope_return(py, inner, cbx_node_field(node, CBX_FIELD_body));
        return inner;
    case PY_class_definition:
        cbx_scope_bind(py, scope, scope, name_of(py, node), CBX_BIND_UNKNOWN, node);
        return cbx_scope_open(py, scope, node, CBX_SCOPE_CLASS);
    case PY_list_comprehension:
    case PY_set_comprehension:
    case PY_dictionary_comprehension:
    case PY_generator_expression:
        return cbx_scope_open(py, scope, node, CBX_SCOPE_COMPREHENSION);
    case PY_return_statement:
        if (scope->kind == CBX_SCOPE_FUNCTION && ts_node_named_child_count(node) > 0) {
            cbx_scope_return(py, scope, ts_node_named_child(node, 0));
        }
        return scope;
    case PY_global_statement:
    case PY_nonlocal_statement:
        bind_globals(py, scope, node);
        return scope;
    default:
        return scope;
    }
}

void cbx_py_bind_all(struct cbx_walk *py, TSNode root)
{
    static const struct cbx_scope module;
    py->module = cbx_arena_alloc(py->arena, sizeof(*py->module));
    struct cbx_scope **stack =
        cbx_arena_array(py->arena, CBX_TREE_DEPTH_MAX + 2, sizeof(struct cbx_scope *));
    if (py->module == NULL || stack == NULL) {
        return;
    }
    *py->module = module;
    py->eval = cbx_py_eval;
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int depth = 0;
    stack[0] = py->module;
    for (;;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        struct cbx_scope *inner =
            cbx_py_kind(node) != PY_OTHER ? bind_node(py, stack[depth], node) : stack[depth];
        if (depth < CBX_TREE_DEPTH_MAX && ts_tree_cursor_goto_first_child(&cursor)) {
            stack[++depth] = inner;
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (depth == 0 || !ts_tree_cursor_goto_parent(&cursor)) {
                ts_tree_cursor_delete(&cursor);
                return;
            }
            depth--;
        }
    }
}
