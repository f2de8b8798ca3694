/* SPDX-License-Identifier: MIT
 * Pass one over JavaScript: the bindings of every scope. Blocks are scopes; `var` belongs to its
 * function. Declarations are read first, then assignments, which may precede them in the text. */
#include "analyzer/lang/builtins.h"
#include "analyzer/lang/javascript/internal.h"

/* --- targets ---------------------------------------------------------------------------------- */

/* The source of a pattern's names: `value`, any member of it, or the part of either at `path`; with
 * `key` the name of a member; anything if `value` is NULL. */
enum { PATTERN_DEPTH_MAX = 64 };

struct target {
    struct cbx_scope *scope, *where;
    struct cbx_node *value;
    bool each, unknown, key;
    struct cbx_str path;
};

static void bind_name(struct cbx_walk *js, const struct target *t, struct cbx_str name)
{
    enum cbx_bind kind = t->key ? CBX_BIND_KEY : CBX_BIND_EXPR;
    if (t->value == NULL || t->unknown) {
        kind = CBX_BIND_UNKNOWN;
    }
    struct cbx_binding *binding = cbx_scope_bind(js, t->scope, t->where, name, kind, t->value);
    if (binding != NULL) {
        binding->each = t->each;
        binding->path = t->path;
    }
}

static struct target at_key(struct cbx_walk *js, struct target t, struct cbx_str key)
{
    t.unknown |= key.len == 0;
    if (t.path.len > 0 && key.p != NULL) {
        const char separator = CBX_PATH_SEPARATOR;
        key = CBX_JOIN(js->arena, t.path, { &separator, 1 }, key);
    }
    t.path = key;
    return t;
}

static void bind_pattern(struct cbx_walk *js, struct target t, struct cbx_node *pattern, int depth);

/* Binds [a, , ...b]; commas count the places. */
static void bind_array(struct cbx_walk *js, const struct target *t, struct cbx_node *pattern,
                       int depth)
{
    uint32_t i = 0;
    for (struct cbx_node *child = pattern->first; child != NULL; child = child->next) {
        if (!child->named) {
            i += js->src[child->start] == ',';
            continue;
        }
        struct target inner = at_key(js, *t, cbx_arena_number(js->arena, i));
        if (cbx_js_kind(child) == JS_rest_pattern) {
            inner = *t; /* the rest is the whole array, with other indexes */
        }
        bind_pattern(js, inner, child, depth + 1);
    }
}

static void bind_children(struct cbx_walk *js, struct target t, struct cbx_node *pattern, int depth)
{
    for (struct cbx_node *child = pattern->first; child != NULL; child = child->next) {
        if (child->named) {
            bind_pattern(js, t, child, depth + 1);
        }
    }
}

/* Returns the key that a pattern reads: {a}, {a: b}, {['a']: b}; CBX_JS_COMPUTED and the number
 * of the node for a computed key, "" without a key. */
static struct cbx_str key_of(struct cbx_walk *js, struct cbx_node *key)
{
    struct cbx_node *inner =
        cbx_js_kind(key) == JS_computed_property_name ? cbx_child_at(key, 0) : key;
    if (cbx_js_kind(key) == JS_property_identifier || cbx_js_kind(key) == JS_number ||
        cbx_js_kind(key) == JS_shorthand_property_identifier_pattern) {
        return cbx_js_name(js, key);
    }
    if (cbx_js_kind(inner) == JS_string && cbx_child_count(inner) == 1) {
        return cbx_js_name(js, cbx_child_at(inner, 0));
    }
    if (inner == NULL || inner == key) {
        return CBX_STR("");
    }
    const char computed = CBX_JS_COMPUTED;
    return CBX_JOIN(js->arena, { &computed, 1 },
                    cbx_arena_number(js->arena, inner - js->syntax.nodes));
}

/* Binds {a = value}, also to the value. */
static void bind_default(struct cbx_walk *js, const struct target *t, struct cbx_node *pattern,
                         int depth)
{
    struct cbx_node *left = cbx_child_of(pattern, CBX_FIELD_left);
    struct target other = { .scope = t->scope,
                            .where = t->where,
                            .value = cbx_child_of(pattern, CBX_FIELD_right) };
    bind_pattern(js, *t, left, depth + 1);
    if (cbx_js_kind(left) == JS_shorthand_property_identifier_pattern) {
        bind_name(js, &other, cbx_js_name(js, left));
    } else {
        bind_pattern(js, other, left, depth + 1);
    }
}

