/* SPDX-License-Identifier: MIT
 * Python's nodes for the notes of what objects hold (analyzer/lang/stored.h). */
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/stored.h"

static bool read_literal(struct cbx_walk *py, struct cbx_node *node, struct cbx_str *out)
{
    bool plain = cbx_py_kind(node) == PY_string && cbx_child_count(node) <= 3 &&
                 cbx_py_kind(cbx_child_at(node, 1)) != PY_interpolation;
    return plain && cbx_values_is_text(cbx_py_eval(py, node, cbx_scope_around(py, node)), out);
}

/* Returns true for `name = value` in the body of a class. */
static bool is_field(struct cbx_walk *py, const struct cbx_node *node)
{
    const struct cbx_scope *scope = cbx_scope_around(py, node);
    return scope != NULL && scope->kind == CBX_SCOPE_CLASS &&
           cbx_py_kind(cbx_child_of(node, CBX_FIELD_left)) == PY_identifier;
}

static struct cbx_shape shape_of(struct cbx_walk *py, struct cbx_node *node)
{
    struct cbx_shape shape = { .kind = CBX_SHAPE_OTHER };
    switch (cbx_py_kind(node)) {
    case PY_parenthesized_expression:
    case PY_await:
        shape.kind = CBX_SHAPE_SAME;
        shape.object = cbx_child_at(node, 0);
        break;
    case PY_named_expression:
        shape.kind = CBX_SHAPE_SAME;
        shape.object = cbx_child_of(node, CBX_FIELD_value);
        break;
    case PY_conditional_expression:
    case PY_boolean_operator:
        shape.kind = CBX_SHAPE_CHOICE;
        break;
    case PY_list:
    case PY_tuple:
    case PY_expression_list:
    case PY_dictionary:
        shape.kind = CBX_SHAPE_PARTS;
        break;
    case PY_identifier:
        shape.name = cbx_py_text(py, node);
        shape.kind = cbx_str_is(shape.name, "self") || cbx_str_is(shape.name, "cls")
                         ? CBX_SHAPE_SELF
                         : CBX_SHAPE_NAME;
        break;
    case PY_attribute:
        shape.kind = CBX_SHAPE_MEMBER;
        shape.object = cbx_child_of(node, CBX_FIELD_object);
        shape.name = cbx_py_text(py, cbx_child_of(node, CBX_FIELD_attribute));
        break;
    case PY_subscript:
        shape.kind = CBX_SHAPE_ITEM;
        shape.object = cbx_child_of(node, CBX_FIELD_value);
        read_literal(py, cbx_child_of(node, CBX_FIELD_subscript), &shape.name);
        break;
    case PY_call:
        shape.kind = CBX_SHAPE_CALL;
        shape.object = cbx_child_of(node, CBX_FIELD_function);
        shape.arguments = cbx_child_of(node, CBX_FIELD_arguments);
        break;
    case PY_assignment:
    case PY_augmented_assignment:
        shape.kind = is_field(py, node) ? CBX_SHAPE_FIELD : CBX_SHAPE_ASSIGN;
        shape.adds = cbx_py_kind(node) == PY_augmented_assignment;
        shape.object = cbx_child_of(node, CBX_FIELD_left);
        shape.value = cbx_child_of(node, CBX_FIELD_right);
        shape.name = shape.kind == CBX_SHAPE_FIELD ? cbx_py_text(py, shape.object) : CBX_STR("");
        break;
    default:
        break;
    }
    return shape;
}

static struct cbx_node *argument_of(struct cbx_walk *py, struct cbx_node *argument,
                                    struct cbx_str *keyword)
{
    const struct cbx_node *around = argument != NULL ? argument->parent : NULL;
    if (cbx_py_kind(around) == PY_conditional_expression && cbx_child_at(around, 1) == argument) {
        return NULL; /* the condition */
    }
    switch (cbx_py_kind(argument)) {
    case PY_keyword_argument:
        *keyword = cbx_py_name(py, argument);
        return cbx_child_of(argument, CBX_FIELD_value);
    case PY_pair:
        read_literal(py, cbx_child_of(argument, CBX_FIELD_key), keyword);
        return cbx_child_of(argument, CBX_FIELD_value);
    case PY_list_splat:
    case PY_dictionary_splat:
        return cbx_child_at(argument, 0);
    default:
        return argument;
    }
}

static uint32_t secrets_of(struct cbx_walk *py, const struct cbx_values *values)
{
    (void)py;
    return cbx_py_flags(values) & (CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT);
}

static struct cbx_node *class_around(const struct cbx_node *node)
{
    const struct cbx_node *n = node;
    while (n != NULL && cbx_py_kind(n) != PY_class_definition) {
        n = n->parent;
    }
    return (struct cbx_node *)(uintptr_t)n;
}

static const struct cbx_values *bases_of(struct cbx_walk *py, const struct cbx_node *class)
{
    const struct cbx_values *out = &cbx_values_nothing;
    const struct cbx_node *list = cbx_child_of(class, CBX_FIELD_superclasses);
    for (struct cbx_node *base = list != NULL ? list->first : NULL; base != NULL;
         base = base->next) {
        bool name = cbx_py_kind(base) == PY_identifier;
        out = name ? cbx_values_join(py->arena, out,
                                     cbx_py_eval(py, base, cbx_scope_around(py, base)))
                   : out;
    }
    return out;
}

const struct cbx_stored_lang cbx_py_stored = { .shape = shape_of,
                                               .literal = read_literal,
                                               .argument = argument_of,
                                               .secrets = secrets_of,
                                               .maker = class_around,
                                               .bases = bases_of,
                                               .self = { "self", 4 } };
