/* SPDX-License-Identifier: MIT
 * Pass two over JavaScript: the facts. One walk; the evaluator gives the values. */
#include "analyzer/lang/javascript/internal.h"
#include "analyzer/lang/stored.h"

enum { ARGS_MAX = 16 };

static void add(struct cbx_walk *js, enum cbx_fact_kind kind, struct cbx_str name,
                struct cbx_node *node)
{
    cbx_facts_add(js->facts, kind, name, node->start, node->end);
}

static void add_special(struct cbx_walk *js, enum cbx_fact_id id, struct cbx_str name,
                        struct cbx_node *node)
{
    cbx_facts_add_special(js->facts, id, name, node->start, node->end);
}

/* --- modules ---------------------------------------------------------------------------------- */

/* Handles import ... from 'm' and export ... from 'm'; each imported name is a reference. */
static void extract_module(struct cbx_walk *js, struct cbx_node *node)
{
    struct cbx_node *source = cbx_child_of(node, CBX_FIELD_source);
    struct cbx_str module;
    if (source == NULL || !cbx_values_is_text(cbx_js_eval(js, source, js->module), &module)) {
        return;
    }
    module = cbx_js_module(module);
    cbx_js_add_import(js, module, source);
    struct cbx_node *clause = cbx_child_at(node, 0);
    for (uint32_t i = 0, n = cbx_js_kind(clause) == JS_import_clause ? cbx_child_count(clause) : 0;
         i < n && i < 8; i++) {
        struct cbx_node *names = cbx_child_at(clause, i);
        for (uint32_t k = 0,
                      m = cbx_js_kind(names) == JS_named_imports ? cbx_child_count(names) : 0;
             k < m && k < 256; k++) {
            struct cbx_str name =
                cbx_js_name(js, cbx_child_of(cbx_child_at(names, k), CBX_FIELD_name));
            add(js, CBX_IS_REFERENCE, CBX_JOIN(js->arena, module, CBX_STR("."), name),
                cbx_child_at(names, k));
        }
    }
}

/* --- names ------------------------------------------------------------------------------------ */

/* Returns true for uses of Function that create no function: `x instanceof Function`,
 * Function.prototype.call. */
static bool is_only_asked(struct cbx_walk *js, struct cbx_str name, const struct cbx_node *node)
{
    const struct cbx_node *parent = node->parent;
    if (!cbx_str_ends(name, CBX_STR("Function"))) {
        return false;
    }
    if (cbx_js_kind(parent) == JS_binary_expression) {
        return true;
    }
    return cbx_js_kind(parent) == JS_member_expression && node->field == CBX_FIELD_object &&
           cbx_str_is(cbx_js_name(js, cbx_child_of(parent, CBX_FIELD_property)), "prototype");
}

/* Returns true at a node whose value the evaluator follows (a variable, a property, a callee) or
 * the program only reads. */
static bool is_followed(struct cbx_walk *js, const struct cbx_node *node)
{
    for (;;) {
        const struct cbx_node *parent = node->parent;
        struct cbx_str operator;
        switch (cbx_js_kind(parent)) {
        case JS_parenthesized_expression:
        case JS_sequence_expression:
        case JS_ternary_expression:
        case JS_await_expression:
            node = parent;
            continue;
        case JS_binary_expression:
            operator= cbx_walk_text(js, cbx_child_of(parent, CBX_FIELD_operator));
            if (cbx_str_is(operator, "||") || cbx_str_is(operator, "&&") ||
                cbx_str_is(operator, "??")) {
                node = parent;
                continue;
            }
            return true;
        case JS_call_expression:
        case JS_new_expression:
        case JS_member_expression:
        case JS_subscript_expression:
        case JS_variable_declarator:
        case JS_assignment_expression:
        case JS_assignment_pattern:
        case JS_object_assignment_pattern:
        case JS_field_definition:
        case JS_unary_expression:
        case JS_expression_statement:
        case JS_import_specifier:
        case JS_object_pattern:
        case JS_pair_pattern:
        case JS_OTHER:
            return true;
        case JS_augmented_assignment_expression:
            return cbx_js_kind(cbx_child_of(parent, CBX_FIELD_left)) == JS_identifier;
        default:
            return false;
        }
    }
}

