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

static struct cbx_shape shape_of(struct cbx_walk *py, struct cbx_node *node)
{
    struct cbx_shape shape = { .kind = CBX_SHAPE_OTHER };
    switch (cbx_py_kind(node)) {
    case PY_parenthesized_expression:
    case PY_await:
        shape.kind = CBX_SHAPE_SAME;
        shape.object = cbx_child_at(node, 0);
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
        shape.kind = CBX_SHAPE_ASSIGN;
        shape.object = cbx_child_of(node, CBX_FIELD_left);
        shape.value = cbx_child_of(node, CBX_FIELD_right);
        break;
    default:
        break;
    }
    return shape;
}

static struct cbx_node *argument_of(struct cbx_walk *py, struct cbx_node *argument,
                                    struct cbx_str *keyword)
{
    switch (cbx_py_kind(argument)) {
    case PY_keyword_argument:
        *keyword = cbx_py_name(py, argument);
        return cbx_child_of(argument, CBX_FIELD_value);
    case PY_list_splat:
    case PY_dictionary_splat:
        return cbx_child_at(argument, 0);
    default:
        return argument;
    }
}

static uint32_t secrets_of(const struct cbx_values *values)
{
    return cbx_py_flags(values) & (CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT);
}

const struct cbx_stored_lang cbx_py_stored = {
    .shape = shape_of, .literal = read_literal, .argument = argument_of, .secrets = secrets_of
};
