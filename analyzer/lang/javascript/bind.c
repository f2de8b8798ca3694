/* SPDX-License-Identifier: MIT
 * Pass one over JavaScript: the bindings of every scope. Blocks are scopes; `var` belongs to its
 * function. Declarations are read first, then assignments, which may precede them in the text. */
#include "analyzer/lang/javascript/bind.h"

#include "analyzer/lang/builtins.h"
#include "analyzer/lang/javascript/internal.h"

/* --- declarations ----------------------------------------------------------------------------- */

static struct cbx_scope *function_scope(struct cbx_scope *scope)
{
    while (scope->kind == CBX_SCOPE_COMPREHENSION && scope->parent != NULL) {
        scope = scope->parent;
    }
    return scope;
}

/* Binds a declarator. `var require;` in a module does not change the value. */
static void bind_declarator(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node,
                            bool var)
{
    struct cbx_node *value = cbx_child_of(node, CBX_FIELD_value);
    struct cbx_js_target t = { .scope = var ? function_scope(scope) : scope,
                               .where = scope,
                               .value = value };
    if (!(var && value == NULL && t.scope == js->module)) {
        cbx_js_bind_pattern(js, t, cbx_child_of(node, CBX_FIELD_name));
    }
}

/* Returns true for an export of a file or a namespace: an exported name is an attribute of any
 * object. */
static bool is_exported(const struct cbx_node *node)
{
    return cbx_js_kind(node->parent) == JS_export_statement;
}

static void bind_declaration(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    bool var = cbx_js_kind(node) == JS_variable_declaration;
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        if (cbx_js_kind(child) == JS_variable_declarator) {
            bind_declarator(js, scope, child, var);
        }
        if (cbx_js_kind(child) == JS_variable_declarator && is_exported(node)) {
            struct cbx_node *name = cbx_child_of(child, CBX_FIELD_name);
            struct cbx_js_target t = { .where = scope,
                                       .value = cbx_child_of(child, CBX_FIELD_value) };
            cbx_js_bind_pattern(js, t, name);
            cbx_ts_bind_export(js, scope, node, name);
        }
    }
}

/* Binds constructor(public r = value) of TypeScript: the object has r. For other constructors
 * this only adds an alternative. */
static void bind_fields(struct cbx_walk *js, struct cbx_scope *inner, struct cbx_node *parameters)
{
    for (struct cbx_node *p = parameters != NULL ? parameters->first : NULL; p != NULL;
         p = p->next) {
        struct cbx_js_target t = { .where = inner, .value = cbx_child_of(p, CBX_FIELD_right) };
        if (cbx_js_kind(p) == JS_assignment_pattern) {
            cbx_js_bind_pattern(js, t, cbx_child_of(p, CBX_FIELD_left));
        }
        if (cbx_js_kind(p) == JS_identifier && js->parsed->lang->policy == CBX_TYPESCRIPT) {
            t.value = p;
            cbx_js_bind_name(js, &t, cbx_js_name(js, p));
        }
    }
}

static struct cbx_scope *open_function(struct cbx_walk *js, struct cbx_scope *scope,
                                       struct cbx_node *node)
{
    struct cbx_scope *inner = cbx_scope_open(js, scope, node, CBX_SCOPE_FUNCTION);
    struct cbx_node *parameters = cbx_child_of(node, CBX_FIELD_parameters),
                    *single = cbx_child_of(node, CBX_FIELD_parameter),
                    *body = cbx_child_of(node, CBX_FIELD_body);
    struct cbx_js_target t = { .scope = inner, .where = inner, .unknown = true };
    js->giving = true;
    if (single != NULL) {
        cbx_js_bind_pattern(js, t, single);
    } else if (parameters != NULL) {
        cbx_js_bind_children(js, t, parameters);
    }
    if (cbx_js_kind(node) == JS_method_definition &&
        cbx_str_is(cbx_js_name(js, cbx_child_of(node, CBX_FIELD_name)), "constructor")) {
        bind_fields(js, inner, parameters);
    }
    js->giving = false;
    if (cbx_js_kind(node) == JS_arrow_function && cbx_js_kind(body) != JS_statement_block) {
        cbx_scope_return(js, inner, body, CBX_RETURNS);
    }
    return inner;
}