static void bind_pattern(struct cbx_walk *js, struct target t, struct cbx_node *pattern, int depth)
{
    if (depth >= PATTERN_DEPTH_MAX) {
        js->gave_up = true; /* the names of the deeper pattern are not bound */
        return;
    }
    struct cbx_node *object;
    switch (cbx_js_kind(pattern)) {
    case JS_identifier:
        bind_name(js, &t, cbx_js_name(js, pattern));
        return;
    case JS_shorthand_property_identifier_pattern:
        t = at_key(js, t, key_of(js, pattern));
        bind_name(js, &t, cbx_js_name(js, pattern));
        return;
    case JS_pair_pattern:
        bind_pattern(js, at_key(js, t, key_of(js, cbx_child_of(pattern, CBX_FIELD_key))),
                     cbx_child_of(pattern, CBX_FIELD_value), depth + 1);
        return;
    case JS_assignment_pattern:
    case JS_object_assignment_pattern:
        bind_default(js, &t, pattern, depth);
        return;
    case JS_array_pattern:
        bind_array(js, &t, pattern, depth);
        return;
    case JS_object_pattern:
    case JS_rest_pattern:
    case JS_parenthesized_expression:
        bind_children(js, t, pattern, depth);
        return;
    case JS_member_expression: /* globalThis.x = value also binds the name x */
        object = cbx_child_of(pattern, CBX_FIELD_object);
        while (cbx_js_kind(object) == JS_parenthesized_expression) {
            object = cbx_child_at(object, 0);
        }
        if (cbx_js_kind(object) == JS_identifier &&
            cbx_js_is_global_object(cbx_walk_text(js, object))) {
            t.scope = js->module;
            bind_name(js, &t, cbx_js_name(js, cbx_child_of(pattern, CBX_FIELD_property)));
        }
        t.scope = NULL;
        bind_name(js, &t, cbx_js_name(js, cbx_child_of(pattern, CBX_FIELD_property)));
        return;
    case JS_subscript_expression: { /* o['k'] = value */
        js->changes = true;
        struct cbx_str key = key_of(js, cbx_child_of(pattern, CBX_FIELD_index));
        t.scope = NULL;
        if (key.len > 0 && key.p[0] != CBX_JS_COMPUTED) {
            bind_name(js, &t, key);
        }
        return;
    }
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

/* Binds a declarator. `var require;` in a module does not change the value. */
static void bind_declarator(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node,
                            bool var)
{
    struct cbx_node *value = cbx_child_of(node, CBX_FIELD_value);
    struct target t = { .scope = var ? function_scope(scope) : scope,
                        .where = scope,
                        .value = value };
    if (!(var && value == NULL && t.scope == js->module)) {
        bind_pattern(js, t, cbx_child_of(node, CBX_FIELD_name), 0);
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
            struct target t = { .where = scope, .value = cbx_child_of(child, CBX_FIELD_value) };
            bind_pattern(js, t, name, 0);
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
        struct target t = { .where = inner, .value = cbx_child_of(p, CBX_FIELD_right) };
        if (cbx_js_kind(p) == JS_assignment_pattern) {
            bind_pattern(js, t, cbx_child_of(p, CBX_FIELD_left), 0);
        }
        if (cbx_js_kind(p) == JS_identifier && js->parsed->lang->policy == CBX_TYPESCRIPT) {
            t.value = p;
            bind_name(js, &t, cbx_js_name(js, p));
        }
    }
}

static void bind_qualified(struct cbx_walk *js, const struct cbx_node *name,
                           struct cbx_str qualified)
{
    struct cbx_binding *binding =
        cbx_scope_bind(js, js->module, js->module, cbx_js_name(js, name), CBX_BIND_NAME, NULL);
    if (binding != NULL) {
        binding->path = qualified;
        js->imported |= cbx_name_bit(binding->name);
    }
}

/* Binds the name of an import to an export of a file that it may mean. */
static void bind_export_of_file(struct cbx_walk *js, struct cbx_node *name, struct cbx_str key)
{
    struct cbx_binding *binding = js->files != NULL
                                      ? cbx_scope_bind(js, js->module, js->module,
                                                       cbx_js_name(js, name), CBX_BIND_FIELD, NULL)
                                      : NULL;
    if (binding != NULL) {
        binding->path = key;
    }
}

/* Binds import { a, b as c } from 'm'. */
static void bind_named_import(struct cbx_walk *js, struct cbx_str module,
                              const struct cbx_node *specifier)
{
    struct cbx_node *name = cbx_child_of(specifier, CBX_FIELD_name),
                    *alias = cbx_child_of(specifier, CBX_FIELD_alias);
    if (cbx_js_kind(specifier) != JS_import_specifier) {
        return;
    }
    struct cbx_value object = { .kind = CBX_V_NAME, .text = module };
    struct cbx_str key = cbx_js_kind(name) == JS_string ? key_of(js, name) : cbx_js_name(js, name);
    if (cbx_js_is_file(js, module)) {
        bind_export_of_file(js, alias != NULL ? alias : name, key);
        return;
    }
    const struct cbx_values *value = cbx_js_read(js, cbx_values_one(js->arena, &object), key);
    bind_qualified(js, alias != NULL ? alias : name, value->items[0]->text);
}

/* Binds import d, { a } from 'm'; import * as ns from 'm'. A default import is the module itself
 * (Node's CommonJS interop). */
static void bind_import(struct cbx_walk *js, struct cbx_node *node)
{
    struct cbx_str module;
    if (!cbx_values_is_text(cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_source), js->module),
                            &module)) {
        return;
    }
    module = cbx_js_module(module);
    struct cbx_node *clause = cbx_child_at(node, 0);
    for (struct cbx_node *child = cbx_js_kind(clause) == JS_import_clause ? clause->first : NULL;
         child != NULL; child = child->next) {
        if (cbx_js_kind(child) == JS_identifier) {
            bind_qualified(js, child, module);
            bind_export_of_file(js, child, CBX_STR("exports"));
        } else if (cbx_js_kind(child) == JS_namespace_import) {
            bind_qualified(js, cbx_child_at(child, 0), module);
        } else if (cbx_js_kind(child) == JS_named_imports) {
            for (struct cbx_node *s = child->first; s != NULL; s = s->next) {
                bind_named_import(js, module, s);
            }
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
    struct target t = { .scope = inner, .where = inner, .unknown = true };
    js->giving = true;
    if (single != NULL) {
        bind_pattern(js, t, single, 0);
    } else if (parameters != NULL) {
        bind_children(js, t, parameters, 0);
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

/* Binds an export as an attribute: a text that imports the file reads it there. */
static void export_as(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_str name,
                      struct cbx_node *value)
{
    struct target t = { .where = scope, .value = value };
    if (value != NULL) {
        bind_name(js, &t, name);
    }
}

/* Handles export const a = 1, export function f() {}. */
static void export_declared(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    if (name != NULL) {
        export_as(js, scope, cbx_js_name(js, name), name);
    }
    for (struct cbx_node *d = node != NULL ? node->first : NULL; d != NULL; d = d->next) {
        struct cbx_node *declared = cbx_child_of(d, CBX_FIELD_name);
        if (cbx_js_kind(d) == JS_variable_declarator && cbx_js_kind(declared) == JS_identifier) {
            export_as(js, scope, cbx_js_name(js, declared), declared);
        }
    }
}

/* Handles an export. A default export is the module (exports), as for CommonJS. */
static void declare_export(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_node *node)
{
    struct cbx_node *clause = cbx_child_at(node, 0);
    if (js->files == NULL) {
        return;
    }
    export_as(js, scope, CBX_STR("exports"), cbx_child_of(node, CBX_FIELD_value));
    export_declared(js, scope, cbx_child_of(node, CBX_FIELD_declaration));
    for (struct cbx_node *s = cbx_js_kind(clause) == JS_export_clause ? clause->first : NULL;
         s != NULL; s = s->next) {
        struct cbx_node *name = cbx_child_of(s, CBX_FIELD_name),
                        *alias = cbx_child_of(s, CBX_FIELD_alias);
        struct cbx_str as = alias != NULL ? cbx_js_name(js, alias) : CBX_STR("");
        as = as.len == 0 && name != NULL ? cbx_js_name(js, name) : as;
        export_as(js, scope, cbx_str_is(as, "default") ? CBX_STR("exports") : as, name);
    }
}

/* Binds a function to a name of its scope, a method to an attribute. */
static struct cbx_scope *declare_function(struct cbx_walk *js, struct cbx_scope *scope,
                                          struct cbx_node *node)
{
    enum cbx_js_kind kind = cbx_js_kind(node);
    struct cbx_node *name = cbx_child_of(node, CBX_FIELD_name);
    bool declared = kind == JS_function_declaration || kind == JS_generator_function_declaration;
    bool named = kind == JS_function_expression || kind == JS_generator_function;
    if (kind == JS_method_definition && key_of(js, name).len > 0) {
        cbx_scope_bind(js, NULL, scope, key_of(js, name), CBX_BIND_FUNCTION, node);
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
        struct target t = { .scope = var ? function_scope(outer) : scope,
                            .where = scope,
                            .value = cbx_child_of(node, CBX_FIELD_right),
                            .each = true,
                            .key = cbx_str_is(of, "in") };
        bind_pattern(js, t, cbx_child_of(node, CBX_FIELD_left), 0);
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

static struct cbx_scope *declare_node(struct cbx_walk *js, struct cbx_scope *scope,
                                      struct cbx_node *node)
{
    struct target t = { .unknown = true };
    enum cbx_js_kind kind = cbx_js_kind(node);
    if (cbx_js_is_function(kind)) {
        return declare_function(js, scope, node);
    }
    switch (kind) {
    case JS_import_statement:
        bind_import(js, node);
        return scope;
    case JS_export_statement:
        declare_export(js, scope, node);
        return scope;
    case JS_identifier:
        js->uses_arguments |= cbx_str_is(cbx_walk_text(js, node), "arguments");
        return scope;
    case JS_with_statement:
        js->withs = true;
        return scope;
    case JS_member_expression:
        js->changes |= cbx_js_changes(cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property)));
        return scope;
    case JS_update_expression: /* o[k]++ */
        js->changes |= cbx_js_kind(cbx_child_at(node, 0)) == JS_subscript_expression;
        return scope;
    case JS_unary_expression:
        js->changes |=
            cbx_str_is(cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator)), "delete");
        return scope;
    case JS_internal_module:
    case JS_module:
        cbx_ts_bind_namespace(js, scope, node);
        return scope;
    case JS_enum_declaration:
        return cbx_ts_bind_enum(js, scope, node);
    case JS_variable_declaration:
    case JS_lexical_declaration:
        bind_declaration(js, scope, node);
        return scope;
    case JS_class_declaration:
        cbx_scope_bind(js, scope, scope, cbx_js_name(js, cbx_child_of(node, CBX_FIELD_name)),
                       CBX_BIND_FUNCTION, node);
        return scope;
    case JS_statement_block:
    case JS_for_statement:
    case JS_switch_body:
    case JS_class_static_block:
        return cbx_scope_open(js, scope, node, CBX_SCOPE_COMPREHENSION);
    case JS_for_in_statement:
        return declare_loop(js, scope, node);
    case JS_catch_clause:
        t.scope = t.where = cbx_scope_open(js, scope, node, CBX_SCOPE_COMPREHENSION);
        bind_pattern(js, t, cbx_child_of(node, CBX_FIELD_parameter), 0);
        return t.scope;
    case JS_return_statement:
    case JS_yield_expression:
        declare_result(js, scope, node);
        return scope;
    default:
        return scope;
    }
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
static void bind_assigned(struct cbx_walk *js, struct target t, struct cbx_node *left)
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
    bind_pattern(js, t, left, 0);
}

static void bind_assignment(struct cbx_walk *js, struct cbx_node *node)
{
    struct cbx_scope *scope = cbx_scope_around(js, node);
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct target t = { .scope = scope, .where = scope };
    switch (cbx_js_kind(node)) {
    case JS_field_definition:
        t.scope = NULL;
        t.value = cbx_child_of(node, CBX_FIELD_value);
        bind_name(js, &t, cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property)));
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
        if (key_of(js, cbx_child_of(node, CBX_FIELD_key)).len > 0) {
            bind_name(js, &t, key_of(js, cbx_child_of(node, CBX_FIELD_key)));
        }
        return;
    default:
        return;
    }
}

void cbx_js_bind_value(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                       struct cbx_node *pattern, struct cbx_node *value, bool each)
{
    struct target t = { .scope = scope, .where = where, .value = value, .each = each };
    bind_pattern(js, t, pattern, 0);
}

void cbx_js_bind_key(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                     struct cbx_node *pattern, struct cbx_node *value, struct cbx_str key)
{
    struct target t = { .scope = scope, .where = where, .value = value };
    bind_pattern(js, at_key(js, t, key), pattern, 0);
}

void cbx_js_bind_part(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                      struct cbx_str name, struct cbx_node *value, struct cbx_str key)
{
    struct target t = { .scope = scope, .where = where, .value = value };
    t = at_key(js, t, key);
    bind_name(js, &t, name);
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
        nodes[i].inner = nodes[i].kind != JS_OTHER ? declare_node(js, scope, &nodes[i]) : scope;
    }
    for (uint32_t i = js->syntax.count; i > 0; i--) {
        js->at = nodes[i - 1].start;
        bind_assignment(js, &nodes[i - 1]);
    }
    cbx_builtins_keep(js, &cbx_js_builtins);
}
