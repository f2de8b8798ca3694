/* SPDX-License-Identifier: MIT
 * Pass two over JavaScript: the facts. One walk; what each node means is looked up with the
 * evaluator. */
#include "analyzer/lang/javascript.h"

enum { ARGS_MAX = 16 };

static void add(struct cbx_walk *js, enum cbx_fact_kind kind, struct cbx_str name, TSNode node)
{
    cbx_facts_add(js->facts, kind, name, ts_node_start_byte(node), ts_node_end_byte(node));
}

static void add_special(struct cbx_walk *js, enum cbx_fact_id id, struct cbx_str name, TSNode node)
{
    cbx_facts_add_special(js->facts, id, name, ts_node_start_byte(node), ts_node_end_byte(node));
}

/* --- modules ---------------------------------------------------------------------------------- */

static void add_imports(struct cbx_walk *js, const struct cbx_values *values, TSNode node)
{
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i].kind == CBX_V_TEXT) {
            add(js, CBX_IS_IMPORT, cbx_js_module(values->items[i].text), node);
        }
    }
    if (!cbx_values_all_text(values)) {
        add_special(js, CBX_FACT_DYNAMIC_IMPORT, CBX_STR("require"), node);
    }
}

/* import ... from 'm' and export ... from 'm'; each name that is taken from it is a reference. */
static void extract_module(struct cbx_walk *js, TSNode node)
{
    TSNode source = cbx_node_field(node, CBX_FIELD_source);
    struct cbx_str module;
    if (ts_node_is_null(source) ||
        !cbx_values_is_text(cbx_js_eval(js, source, js->module), &module)) {
        return;
    }
    module = cbx_js_module(module);
    add(js, CBX_IS_IMPORT, module, source);
    TSNode clause = ts_node_named_child(node, 0);
    for (uint32_t i = 0, n = cbx_js_kind(clause) == JS_import_clause
                                 ? ts_node_named_child_count(clause)
                                 : 0;
         i < n && i < 8; i++) {
        TSNode names = ts_node_named_child(clause, i);
        for (uint32_t k = 0, m = cbx_js_kind(names) == JS_named_imports
                                     ? ts_node_named_child_count(names)
                                     : 0;
             k < m && k < 256; k++) {
            struct cbx_str name =
                cbx_js_name(js, cbx_node_field(ts_node_named_child(names, k), CBX_FIELD_name));
            add(js, CBX_IS_REFERENCE,
                cbx_arena_printf(js->arena, "%.*s.%.*s", CBX_STR_ARG(module), CBX_STR_ARG(name)),
                ts_node_named_child(names, k));
        }
    }
}

/* --- calls ------------------------------------------------------------------------------------ */

static const struct cbx_arg *read_arguments(struct cbx_walk *js,
                                            const struct cbx_js_call_site *site,
                                            struct cbx_scope *scope, uint32_t *count)
{
    uint32_t n = cbx_js_argument_count(site);
    n = n > ARGS_MAX ? ARGS_MAX : n;
    struct cbx_arg *args = cbx_arena_array(js->arena, n + 1u, sizeof(*args));
    *count = 0;
    for (uint32_t i = 0; args != NULL && i < n; i++) {
        bool given;
        const struct cbx_values *values = cbx_js_argument(js, site, i, scope, &given);
        if (!given) {
            break;
        }
        enum cbx_value_kind kind = values->count == 1 ? values->items[0].kind : CBX_V_UNKNOWN;
        args[i].position = i;
        args[i].known = kind == CBX_V_TEXT || kind == CBX_V_NUMBER || kind == CBX_V_NAME;
        args[i].constant = args[i].known && kind != CBX_V_NAME;
        args[i].value = args[i].known ? values->items[0].text : CBX_STR("");
        *count = i + 1;
    }
    return args;
}