/* Binds a function to a name of its scope, a method to an attribute. */
static struct cbx_scope *declare_function(struct cbx_walk *js, struct cbx_scope *scope,
                                          struct cbx_node *node)
{
    enum cbx_js_kind kind = cbx_js_kind(node);
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    bool declared = kind == JS_function_declaration || kind == JS_generator_function_declaration;
    bool named = kind == JS_function_expression || kind == JS_generator_function;
    if (kind == JS_method_definition && cbx_js_key_of(js, name).len > 0) {
        cbx_scope_bind(js, NULL, scope, cbx_js_key_of(js, name), CBX_BIND_FUNCTION, node);
    } else if (declared && name != NULL) {
        cbx_scope_bind(js, scope, scope, cbx_js_name(js, name), CBX_BIND_FUNCTION, node);
        if (is_exported(node)) {
            cbx_scope_bind(js, NULL, scope, cbx_js_name(js, name), CBX_BIND_FUNCTION, node);
        }
    }
    struct cbx_scope *inner = open_function(js, scope, node);
    if (named && name != NULL) {
        cbx_scope_bind(js, inner, inner, cbx_js_name(js, name), CBX_BIND_FUNCTION, node);
    }
    return inner;
}

static struct cbx_scope *declare_loop(struct cbx_walk *js, struct cbx_scope *outer,
                                      struct cbx_node *node)
{
    struct cbx_scope *scope = cbx_scope_open(js, outer, node, CBX_SCOPE_COMPREHENSION);
    struct cbx_node *kind = cbx_child_of(node, CBX_FIELD_kind);
    struct cbx_str of = cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator));
    if (kind != NULL) {
        bool var = cbx_str_is(cbx_walk_text(js, kind), "var");
        struct cbx_js_target t = { .scope = var ? function_scope(outer) : scope,
                                   .where = scope,
                                   .value = cbx_child_of(node, CBX_FIELD_right),
                                   .each = true,
                                   .key = cbx_str_is(of, "in") };
        cbx_js_bind_pattern(js, t, cbx_child_of(node, CBX_FIELD_left));
    }
    return scope;
}

static void declare_result(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    scope = function_scope(scope);
    if (scope != js->module && cbx_child_at(node, 0) != NULL) {
        cbx_scope_return(js, scope, cbx_child_at(node, 0),
                         cbx_js_kind(node) == JS_yield_expression ? CBX_YIELDS : CBX_RETURNS);
    }
}

static void declare_import(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    (void)scope;
    cbx_js_bind_import(js, node);
}

static void declare_class(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    cbx_scope_bind(js, scope, scope, cbx_js_name(js, cbx_child_of(node, CBX_FIELD_name)),
                   CBX_BIND_FUNCTION, node);
}

static void note_identifier(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    (void)scope;
    js->uses_arguments |= cbx_str_is(cbx_walk_text(js, node), "arguments");
}

static void note_with(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    (void)scope;
    (void)node;
    js->withs = true;
}

static void note_method(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    (void)scope;
    js->changes |= cbx_js_changes(cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property)));
}

/* o[k]++ */
static void note_update(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    (void)scope;
    js->changes |= cbx_js_kind(cbx_child_at(node, 0)) == JS_subscript_expression;
}

static void note_delete(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    (void)scope;
    js->changes |= cbx_str_is(cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator)), "delete");
}

static struct cbx_scope *open_block(struct cbx_walk *js, struct cbx_scope *scope,
                                    struct cbx_node *node)
{
    return cbx_scope_open(js, scope, node, CBX_SCOPE_COMPREHENSION);
}

static struct cbx_scope *open_catch(struct cbx_walk *js, struct cbx_scope *scope,
                                    struct cbx_node *node)
{
    struct cbx_js_target t = { .unknown = true };
    t.scope = t.where = open_block(js, scope, node);
    cbx_js_bind_pattern(js, t, cbx_child_of(node, CBX_FIELD_parameter));
    return t.scope;
}

/* `declare` binds the names that a node declares; `open` also returns the scope of its children,
 * which is the scope around it where NULL. */
static const struct {
    void (*declare)(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node);
    struct cbx_scope *(*open)(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node);
} rows[JS_KINDS] = {
    [JS_import_statement] = { .declare = declare_import },
    [JS_export_statement] = { .declare = cbx_js_bind_exports },
    [JS_variable_declaration] = { .declare = bind_declaration },
    [JS_lexical_declaration] = { .declare = bind_declaration },
    [JS_class_declaration] = { .declare = declare_class },
    [JS_internal_module] = { .declare = cbx_ts_bind_namespace },
    [JS_module] = { .declare = cbx_ts_bind_namespace },
    [JS_return_statement] = { .declare = declare_result },
    [JS_yield_expression] = { .declare = declare_result },
    [JS_identifier] = { .declare = note_identifier },
    [JS_with_statement] = { .declare = note_with },
    [JS_member_expression] = { .declare = note_method },
    [JS_update_expression] = { .declare = note_update },
    [JS_unary_expression] = { .declare = note_delete },
    [JS_arrow_function] = { .open = declare_function },
    [JS_function_expression] = { .open = declare_function },
    [JS_function_declaration] = { .open = declare_function },
    [JS_generator_function] = { .open = declare_function },
    [JS_generator_function_declaration] = { .open = declare_function },
    [JS_method_definition] = { .open = declare_function },
    [JS_enum_declaration] = { .open = cbx_ts_bind_enum },
    [JS_statement_block] = { .open = open_block },
    [JS_for_statement] = { .open = open_block },
    [JS_switch_body] = { .open = open_block },
    [JS_class_static_block] = { .open = open_block },
    [JS_for_in_statement] = { .open = declare_loop },
    [JS_catch_clause] = { .open = open_catch },
};

