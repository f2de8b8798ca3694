/* SPDX-License-Identifier: MIT
 * The flow between the scopes of a JavaScript source besides names: arguments of calls, and values
 * that escape. */
#include "analyzer/lang/javascript/internal.h"
#include "analyzer/lang/summary.h"

/* --- what parameters are given ---------------------------------------------------------------- */

static void give_parameters(struct cbx_walk *js, struct cbx_node *function, struct cbx_node *list,
                            struct cbx_scope *where)
{
    struct cbx_node *parameters = cbx_child_of(function, CBX_FIELD_parameters),
                    *single = cbx_child_of(function, CBX_FIELD_parameter), *argument = list->first;
    struct cbx_node *p = single != NULL ? single : parameters != NULL ? parameters->first : NULL;
    for (; p != NULL && argument != NULL; p = single != NULL ? NULL : p->next) {
        if (cbx_js_kind(argument) == JS_spread_element || cbx_js_kind(p) == JS_rest_pattern) {
            return;
        }
        cbx_js_bind_value(js, function->inner, where, p, argument, false);
        argument = argument->next;
    }
}

/* Every function of this chain of bindings is called with these arguments. */
static void call_chain(struct cbx_walk *js, struct cbx_binding *chain, struct cbx_str name,
                       struct cbx_node *list, struct cbx_scope *where)
{
    int count = 0;
    for (struct cbx_binding *b = chain; b != NULL && count < 16; b = b->next) {
        if (cbx_str_equal(b->name, name) && cbx_js_is_function(cbx_js_kind(b->node))) {
            give_parameters(js, b->node, list, where);
            count++;
        }
    }
}

/* [a].map(x => ...), promise.then(x => ...): the function is called with members of the object, or
 * with the object; that of reduce with its last result or the initial value, and a member. */
static void give_callback(struct cbx_walk *js, struct cbx_node *callee, struct cbx_node *list,
                          struct cbx_scope *where)
{
    static const char *const each[] = { "map",  "forEach", "filter",  "find",      "some",
                                        "sort", "every",   "flatMap", "findIndex", "findLast" };
    struct cbx_str method = cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property));
    struct cbx_node *function = list->first, *object = cbx_child_of(callee, CBX_FIELD_object);
    struct cbx_node *parameters = cbx_child_of(function, CBX_FIELD_parameters),
                    *single = cbx_child_of(function, CBX_FIELD_parameter);
    struct cbx_node *first = single != NULL ? single : cbx_child_at(parameters, 0),
                    *second = cbx_child_at(parameters, 1);
    bool reduce = cbx_str_is(method, "reduce") || cbx_str_is(method, "reduceRight"), any = reduce;
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        any |= cbx_str_is(method, each[i]);
    }
    if ((!any && !cbx_str_is(method, "then")) || first == NULL) {
        return;
    }
    struct cbx_scope *inner = function->inner;
    if (reduce && cbx_child_at(list, 1) != NULL) {
        cbx_js_bind_value(js, inner, where, first, cbx_child_at(list, 1), false);
    }
    cbx_js_bind_value(js, inner, where, first, object, any);
    if (reduce && second != NULL) {
        cbx_js_bind_value(js, inner, where, second, object, any);
    }
}

/* The functions of this source that a call may call, by name only. */
static void give_call(struct cbx_walk *js, struct cbx_node *call)
{
    bool is_new = cbx_js_kind(call) == JS_new_expression;
    struct cbx_node *callee =
                        cbx_child_of(call, is_new ? CBX_FIELD_constructor : CBX_FIELD_function),
                    *list = cbx_child_of(call, CBX_FIELD_arguments);
    struct cbx_scope *where = cbx_scope_around(js, call);
    while (cbx_js_kind(callee) == JS_parenthesized_expression) {
        callee = cbx_child_at(callee, 0);
    }
    if (cbx_js_kind(list) != JS_arguments || list->first == NULL) {
        return;
    }
    if (cbx_js_is_function(cbx_js_kind(callee))) {
        give_parameters(js, callee, list, where);
    } else if (cbx_js_kind(callee) == JS_member_expression) {
        struct cbx_str name = cbx_js_name(js, cbx_child_of(callee, CBX_FIELD_property));
        call_chain(js, cbx_scope_chain(js, NULL, name), name, list, where);
        if (cbx_js_is_function(cbx_js_kind(list->first))) {
            give_callback(js, callee, list, where);
        }
    } else if (cbx_js_kind(callee) == JS_identifier && is_new) {
        struct cbx_str name = CBX_STR("constructor");
        call_chain(js, cbx_scope_chain(js, NULL, name), name, list, where);
    } else if (cbx_js_kind(callee) == JS_identifier) {
        struct cbx_str name = cbx_js_name(js, callee);
        struct cbx_binding *chain = NULL;
        for (struct cbx_scope *s = where; s != NULL && chain == NULL; s = s->parent) {
            chain = cbx_scope_chain(js, s, name);
        }
        call_chain(js, chain, name, list, where);
    }
}