/* Code in a string: the last argument is the body (Function), for all else it is the first. */
static void extract_code(struct cbx_walk *js, struct cbx_str callee, const char *language,
                         TSNode call, const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    bool timer = strcmp(language, "timer") == 0, given = false;
    uint32_t count = cbx_js_argument_count(site);
    bool last = cbx_str_ends(callee, CBX_STR("Function")) && !site->from_array && count > 0;
    const struct cbx_values *code = cbx_js_argument(js, site, last ? count - 1 : 0, scope, &given);
    struct cbx_str text;
    bool is_text = given && cbx_values_is_text(code, &text);
    if (!given || (timer && !is_text)) {
        return;
    }
    if (is_text) {
        cbx_parse_inner(js->parsed, timer ? "javascript" : language, text, ts_node_start_byte(call),
                        ts_node_end_byte(call));
    }
    if (timer || !is_text) {
        add_special(js, CBX_FACT_DYNAMIC_CODE, callee, call);
    }
}

static void extract_named_call(struct cbx_walk *js, struct cbx_str name, TSNode call,
                               const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    struct cbx_fact *fact = cbx_facts_add(js->facts, CBX_IS_CALL, name, ts_node_start_byte(call),
                                          ts_node_end_byte(call));
    if (fact != NULL) {
        fact->args = read_arguments(js, site, scope, &fact->arg_count);
        fact->spread = site->from_array;
    }
    bool given;
    if (cbx_js_call_meaning(name) == JS_CALL_REQUIRE) {
        const struct cbx_values *module = cbx_js_argument(js, site, 0, scope, &given);
        if (given) {
            add_imports(js, module, call);
        }
    }
    const char *language = cbx_js_runs(name);
    if (language != NULL) {
        extract_code(js, name, language, call, site, scope);
    }
}

/* f.constructor(...) without `new` is a way to Function, whatever f is: nobody calls Array or
 * Object like that. */
static void check_constructor_call(struct cbx_walk *js, TSNode callee, TSNode call,
                                   struct cbx_scope *scope)
{
    struct cbx_str method;
    bool member = cbx_js_kind(callee) == JS_member_expression ||
                  cbx_js_kind(callee) == JS_subscript_expression;
    if (cbx_js_kind(call) == JS_call_expression && member &&
        cbx_js_member(js, callee, scope, &method) && cbx_str_is(method, "constructor")) {
        add_special(js, CBX_FACT_DUNDER_WALK, CBX_STR("constructor()"), call);
    }
}

static void extract_call(struct cbx_walk *js, TSNode call, struct cbx_scope *scope)
{
    TSNode callee = cbx_node_field(
        call, cbx_js_kind(call) == JS_new_expression ? CBX_FIELD_constructor : CBX_FIELD_function);
    struct cbx_js_call_site site = cbx_js_call_site(js, call, scope);
    if (cbx_js_kind(callee) == JS_import) {
        extract_named_call(js, CBX_STR("import"), call, &site, scope);
        return;
    }
    for (uint32_t i = 0; i < site.targets->count; i++) {
        if (site.targets->items[i].kind == CBX_V_NAME) {
            extract_named_call(js, site.targets->items[i].text, call, &site, scope);
        }
    }
    check_constructor_call(js, callee, call, scope);
    while (cbx_js_kind(callee) == JS_parenthesized_expression) {
        callee = ts_node_named_child(callee, 0);
    }
    enum cbx_js_kind kind = cbx_js_kind(callee);
    struct cbx_str method;
    bool computed = kind == JS_subscript_expression && !cbx_js_member(js, callee, scope, &method);
    if ((computed || (kind != JS_identifier && kind != JS_member_expression &&
                      kind != JS_subscript_expression && kind != JS_OTHER)) &&
        cbx_values_has_unknown(site.targets)) {
        add_special(js, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_walk_text(js, callee), 0, 80),
                    call);
    }
}

/* --- names ------------------------------------------------------------------------------------ */

