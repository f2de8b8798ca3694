/* SPDX-License-Identifier: MIT
 * Pass one over JavaScript: which name is bound where, and to what. Blocks are scopes; `var`
 * belongs to its function. Declarations come first, then assignments, which may stand before them.
 */
#include "analyzer/lang/javascript.h"

#include <pthread.h>

const TSLanguage *tree_sitter_javascript(void);

static uint8_t kind_of_symbol[CBX_SYMBOLS_MAX];
static pthread_once_t kinds_once = PTHREAD_ONCE_INIT;

static void fill_kinds(void)
{
    static const char *const names[] = {
#define CBX_KIND(name) #name,
#include "analyzer/lang/javascript_kinds.def"
#undef CBX_KIND
    };
    cbx_kinds_fill(tree_sitter_javascript(), names, sizeof(names) / sizeof(names[0]),
                   kind_of_symbol);
}

enum cbx_js_kind cbx_js_kind(TSNode node)
{
    pthread_once(&kinds_once, fill_kinds);
    TSSymbol symbol = ts_node_is_null(node) ? 0 : ts_node_symbol(node);
    return symbol < CBX_SYMBOLS_MAX ? (enum cbx_js_kind)kind_of_symbol[symbol] : JS_OTHER;
}

bool cbx_js_is_function(enum cbx_js_kind kind)
{
    return kind == JS_arrow_function || kind == JS_function_declaration ||
           kind == JS_function_expression || kind == JS_generator_function ||
           kind == JS_generator_function_declaration || kind == JS_method_definition;
}

struct cbx_str cbx_js_name(struct cbx_walk *js, TSNode node)
{
    return cbx_fold_unescape(js->arena, cbx_walk_text(js, node), false);
}

struct cbx_str cbx_js_module(struct cbx_str specifier)
{
    return cbx_str_starts(specifier, CBX_STR("node:")) ? cbx_str_sub(specifier, 5, specifier.len)
                                                       : specifier;
}

/* --- targets ---------------------------------------------------------------------------------- */

/* What a pattern takes its names from: `value`, or its member `key` ("a", "a.b"). A null node is
 * anything. */
struct target {
    struct cbx_scope *scope, *where;
    enum cbx_bind kind;
    TSNode value;
    struct cbx_str key;
};

static void bind_name(struct cbx_walk *js, const struct target *t, TSNode name)
{
    enum cbx_bind kind = ts_node_is_null(t->value) || t->kind == CBX_BIND_UNKNOWN ? CBX_BIND_UNKNOWN
                         : t->key.len > 0                                         ? CBX_BIND_KEY
                                                                                  : t->kind;
    struct cbx_binding *binding =
        cbx_scope_bind(js, t->scope, t->where, cbx_js_name(js, name), kind, t->value);
    if (binding != NULL) {
        binding->qualified = t->key;
    }
}

static void bind_pattern(struct cbx_walk *js, struct target t, TSNode pattern, int depth);

static void bind_children(struct cbx_walk *js, struct target t, TSNode pattern, int depth)
{
    TSTreeCursor cursor = ts_tree_cursor_new(pattern);
    uint32_t i = 0;
    for (bool more = depth < 24 && ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        struct target inner = t;
        if (!ts_node_is_named(child)) {
            continue;
        }
        if (cbx_js_kind(pattern) == JS_array_pattern) {
            inner.key = t.key.len > 0 ? t.key : cbx_arena_printf(js->arena, "%u", i++);
            inner.kind = t.key.len > 0 ? CBX_BIND_UNKNOWN : inner.kind;
        }
        bind_pattern(js, inner, child, depth + 1);
    }
    ts_tree_cursor_delete(&cursor);
}

/* The key that a pattern reads: {a}, {a: b}, {['a']: b}; a second level reads what is not followed
 * further. */