/* Binds the names that a node declares; returns the scope for its children. */
static struct cbx_scope *declare_node(struct cbx_walk *js, struct cbx_scope *scope,
                                      struct cbx_node *node)
{
    enum cbx_js_kind kind = cbx_js_kind(node);
    if (rows[kind].declare != NULL) {
        rows[kind].declare(js, scope, node);
    }
    return rows[kind].open != NULL ? rows[kind].open(js, scope, node) : scope;
}

/* --- assignments ------------------------------------------------------------------------------ */

/* Returns the scope that declares a name, for an assignment; the module for an undeclared name,
 * which is a global. */
static struct cbx_scope *scope_of_name(struct cbx_walk *js, struct cbx_scope *scope,
                                       struct cbx_str name)
{
    for (struct cbx_scope *s = scope; s != NULL; s = s->parent) {
        if (cbx_scope_chain(js, s, name) != NULL) {
            return s;
        }
    }
    return js->module;
}

/* Binds [a, b] = [c, d]: each name in the scope that declares it. */
static void bind_assigned(struct cbx_walk *js, struct cbx_js_target t, struct cbx_node *left)
{
    if (cbx_js_kind(left) == JS_identifier) {
        t.scope = scope_of_name(js, t.where, cbx_js_name(js, left));
    } else if (cbx_js_kind(left) == JS_array_pattern || cbx_js_kind(left) == JS_object_pattern) {
        struct cbx_node *first = left;
        while (first != NULL && cbx_js_kind(first) != JS_identifier &&
               cbx_js_kind(first) != JS_shorthand_property_identifier_pattern) {
            first = cbx_child_at(first, 0);
        }
        t.scope = first != NULL ? scope_of_name(js, t.where, cbx_js_name(js, first)) : t.where;
    }
    cbx_js_bind_pattern(js, t, left);
}

static void bind_assignment(struct cbx_walk *js, struct cbx_node *node)
{
    struct cbx_scope *scope = cbx_scope_around(js, node);
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct cbx_js_target t = { .scope = scope, .where = scope };
    switch (cbx_js_kind(node)) {
    case JS_field_definition:
        t.scope = NULL;
        t.value = cbx_child_of(node, CBX_FIELD_value);
        cbx_js_bind_name(js, &t, cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property)));
        return;
    case JS_assignment_expression:
        t.value = cbx_child_of(node, CBX_FIELD_right);
        bind_assigned(js, t, left);
        if (cbx_str_is(cbx_js_name(js, cbx_child_of(left, CBX_FIELD_property)), "length")) {
            js->changes = true;
        }
        return;
    case JS_for_in_statement: /* for (x of o) if x is declared elsewhere */
        if (cbx_child_of(node, CBX_FIELD_kind) == NULL) {
            t.value = cbx_child_of(node, CBX_FIELD_right);
            t.each = true;
            bind_assigned(js, t, left);
            t.key = true;
            bind_assigned(js, t, left);
        }
        return;
    case JS_augmented_assignment_expression: /* a ||= b; the evaluator handles a += b */
        t.value = node;
        t.unknown = true;
        bind_assigned(js, t, left);
        t.unknown = false;
        bind_assigned(js, t, left);
        return;
    case JS_pair: /* {key: value}: an unknown object may have the key */
        t.scope = NULL;
        t.value = cbx_child_of(node, CBX_FIELD_value);
        if (cbx_js_key_of(js, cbx_child_of(node, CBX_FIELD_key)).len > 0) {
            cbx_js_bind_name(js, &t, cbx_js_key_of(js, cbx_child_of(node, CBX_FIELD_key)));
        }
        return;
    default:
        return;
    }
}

void cbx_js_bind_all(struct cbx_walk *js)
{
    js->eval = cbx_js_eval;
    js->member = cbx_js_path;
    js->imported |= cbx_js_powerful_bits();
    cbx_builtins_begin(js, &cbx_js_builtins);
    struct cbx_node *nodes = js->syntax.nodes;
    for (uint32_t i = 0; i < js->syntax.count; i++) {
        struct cbx_scope *scope = cbx_scope_around(js, &nodes[i]);
        js->at = nodes[i].start;
        nodes[i].inner = declare_node(js, scope, &nodes[i]);
    }
    for (uint32_t i = js->syntax.count; i > 0; i--) {
        js->at = nodes[i - 1].start;
        bind_assignment(js, &nodes[i - 1]);
    }
    cbx_builtins_keep(js, &cbx_js_builtins);
}