/* Adds a reference, for rules, for each name that an expression may have as its value. A require
 * that is passed on loads any module. */
static void add_references(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_js_eval(js, node, scope);
    enum cbx_js_kind parent = cbx_js_kind(node->parent);
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind != CBX_V_NAME || is_only_asked(js, v->text, node)) {
            continue;
        }
        add(js, CBX_IS_REFERENCE, v->text, node);
        bool handed_on = parent == JS_pair || !is_followed(js, node) ||
                         cbx_js_kind(node) == JS_shorthand_property_identifier;
        if (handed_on && cbx_js_call_meaning(v->text) == JS_CALL_REQUIRE) {
            add_special(js, CBX_FACT_DYNAMIC_IMPORT, v->text, node);
        }
    }
}

/* Adds a reference to a hook: V8 reads it from the class of any error, so every object counts. */
static void add_hook(struct cbx_walk *js, struct cbx_str key, struct cbx_node *node)
{
    if (cbx_str_is(key, "prepareStackTrace")) {
        add(js, CBX_IS_REFERENCE, CBX_STR("Error.prepareStackTrace"), node);
    }
}

/* Handles {prepareStackTrace: f}, for Object.assign and similar. */
static void extract_key(struct cbx_walk *js, struct cbx_node *node)
{
    add_hook(js,
             cbx_js_name(js, cbx_child_of(node, cbx_js_kind(node) == JS_pair ? CBX_FIELD_key
                                                                             : CBX_FIELD_name)),
             node);
}

static void extract_member(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *object = cbx_child_of(node, CBX_FIELD_object);
    struct cbx_str key, inner;
    if (!cbx_js_member(js, node, scope, &key)) {
        cbx_js_check_computed(js, cbx_js_eval(js, object, scope),
                              cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_index), scope), node);
        return;
    }
    add(js, CBX_IS_ATTRIBUTE, key, node);
    if (cbx_str_is(key, "listen")) {
        cbx_walk_trigger(js, node);
    }
    add_hook(js, key, node);
    /* f.caller.arguments: the arguments of a caller; the outermost caller is the module, which
     * has require */
    bool callers = cbx_js_kind(object) == JS_member_expression &&
                   cbx_js_member(js, object, scope, &inner) &&
                   ((cbx_str_is(inner, "caller") && cbx_str_is(key, "arguments")) ||
                    (cbx_str_is(inner, "callee") && cbx_str_is(key, "caller")));
    if (callers) {
        add_special(js, CBX_FACT_DUNDER_WALK, key, node);
    }
    if (cbx_str_is(key, "__lookupGetter__") || cbx_str_is(key, "__lookupSetter__")) {
        add_special(js, CBX_FACT_DUNDER_WALK, key, node);
    }
    bool member = cbx_js_kind(object) == JS_member_expression ||
                  cbx_js_kind(object) == JS_subscript_expression;
    bool maker = cbx_str_is(key, "constructor");
    if (maker &&
        ((member && cbx_js_member(js, object, scope, &inner) && cbx_str_is(inner, "constructor")) ||
         cbx_js_is_function(cbx_js_kind(object)))) {
        add_special(js, CBX_FACT_DUNDER_WALK, CBX_STR("constructor.constructor"), node);
    }
    add_references(js, node, scope);
}