static struct target read_key(struct cbx_walk *js, struct target t, TSNode key)
{
    struct cbx_str text = { 0 };
    TSNode inner =
        cbx_js_kind(key) == JS_computed_property_name ? ts_node_named_child(key, 0) : key;
    if (cbx_js_kind(key) == JS_property_identifier ||
        cbx_js_kind(key) == JS_shorthand_property_identifier_pattern) {
        text = cbx_js_name(js, key);
    } else if (cbx_js_kind(inner) == JS_string && ts_node_named_child_count(inner) == 1) {
        text = cbx_js_name(js, ts_node_named_child(inner, 0));
    }
    if (t.key.len > 0 && text.len > 0) {
        t.key = cbx_arena_printf(js->arena, "%.*s.%.*s", CBX_STR_ARG(t.key), CBX_STR_ARG(text));
    } else {
        t.key = text;
    }
    t.kind = text.len > 0 ? t.kind : CBX_BIND_UNKNOWN;
    return t;
}

static void bind_pattern(struct cbx_walk *js, struct target t, TSNode pattern, int depth)
{
    struct target other;
    switch (cbx_js_kind(pattern)) {
    case JS_identifier:
        bind_name(js, &t, pattern);
        return;
    case JS_shorthand_property_identifier_pattern:
        t = read_key(js, t, pattern);
        bind_name(js, &t, pattern);
        return;
    case JS_pair_pattern:
        bind_pattern(js, read_key(js, t, cbx_node_field(pattern, CBX_FIELD_key)),
                     cbx_node_field(pattern, CBX_FIELD_value), depth + 1);
        return;
    case JS_assignment_pattern:
    case JS_object_assignment_pattern:
        other = t;
        bind_pattern(js, t, cbx_node_field(pattern, CBX_FIELD_left), depth + 1);
        other.value = cbx_node_field(pattern, CBX_FIELD_right);
        other.kind = CBX_BIND_EXPR;
        other.key = (struct cbx_str){ 0 };
        if (cbx_js_kind(cbx_node_field(pattern, CBX_FIELD_left)) == JS_identifier ||
            cbx_js_kind(cbx_node_field(pattern, CBX_FIELD_left)) ==
                JS_shorthand_property_identifier_pattern) {
            bind_name(js, &other, cbx_node_field(pattern, CBX_FIELD_left));
        }
        return;
    case JS_object_pattern:
    case JS_array_pattern:
    case JS_rest_pattern:
        bind_children(js, t, pattern, depth);
        return;
    case JS_member_expression:
        t.scope = NULL;
        bind_name(js, &t, cbx_node_field(pattern, CBX_FIELD_property));
        return;
    default:
        return;
    }
}

/* --- declarations ----------------------------------------------------------------------------- */

static struct cbx_scope *function_scope(struct cbx_scope *scope)
{
    while (scope->kind == CBX_SCOPE_COMPREHENSION && scope->parent != NULL) {
        scope = scope->parent;
    }
    return scope;
}

/* `var require;` in a module leaves what was there. */
static void bind_declarator(struct cbx_walk *js, struct cbx_scope *scope, TSNode node, bool var)
{
    TSNode value = cbx_node_field(node, CBX_FIELD_value);
    struct cbx_scope *target = var ? function_scope(scope) : scope;
    if (!(var && ts_node_is_null(value) && target == js->module)) {
        bind_pattern(js,
                     (struct target){
                         .scope = target, .where = scope, .kind = CBX_BIND_EXPR, .value = value },
                     cbx_node_field(node, CBX_FIELD_name), 0);
    }
}