/* `x instanceof Function` and Function.prototype.call ask about functions and make none. */
static bool is_only_asked(struct cbx_walk *js, struct cbx_str name, enum cbx_js_kind parent,
                          TSNode parent_node, const char *field)
{
    if (!cbx_str_ends(name, CBX_STR("Function"))) {
        return false;
    }
    if (parent == JS_binary_expression) {
        return true;
    }
    return parent == JS_member_expression && field != NULL && strcmp(field, "object") == 0 &&
           cbx_str_is(cbx_js_name(js, cbx_node_field(parent_node, CBX_FIELD_property)),
                      "prototype");
}

/* The names that an expression may come out to: what rules call references. require handed to
 * someone else loads what he says. */
static void add_references(struct cbx_walk *js, TSNode node, enum cbx_js_kind parent,
                           TSNode parent_node, const char *field, struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_js_eval(js, node, scope);
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = &values->items[i];
        if (v->kind != CBX_V_NAME || is_only_asked(js, v->text, parent, parent_node, field)) {
            continue;
        }
        add(js, CBX_IS_REFERENCE, v->text, node);
        bool handed_on = parent == JS_arguments || parent == JS_pair || parent == JS_array ||
                         cbx_js_kind(node) == JS_shorthand_property_identifier;
        if (handed_on && cbx_js_call_meaning(v->text) == JS_CALL_REQUIRE) {
            add_special(js, CBX_FACT_DYNAMIC_IMPORT, v->text, node);
        }
    }
}

/* A computed member of the global object, of process or of the module machinery can be anything
 * that they hold. */
static bool is_powerful(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = &values->items[i];
        if (v->kind == CBX_V_NAME &&
            ((v->number == 1 && cbx_js_is_global_object(v->text)) ||
             cbx_str_is(v->text, "process") || cbx_str_is(v->text, "require") ||
             cbx_str_is(v->text, "module") || cbx_str_is(v->text, "Module") ||
             cbx_str_is(v->text, "Reflect"))) {
            return true;
        }
    }
    return false;
}

static void extract_member(struct cbx_walk *js, TSNode node, enum cbx_js_kind parent,
                           TSNode parent_node, const char *field, struct cbx_scope *scope)
{
    TSNode object = cbx_node_field(node, CBX_FIELD_object);
    struct cbx_str key, inner;
    if (!cbx_js_member(js, node, scope, &key)) {
        if (is_powerful(cbx_js_eval(js, object, scope))) {
            add_special(js, CBX_FACT_COMPUTED_ATTRIBUTE, cbx_walk_text(js, object), node);
        }
        return;
    }
    add(js, CBX_IS_ATTRIBUTE, key, node);
    bool member = cbx_js_kind(object) == JS_member_expression ||
                  cbx_js_kind(object) == JS_subscript_expression;
    bool maker = cbx_str_is(key, "constructor");
    if (maker &&
        ((member && cbx_js_member(js, object, scope, &inner) && cbx_str_is(inner, "constructor")) ||
         cbx_js_is_function(cbx_js_kind(object)))) {
        add_special(js, CBX_FACT_DUNDER_WALK, CBX_STR("constructor.constructor"), node);
    }
    add_references(js, node, parent, parent_node, field, scope);
}

/* A name that is not a use: of a declaration, a parameter, a label. */
static bool is_plain_name(enum cbx_js_kind parent, const char *field)
{
    if (parent == JS_formal_parameters || parent == JS_import_specifier ||
        parent == JS_import_clause || parent == JS_namespace_import || parent == JS_array_pattern ||
        parent == JS_rest_pattern) {
        return true;
    }
    if (field == NULL) {
        return false;
    }
    bool declares = parent == JS_variable_declarator || parent == JS_function_declaration ||
                    parent == JS_function_expression || parent == JS_class_declaration ||
                    parent == JS_class || parent == JS_generator_function ||
                    parent == JS_generator_function_declaration;
    return (declares && strcmp(field, "name") == 0) ||
           (parent == JS_arrow_function && strcmp(field, "parameter") == 0) ||
           (parent == JS_catch_clause && strcmp(field, "parameter") == 0) ||
           (parent == JS_assignment_pattern && strcmp(field, "left") == 0);
}