/* --- what goes out of sight ------------------------------------------------------------------- */

/* process, globalThis and similar, and modules, escape when they are used as values, not only for
 * their members. */
static bool is_value(struct cbx_walk *js, const struct cbx_node *name)
{
    struct cbx_str operator;
    switch (cbx_js_kind(name->parent)) {
    case JS_member_expression:
    case JS_subscript_expression:
        return name->field == CBX_FIELD_index;
    case JS_call_expression:
    case JS_new_expression:
    case JS_expression_statement:
    case JS_unary_expression:
    case JS_import_specifier:
    case JS_import_clause:
    case JS_namespace_import:
    case JS_formal_parameters:
    case JS_object_pattern:
    case JS_array_pattern:
        return false;
    case JS_binary_expression:
        operator= cbx_walk_text(js, cbx_child_of(name->parent, CBX_FIELD_operator));
        return cbx_str_is(operator, "||") || cbx_str_is(operator, "&&") ||
               cbx_str_is(operator, "??") || cbx_str_is(operator, "instanceof");
    case JS_variable_declarator:
        return name->field == CBX_FIELD_value;
    case JS_assignment_expression:
        return name->field == CBX_FIELD_right;
    default:
        return name->field != CBX_FIELD_name && name->field != CBX_FIELD_parameter;
    }
}

static void let_escape(struct cbx_walk *js, struct cbx_node *name)
{
    struct cbx_str text = cbx_js_name(js, name);
    struct cbx_binding *chain = NULL;
    if ((js->imported & cbx_name_bit(text)) == 0) {
        return;
    }
    for (struct cbx_scope *s = cbx_scope_around(js, name); s != NULL && chain == NULL;
         s = s->parent) {
        chain = cbx_scope_chain(js, s, text);
    }
    for (struct cbx_binding *b = chain; b != NULL; b = b->next) {
        if (b->kind == CBX_BIND_NAME && cbx_str_equal(b->name, text)) {
            cbx_walk_escape(js, b->path, false);
        }
    }
    if (chain == NULL && cbx_js_is_powerful(text)) {
        cbx_walk_escape(js, text, true);
    }
}

/* The arguments of the function that Node wraps around a module, used as a value: whatever is called
 * afterwards may be its `require`. */
static void let_arguments_escape(struct cbx_walk *js, struct cbx_node *name)
{
    const struct cbx_values *values = cbx_js_eval(js, name, cbx_scope_around(js, name));
    const struct cbx_value *list = cbx_values_container(values, CBX_V_LIST);
    const struct cbx_values *second =
        list != NULL && list->count == 5 ? list->members[1] : &cbx_values_nothing;
    if (second->count == 1 && cbx_str_is(second->items[0]->text, "require")) {
        js->escaped_calls = second;
        cbx_walk_escape(js, CBX_STR("module"), true);
    }
}

/* globalThis.process that is used as a value. */
static void let_member_escape(struct cbx_walk *js, struct cbx_node *member)
{
    struct cbx_str key = cbx_js_name(js, cbx_child_of(member, CBX_FIELD_property));
    struct cbx_str object = cbx_js_name(js, cbx_child_of(member, CBX_FIELD_object));
    if (cbx_js_is_global_object(object) && cbx_js_is_powerful(key)) {
        cbx_walk_escape(js, key, true);
    }
}

void cbx_js_flow_all(struct cbx_walk *js)
{
    js->escaped_calls = cbx_recall_calls(js);
    js->giving = true;
    struct cbx_node *nodes = js->syntax.nodes;
    for (uint32_t i = 0; i < js->syntax.count; i++) {
        enum cbx_js_kind kind = cbx_js_kind(&nodes[i]);
        if (kind == JS_call_expression || kind == JS_new_expression) {
            give_call(js, &nodes[i]);
        } else if (kind == JS_identifier && js->uses_arguments && is_value(js, &nodes[i]) &&
                   cbx_str_is(cbx_walk_text(js, &nodes[i]), "arguments")) {
            let_arguments_escape(js, &nodes[i]);
        } else if (kind == JS_identifier && is_value(js, &nodes[i])) {
            let_escape(js, &nodes[i]);
        } else if (kind == JS_member_expression && is_value(js, &nodes[i])) {
            let_member_escape(js, &nodes[i]);
        }
    }
    js->giving = false;
}
