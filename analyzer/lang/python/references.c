/* SPDX-License-Identifier: MIT
 * The facts about names that a Python source mentions without calling them. */
#include "analyzer/lang/python/internal.h"

#include "analyzer/facts/sinks.h"

bool cbx_py_is_of_text(struct cbx_str name)
{
    return cbx_str_is(name, "types.FunctionType") || cbx_str_is(name, "types.LambdaType") ||
           cbx_str_starts(name, CBX_STR("str.")) || cbx_str_starts(name, CBX_STR("list.")) ||
           cbx_str_starts(name, CBX_STR("dict."));
}

bool cbx_py_is_own_function(const struct cbx_value *v)
{
    return v->number == CBX_NAME_BARE && cbx_sinks_is_module(CBX_PYTHON, v->text);
}

void cbx_py_add_references(struct cbx_walk *py, const struct cbx_values *values,
                           const struct cbx_node *node)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_NAME && !cbx_py_is_of_text(v->text)) {
            cbx_facts_add(py->facts, CBX_IS_REFERENCE, v->text, node->start, node->end);
        } else if (v->kind == CBX_V_PARTIAL) {
            const struct cbx_values *callee = v->members[0];
            for (uint32_t k = 0; k < callee->count; k++) {
                if (callee->items[k]->kind == CBX_V_NAME &&
                    !cbx_py_is_of_text(callee->items[k]->text)) {
                    cbx_facts_add(py->facts, CBX_IS_REFERENCE, callee->items[k]->text, node->start,
                                  node->end);
                }
            }
        }
    }
}

/* Returns true in isinstance(x, types.FunctionType), x is types.FunctionType: the type is
 * compared, not used. */
static bool is_asked_about(struct cbx_walk *py, const struct cbx_node *node)
{
    const struct cbx_node *list = node->parent;
    if (cbx_py_kind(node) != PY_attribute || cbx_py_kind(list) != PY_argument_list) {
        return cbx_py_kind(node) == PY_attribute && cbx_py_kind(list) == PY_comparison_operator;
    }
    struct cbx_str callee = cbx_walk_text(py, cbx_child_of(list->parent, CBX_FIELD_function));
    return cbx_str_is(callee, "isinstance") || cbx_str_is(callee, "issubclass");
}

/* Returns true for os.environ itself; reads of its items have their own facts. */
static bool is_environment(const struct cbx_values *values)
{
    return values->count == 1 && values->items[0]->kind == CBX_V_NAME &&
           cbx_str_is(values->items[0]->text, "os.environ");
}

static bool is_read_of(const struct cbx_node *node)
{
    return (cbx_py_kind(node->parent) == PY_subscript && node->field == CBX_FIELD_value) ||
           (cbx_py_kind(node->parent) == PY_attribute && node->field == CBX_FIELD_object);
}

/* Returns true for `importlib` in importlib.metadata.version(): the fact has the whole name. */
static bool is_module_named(const struct cbx_node *node, const struct cbx_values *values)
{
    return cbx_py_kind(node) == PY_identifier && cbx_py_kind(node->parent) == PY_attribute &&
           values->count == 1 && values->items[0]->kind == CBX_V_NAME &&
           values->items[0]->number == 0 &&
           memchr(values->items[0]->text.p, '.', values->items[0]->text.len) == NULL;
}

static bool has_power(const struct cbx_values *values)
{
    bool power = false;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        power |= v->kind == CBX_V_PARTIAL ||
                 (v->kind == CBX_V_NAME && cbx_sinks_of(CBX_PYTHON, v->text) != 0);
    }
    return power;
}

bool cbx_py_has_unbound_module(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    while (cbx_py_kind(node) == PY_attribute || cbx_py_kind(node) == PY_call ||
           cbx_py_kind(node) == PY_subscript || cbx_py_kind(node) == PY_parenthesized_expression) {
        node = cbx_child_at(node, 0);
    }
    const struct cbx_values *root =
        cbx_py_kind(node) == PY_identifier ? cbx_py_eval(py, node, scope) : &cbx_values_nothing;
    const struct cbx_value *v = root->count == 1 ? root->items[0] : NULL;
    return v != NULL && v->kind == CBX_V_NAME && v->number == CBX_NAME_BARE &&
           (cbx_sinks_of(CBX_PYTHON, v->text) == 0 || cbx_sinks_is_module(CBX_PYTHON, v->text)) &&
           (cbx_sinks_of_module(CBX_PYTHON, v->text) != 0 || cbx_sinks_within(CBX_PYTHON, v->text));
}

void cbx_py_extract_references(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_py_eval(py, node, scope);
    const struct cbx_value *v = values->count == 1 ? values->items[0] : NULL;
    bool powerful = has_power(values);
    bool called = node->field == CBX_FIELD_function && cbx_py_kind(node->parent) == PY_call &&
                  v != NULL && v->kind == CBX_V_NAME && cbx_py_is_own_function(v);
    bool spoken_for =
        called || (is_read_of(node) && (is_environment(values) || is_module_named(node, values))) ||
        (powerful && (cbx_py_harmless_read(py, node).len > 0 || cbx_py_is_judged_callee(py, node)));
    if (!is_asked_about(py, node) && !spoken_for) {
        size_t before = py->facts->count;
        cbx_py_add_references(py, values, node);
        if (py->facts->count > before && cbx_py_has_unbound_module(py, node, scope)) {
            cbx_py_mark_alone(py, before);
        }
    }
}

void cbx_py_extract_variable(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_actuals actuals = { 0 };
    struct cbx_node *key = cbx_child_of(node, CBX_FIELD_subscript);
    if (!is_environment(cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_value), scope))) {
        return;
    }
    cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, key, scope, NULL);
    cbx_py_extract_call(py, CBX_STR("os.environ.__getitem__"), &actuals, node);
}

bool cbx_py_is_plain_name(const struct cbx_node *name)
{
    switch (cbx_py_kind(name->parent)) {
    case PY_dotted_name:
    case PY_global_statement:
    case PY_nonlocal_statement:
    case PY_parameters:
    case PY_lambda_parameters:
    case PY_pattern_list:
    case PY_tuple_pattern:
    case PY_list_pattern:
    case PY_keyword_pattern:
    case PY_splat_pattern:
        return name->field == CBX_FIELD_NONE;
    case PY_attribute:
        return name->field == CBX_FIELD_attribute;
    case PY_assignment:
    case PY_for_statement:
    case PY_for_in_clause:
        return name->field == CBX_FIELD_left;
    case PY_as_pattern_target:
        return true;
    case PY_keyword_argument:
    case PY_function_definition:
    case PY_class_definition:
    case PY_default_parameter:
    case PY_typed_default_parameter:
        return name->field == CBX_FIELD_name;
    default:
        return false;
    }
}