static void extract_text(struct cbx_walk *js, TSNode node, struct cbx_scope *scope)
{
    struct cbx_str text;
    if (cbx_values_is_text(cbx_js_eval(js, node, scope), &text)) {
        add(js, CBX_IS_LITERAL, text, node);
    }
}

/* --- the walk --------------------------------------------------------------------------------- */

struct step {
    struct cbx_scope *scope;
    enum cbx_js_kind kind;
    TSNode node;
};

static void extract_node(struct cbx_walk *js, TSNode node, enum cbx_js_kind kind,
                         const struct step *parent, TSTreeCursor *cursor)
{
    struct cbx_scope *scope = parent->scope;
    const char *field;
    switch (kind) {
    case JS_import_statement:
    case JS_export_statement:
        extract_module(js, node);
        return;
    case JS_call_expression:
    case JS_new_expression:
        extract_call(js, node, scope);
        field = ts_tree_cursor_current_field_name(cursor);
        add_references(js, node, parent->kind, parent->node, field, scope);
        extract_text(js, node, scope);
        return;
    case JS_member_expression:
    case JS_subscript_expression:
        field = ts_tree_cursor_current_field_name(cursor);
        extract_member(js, node, parent->kind, parent->node, field, scope);
        return;
    case JS_identifier:
        field = ts_tree_cursor_current_field_name(cursor);
        if (!is_plain_name(parent->kind, field)) {
            add_references(js, node, parent->kind, parent->node, field, scope);
        }
        return;
    case JS_shorthand_property_identifier:
        add_references(js, node, parent->kind, parent->node, NULL, scope);
        return;
    case JS_binary_expression:
        if (parent->kind != JS_binary_expression) {
            extract_text(js, node, scope);
        }
        return;
    case JS_string:
    case JS_template_string:
        extract_text(js, node, scope);
        return;
    default:
        return;
    }
}

static void extract_all(struct cbx_walk *js, TSNode root)
{
    struct step *stack = cbx_arena_array(js->arena, CBX_TREE_DEPTH_MAX + 3, sizeof(*stack));
    if (stack == NULL) {
        return;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int depth = 1;
    stack[0] = (struct step){ .scope = js->module, .node = root };
    for (;;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum cbx_js_kind kind = cbx_js_kind(node);
        if (kind != JS_OTHER) {
            extract_node(js, node, kind, &stack[depth - 1], &cursor);
        }
        struct cbx_scope *scope = stack[depth - 1].scope;
        stack[depth] =
            (struct step){ .scope = kind != JS_OTHER ? cbx_scope_of(js, node, scope) : scope,
                           .kind = kind,
                           .node = node };
        if (depth >= CBX_TREE_DEPTH_MAX && ts_node_child_count(node) > 0) {
            add_special(js, CBX_FACT_TOO_COMPLEX, CBX_STR("nesting"), node);
        } else if (ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (depth == 1 || !ts_tree_cursor_goto_parent(&cursor)) {
                ts_tree_cursor_delete(&cursor);
                return;
            }
            depth--;
        }
    }
}

void cbx_extract_javascript(struct cbx_parsed *parsed)
{
    struct cbx_walk *js = cbx_arena_alloc(parsed->arena, sizeof(*js));
    if (js == NULL) {
        return;
    }
    js->parsed = parsed;
    js->arena = parsed->arena;
    js->facts = parsed->facts;
    js->src = parsed->text.p;
    TSNode root = ts_tree_root_node(parsed->tree);
    cbx_js_bind_all(js, root);
    if (js->module != NULL) {
        extract_all(js, root);
    }
}