/* Returns true for a name that is no use: of a declaration, a parameter, a label. */
static bool is_plain_name(const struct cbx_node *name)
{
    switch (cbx_js_kind(name->parent)) {
    case JS_formal_parameters:
    case JS_import_specifier:
    case JS_import_clause:
    case JS_namespace_import:
    case JS_array_pattern:
    case JS_rest_pattern:
        return true;
    case JS_variable_declarator:
    case JS_function_declaration:
    case JS_function_expression:
    case JS_class_declaration:
    case JS_class:
    case JS_generator_function:
    case JS_generator_function_declaration:
        return name->field == CBX_FIELD_name;
    case JS_arrow_function:
    case JS_catch_clause:
        return name->field == CBX_FIELD_parameter;
    case JS_assignment_pattern:
        return name->field == CBX_FIELD_left;
    default:
        return false;
    }
}

static void extract_text(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    /* `${home}/.ssh`: '*' for each unknown part, to match the patterns of rules */
    const struct cbx_values *values = cbx_js_eval(js, node, scope);
    const struct cbx_value *v = values->count == 1 ? values->items[0] : NULL;
    if (v != NULL && (v->kind == CBX_V_TEXT || (v->kind == CBX_V_UNKNOWN && v->text.len > 0))) {
        add(js, CBX_IS_LITERAL, v->text, node);
    }
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Adds a fact for a concatenated text that is SQL. */
static void extract_built(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    const struct cbx_node *first = node;
    while (first != NULL && cbx_js_kind(first) != JS_string_fragment) {
        first = cbx_child_at(first, 0);
    }
    if (cbx_is_sql(cbx_walk_text(js, first)) &&
        cbx_values_has_unknown(cbx_js_eval(js, node, scope))) {
        add_special(js, CBX_FACT_SQL_BUILT, cbx_str_sub(cbx_walk_text(js, node), 0, 60), node);
    }
}

static void add_variable(struct cbx_walk *js, const struct cbx_values *key,
                         const struct cbx_values *value, struct cbx_node *node)
{
    struct cbx_fact *fact =
        cbx_facts_add(js->facts, CBX_IS_CALL, CBX_STR("process.env.set"), node->start, node->end);
    struct cbx_arg *args = cbx_arena_array(js->arena, 2, sizeof(*args));
    const struct cbx_values *values[] = { key, value };
    for (uint32_t i = 0; args != NULL && i < 2; i++) {
        struct cbx_str text;
        args[i] = (struct cbx_arg){ .position = i };
        args[i].known = args[i].constant = cbx_values_is_text(values[i], &text);
        args[i].value = args[i].known ? text : CBX_STR("");
    }
    if (fact != NULL && args != NULL) {
        fact->args = args;
        fact->arg_count = 2;
    }
}

static bool is_environment(const struct cbx_values *values)
{
    bool is = false;
    for (uint32_t i = 0; i < values->count; i++) {
        is |= values->items[i]->kind == CBX_V_NAME &&
              cbx_str_is(values->items[i]->text, "process.env");
    }
    return is;
}

/* Handles process.env.A = b. */
static void extract_assignment(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *left = cbx_child_of(node, CBX_FIELD_left);
    struct cbx_str key;
    bool member =
        cbx_js_kind(left) == JS_member_expression || cbx_js_kind(left) == JS_subscript_expression;
    if (member && is_environment(cbx_js_eval(js, cbx_child_of(left, CBX_FIELD_object), scope)) &&
        cbx_js_member(js, left, scope, &key)) {
        add_variable(js, cbx_values_text(js->arena, key),
                     cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope), node);
    }
}

void cbx_js_extract_environment(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                                const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    bool given;
    bool assigns = cbx_str_is(name, "Object.assign"),
         sets = cbx_str_is(name, "Reflect.set") || cbx_str_is(name, "Object.defineProperty") ||
                cbx_str_is(name, "Reflect.defineProperty");
    if ((!assigns && !sets) || !is_environment(cbx_js_argument(js, site, 0, scope, &given))) {
        return;
    }
    if (sets) {
        add_variable(js, cbx_js_argument(js, site, 1, scope, &given), &cbx_values_unknown, call);
        return;
    }
    for (uint32_t i = 1; i < cbx_js_argument_count(site) && i < ARGS_MAX; i++) {
        const struct cbx_values *object = cbx_js_argument(js, site, i, scope, &given);
        const struct cbx_value *map = cbx_values_container(object, CBX_V_MAP);
        for (uint32_t k = 0; map != NULL && k < map->count; k++) {
            add_variable(js, cbx_values_text(js->arena, map->keys[k]), map->members[k], call);
        }
    }
}

