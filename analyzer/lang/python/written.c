/* SPDX-License-Identifier: MIT
 * Assignments to the environment and to attributes of modules, as calls that rules can match:
 * os.environ['A'] = b and its variants are os.putenv('A', b), sys.executable = b is
 * set:sys.executable(b). */
#include "analyzer/lang/python/internal.h"

static const struct cbx_str none;

static bool is_environment(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_NAME &&
            (cbx_str_is(values->items[i]->text, "os.environ") ||
             cbx_str_is(values->items[i]->text, "os.environb") ||
             cbx_str_is(values->items[i]->text, "os.environ._data"))) {
            return true;
        }
    }
    return false;
}

static void add_variable(struct cbx_walk *py, const struct cbx_values *key,
                         const struct cbx_values *value, struct cbx_node *node)
{
    struct cbx_actuals actuals = { 0 };
    cbx_actuals_add(&actuals, none, NULL, NULL, key);
    cbx_actuals_add(&actuals, none, NULL, NULL, value);
    cbx_py_extract_call(py, CBX_STR("os.putenv"), &actuals, node);
}

/* Adds the call for each variable of a mapping; none for an unknown mapping. */
static void add_variables(struct cbx_walk *py, const struct cbx_values *mapping,
                          struct cbx_node *node)
{
    for (uint32_t i = 0; i < mapping->count; i++) {
        const struct cbx_value *v = mapping->items[i];
        for (uint32_t k = 0; v->kind == CBX_V_MAP && k < v->count; k++) {
            add_variable(py, cbx_values_text(py->arena, v->keys[k]), v->members[k], node);
        }
        for (uint32_t k = 0; v->kind == CBX_V_LIST && k < v->count; k++) { /* pairs */
            add_variable(py, cbx_py_member(py, v->members[k], CBX_STR("0")),
                         cbx_py_member(py, v->members[k], CBX_STR("1")), node);
        }
    }
}

/* --- assignments ------------------------------------------------------------------------------ */

/* Returns the assignment that has the node as a target, NULL if there is none; *value: its value
 * if the node is the whole target, else NULL. */
static struct cbx_node *assignment_of(struct cbx_node *target, struct cbx_node **value)
{
    struct cbx_node *node = target;
    for (;;) {
        switch (cbx_py_kind(node->parent)) {
        case PY_pattern_list:
        case PY_tuple_pattern:
        case PY_list_pattern:
        case PY_parenthesized_expression:
            node = node->parent;
            continue;
        case PY_assignment:
        case PY_augmented_assignment:
            *value = node == target ? cbx_child_of(node->parent, CBX_FIELD_right) : NULL;
            return node->field == CBX_FIELD_left ? node->parent : NULL;
        case PY_for_statement:
        case PY_for_in_clause:
            *value = NULL;
            return node->field == CBX_FIELD_left ? node->parent : NULL;
        case PY_as_pattern_target:
            *value = NULL;
            return node->parent;
        default:
            return NULL;
        }
    }
}

static const struct cbx_values *value_of(struct cbx_walk *py, struct cbx_node *value,
                                         struct cbx_scope *scope)
{
    while (cbx_py_kind(value) == PY_assignment) { /* a = b = value */
        value = cbx_child_of(value, CBX_FIELD_right);
    }
    return value != NULL ? cbx_py_eval(py, value, scope) : &cbx_values_unknown;
}

void cbx_py_extract_written(struct cbx_walk *py, struct cbx_node *target, struct cbx_scope *scope)
{
    struct cbx_node *value = NULL, *assignment = assignment_of(target, &value);
    if (assignment == NULL) {
        return;
    }
    if (cbx_py_kind(target) == PY_subscript) {
        struct cbx_node *object = cbx_child_of(target, CBX_FIELD_value);
        if (is_environment(cbx_py_eval(py, object, scope))) {
            const struct cbx_values *written = value_of(py, value, scope);
            if (cbx_py_kind(assignment) == PY_augmented_assignment) {
                written =
                    cbx_py_operator(py, CBX_STR("+"), cbx_py_eval(py, target, scope), written);
            }
            add_variable(py, cbx_py_eval(py, cbx_child_of(target, CBX_FIELD_subscript), scope),
                         written, target);
        }
        return;
    }
    if (cbx_py_kind(assignment) == PY_augmented_assignment &&
        is_environment(cbx_py_eval(py, target, scope))) { /* os.environ |= mapping */
        add_variables(py, value_of(py, value, scope), target);
        return;
    }
    struct cbx_node *object = cbx_child_of(target, CBX_FIELD_object);
    const struct cbx_values *objects = cbx_py_eval(py, object, scope);
    struct cbx_str attribute = cbx_py_text(py, cbx_child_of(target, CBX_FIELD_attribute));
    for (uint32_t i = 0; i < objects->count; i++) {
        if (objects->items[i]->kind == CBX_V_NAME) {
            struct cbx_actuals actuals = { 0 };
            struct cbx_str name = cbx_py_qualify(py, objects->items[i], attribute);
            cbx_actuals_add(&actuals, none, NULL, NULL, value_of(py, value, scope));
            cbx_py_extract_call(py, CBX_JOIN(py->arena, CBX_STR("set:"), name), &actuals, target);
        }
    }
}

/* --- calls ------------------------------------------------------------------------------------ */

void cbx_py_extract_writer(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                           struct cbx_node *call)
{
    struct cbx_str space = CBX_STR("os.environ.");
    uint32_t shift = 0;
    struct cbx_str method =
        cbx_str_starts(name, space) ? cbx_str_sub(name, space.len, name.len) : CBX_STR("");
    /* setitem of a class takes the object first */
    bool sets = cbx_str_ends(name, CBX_STR("setitem")) ||
                cbx_str_ends(name, CBX_STR(".__setitem__")) ||
                cbx_str_ends(name, CBX_STR(".setdefault"));
    if (sets && is_environment(cbx_actual_values(py, actuals, 0, NULL))) {
        method = CBX_STR("__setitem__");
        shift = 1;
    }
    if (cbx_str_is(method, "__setitem__") || cbx_str_is(method, "setdefault")) {
        add_variable(py, cbx_actual_values(py, actuals, shift, NULL),
                     cbx_actual_values(py, actuals, shift + 1, NULL), call);
    }
    if (!cbx_str_is(method, "update") && !cbx_str_is(method, "__ior__")) {
        return;
    }
    for (uint32_t i = 0; i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        a->values = a->values != NULL ? a->values : cbx_py_eval(py, a->node, a->scope);
        if (a->keyword.len > 0) {
            add_variable(py, cbx_values_text(py->arena, a->keyword), a->values, call);
        } else {
            add_variables(py, a->values, call);
        }
    }
}