static void bind_declaration(struct cbx_walk *js, struct cbx_scope *scope, TSNode node, bool var)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_js_kind(child) == JS_variable_declarator) {
            bind_declarator(js, scope, child, var);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

static void bind_qualified(struct cbx_walk *js, TSNode name, struct cbx_str qualified)
{
    struct cbx_binding *binding =
        cbx_scope_bind(js, js->module, js->module, cbx_js_name(js, name), CBX_BIND_NAME, name);
    if (binding != NULL) {
        binding->qualified = qualified;
    }
}

/* import d, { a, b as c } from 'm'; import * as ns from 'm'. A default import is the module itself
 * (Node's CommonJS interop). */
static void bind_import(struct cbx_walk *js, TSNode node)
{
    TSNode source = cbx_node_field(node, CBX_FIELD_source);
    struct cbx_str module = CBX_STR("");
    if (ts_node_is_null(source) ||
        !cbx_values_is_text(cbx_js_eval(js, source, js->module), &module)) {
        return;
    }
    module = cbx_js_module(module);
    TSNode clause = ts_node_named_child(node, 0);
    for (uint32_t i = 0, n = cbx_js_kind(clause) == JS_import_clause
                                 ? ts_node_named_child_count(clause)
                                 : 0;
         i < n && i < 8; i++) {
        TSNode child = ts_node_named_child(clause, i);
        if (cbx_js_kind(child) == JS_identifier) {
            bind_qualified(js, child, module);
        } else if (cbx_js_kind(child) == JS_namespace_import) {
            bind_qualified(js, ts_node_named_child(child, 0), module);
        }
        for (uint32_t k = 0, m = cbx_js_kind(child) == JS_named_imports
                                     ? ts_node_named_child_count(child)
                                     : 0;
             k < m && k < 256; k++) {
            TSNode specifier = ts_node_named_child(child, k),
                   name = cbx_node_field(specifier, CBX_FIELD_name),
                   alias = cbx_node_field(specifier, CBX_FIELD_alias);
            if (cbx_js_kind(specifier) != JS_import_specifier) {
                continue; /* a comment */
            }
            struct cbx_str text = cbx_js_name(js, name);
            bool whole = cbx_str_is(text, "default");
            bind_qualified(js, ts_node_is_null(alias) ? name : alias,
                           whole ? module
                                 : cbx_arena_printf(js->arena, "%.*s.%.*s", CBX_STR_ARG(module),
                                                    CBX_STR_ARG(text)));
        }
    }
}

static struct cbx_scope *open_function(struct cbx_walk *js, struct cbx_scope *scope, TSNode node)
{
    struct cbx_scope *inner = cbx_scope_open(js, scope, node, CBX_SCOPE_FUNCTION);
    TSNode parameters = cbx_node_field(node, CBX_FIELD_parameters),
           single = cbx_node_field(node, CBX_FIELD_parameter),
           body = cbx_node_field(node, CBX_FIELD_body);
    struct target t = { .scope = inner, .where = inner, .kind = CBX_BIND_UNKNOWN };
    if (!ts_node_is_null(single)) {
        bind_pattern(js, t, single, 0);
    } else if (!ts_node_is_null(parameters)) {
        bind_children(js, t, parameters, 0);
    }
    if (cbx_js_kind(node) == JS_arrow_function && cbx_js_kind(body) != JS_statement_block) {
        cbx_scope_return(js, inner, body);
    }
    return inner;
}

static struct cbx_scope *declare_node(struct cbx_walk *js, struct cbx_scope *scope, TSNode node)
{
    TSNode name = cbx_node_field(node, CBX_FIELD_name);
    enum cbx_js_kind kind = cbx_js_kind(node);
    if (cbx_js_is_function(kind)) {
        if ((kind == JS_function_declaration || kind == JS_generator_function_declaration) &&
            !ts_node_is_null(name)) {
            cbx_scope_bind(js, scope, scope, cbx_js_name(js, name), CBX_BIND_FUNCTION, node);
        }
        struct cbx_scope *inner = open_function(js, scope, node);
        if ((kind == JS_function_expression || kind == JS_generator_function) &&
            !ts_node_is_null(name)) {
            cbx_scope_bind(js, inner, inner, cbx_js_name(js, name), CBX_BIND_FUNCTION, node);
        }
        return inner;
    }
    switch (kind) {
    case JS_import_statement:
        bind_import(js, node);
        return scope;
    case JS_variable_declaration:
    case JS_lexical_declaration:
        bind_declaration(js, scope, node, kind == JS_variable_declaration);
        return scope;
    case JS_class_declaration:
        cbx_scope_bind(js, scope, scope, cbx_js_name(js, name), CBX_BIND_UNKNOWN, node);
        return scope;
    case JS_statement_block:
    case JS_for_statement:
    case JS_switch_body:
        return cbx_scope_open(js, scope, node, CBX_SCOPE_COMPREHENSION);
    case JS_for_in_statement:
        scope = cbx_scope_open(js, scope, node, CBX_SCOPE_COMPREHENSION);
        if (!ts_node_is_null(cbx_node_field(node, CBX_FIELD_kind))) {
            bind_pattern(js,
                         (struct target){ .scope = scope,
                                          .where = scope,
                                          .kind = CBX_BIND_MEMBER,
                                          .value = cbx_node_field(node, CBX_FIELD_right) },
                         cbx_node_field(node, CBX_FIELD_left), 0);
        }
        return scope;
    case JS_catch_clause:
        scope = cbx_scope_open(js, scope, node, CBX_SCOPE_COMPREHENSION);
        bind_pattern(js,
                     (struct target){ .scope = scope, .where = scope, .kind = CBX_BIND_UNKNOWN },
                     cbx_node_field(node, CBX_FIELD_parameter), 0);
        return scope;
    case JS_return_statement:
        if (function_scope(scope) != js->module && ts_node_named_child_count(node) > 0) {
            cbx_scope_return(js, function_scope(scope), ts_node_named_child(node, 0));
        }
        return scope;
    default:
        return scope;
    }
}

/* The scope that declares a name, for an assignment; an undeclared one is a global. */
static struct cbx_scope *scope_of_name(struct cbx_walk *js, struct cbx_scope *scope,
                                       struct cbx_str name)
{
    for (struct cbx_scope *s = scope; s != NULL; s = s->parent) {
        if (cbx_table_find(&js->bindings, s, cbx_name_hash(name)) != NULL) {
            return s;
        }
    }
    return js->module;
}

/* An assignment that was met on the way, to be bound when all declarations are known. */
struct assignment {
    struct cbx_scope *scope;
    TSNode node;
    struct assignment *next;
};

static void bind_assignment(struct cbx_walk *js, struct cbx_scope *scope, TSNode node)
{
    enum cbx_js_kind kind = cbx_js_kind(node);
    if (kind == JS_field_definition) {
        struct target field = { .scope = NULL,
                                .where = scope,
                                .kind = CBX_BIND_EXPR,
                                .value = cbx_node_field(node, CBX_FIELD_value) };
        bind_name(js, &field, cbx_node_field(node, CBX_FIELD_property));
        return;
    }
    TSNode left = cbx_node_field(node, CBX_FIELD_left),
           right = cbx_node_field(node, CBX_FIELD_right);
    struct target t = { .scope = scope,
                        .where = scope,
                        .kind = kind == JS_assignment_expression ? CBX_BIND_EXPR : CBX_BIND_UNKNOWN,
                        .value = right };
    if (cbx_js_kind(left) == JS_identifier) {
        t.scope = scope_of_name(js, scope, cbx_js_name(js, left));
    }
    bind_pattern(js, t, left, 0);
}

/* Declares on the way down; returns the assignments that were met, the last one first. */
static struct assignment *declare_all(struct cbx_walk *js, TSNode root)
{
    struct cbx_scope **stack =
        cbx_arena_array(js->arena, CBX_TREE_DEPTH_MAX + 2, sizeof(struct cbx_scope *));
    struct assignment *assignments = NULL;
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int depth = 0;
    bool more = stack != NULL;
    if (more) {
        stack[0] = js->module;
    }
    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum cbx_js_kind kind = cbx_js_kind(node);
        struct cbx_scope *inner =
            kind == JS_OTHER ? stack[depth] : declare_node(js, stack[depth], node);
        bool assigns = kind == JS_assignment_expression ||
                       kind == JS_augmented_assignment_expression || kind == JS_field_definition;
        struct assignment *assignment =
            assigns ? cbx_arena_alloc(js->arena, sizeof(*assignment)) : NULL;
        if (assignment != NULL) {
            *assignment = (struct assignment){ .scope = inner, .node = node, .next = assignments };
            assignments = assignment;
        }
        if (depth < CBX_TREE_DEPTH_MAX && ts_tree_cursor_goto_first_child(&cursor)) {
            stack[++depth] = inner;
            continue;
        }
        while (!(more = ts_tree_cursor_goto_next_sibling(&cursor)) && depth > 0 &&
               ts_tree_cursor_goto_parent(&cursor)) {
            depth--;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return assignments;
}

void cbx_js_bind_all(struct cbx_walk *js, TSNode root)
{
    js->module = cbx_arena_alloc(js->arena, sizeof(*js->module));
    js->eval = cbx_js_eval;
    js->member = cbx_js_read;
    for (struct assignment *a = js->module != NULL ? declare_all(js, root) : NULL; a != NULL;
         a = a->next) {
        bind_assignment(js, a->scope, a->node);
    }
}