static void extract_import(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    (void)scope;
    extract_module(js, node);
}

static void extract_call(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    cbx_js_extract_call(js, node, scope);
    add_references(js, node, scope);
    extract_text(js, node, scope);
}

static void extract_identifier(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    if (!is_plain_name(node)) {
        add_references(js, node, scope);
    }
}

/* { listen } = app */
static void extract_property(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    (void)scope;
    enum cbx_js_kind parent = cbx_js_kind(node->parent);
    if (cbx_str_is(cbx_walk_text(js, node), "listen") && parent != JS_member_expression &&
        parent != JS_pair && parent != JS_method_definition) {
        cbx_walk_trigger(js, node);
    }
}

static void extract_defined(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    (void)scope;
    extract_key(js, node);
}

static void extract_template(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    extract_text(js, node, scope);
    extract_built(js, node, scope);
}

/* Adds the facts of a + b + c as a whole. */
static void extract_binary(struct cbx_walk *js, struct cbx_node *node, struct cbx_scope *scope)
{
    if (cbx_js_kind(node->parent) != JS_binary_expression) {
        extract_text(js, node, scope);
        extract_built(js, node, scope);
    }
}

static void (*const extractors[JS_KINDS])(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope) = {
    [JS_import_statement] = extract_import,
    [JS_export_statement] = extract_import,
    [JS_call_expression] = extract_call,
    [JS_new_expression] = extract_call,
    [JS_member_expression] = extract_member,
    [JS_subscript_expression] = extract_member,
    [JS_identifier] = extract_identifier,
    [JS_shorthand_property_identifier] = add_references,
    [JS_property_identifier] = extract_property,
    [JS_shorthand_property_identifier_pattern] = extract_property,
    [JS_assignment_expression] = extract_assignment,
    [JS_augmented_assignment_expression] = extract_assignment,
    [JS_pair] = extract_defined,
    [JS_method_definition] = extract_defined,
    [JS_string] = extract_text,
    [JS_template_string] = extract_template,
    [JS_binary_expression] = extract_binary,
};

void cbx_extract_javascript(struct cbx_parsed *parsed)
{
    struct cbx_walk *js = cbx_arena_alloc(parsed->arena, sizeof(*js));
    if (js == NULL || !cbx_walk_begin(js, parsed, cbx_js_grammar(parsed->tree))) {
        return;
    }
    if (parsed->lang->policy == CBX_TYPESCRIPT) {
        cbx_ts_reshape(js);
    }
    cbx_js_bind_all(js);
    cbx_js_flow_all(js);
    cbx_stored_read(js, &cbx_js_stored);
    for (uint32_t i = 0; i < js->syntax.count; i++) {
        struct cbx_node *node = &js->syntax.nodes[i];
        if (extractors[node->kind] != NULL) {
            extractors[node->kind](js, node, cbx_scope_around(js, node));
        }
    }
    cbx_walk_fire(js, CBX_STR("(server).listen"));
    cbx_walk_end(js);
}

const TSLanguage *tree_sitter_javascript(void);
const struct cbx_lang_code cbx_lang_code_javascript = { .grammar = tree_sitter_javascript,
                                                        .extract = cbx_extract_javascript,
                                                        .between = CBX_JS_BETWEEN,
                                                        .around_file = cbx_js_around_file,
                                                        .mend = cbx_js_mend,
                                                        .misnames = cbx_js_misnames };
