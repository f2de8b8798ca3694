/* SPDX-License-Identifier: MIT
 * JavaScript's nodes for the notes of what objects hold (analyzer/lang/stored.h). */
#include "analyzer/lang/javascript/internal.h"
#include "analyzer/lang/stored.h"

static bool read_literal(struct cbx_walk *js, struct cbx_node *node, struct cbx_str *out)
{
    if (cbx_js_kind(node) != JS_string || cbx_child_count(node) > 1) {
        return false;
    }
    struct cbx_node *text = cbx_child_at(node, 0);
    *out = text != NULL ? cbx_js_name(js, text) : CBX_STR("");
    return true;
}

static struct cbx_shape shape_of(struct cbx_walk *js, struct cbx_node *node)
{
    struct cbx_shape shape = { .kind = CBX_SHAPE_OTHER };
    switch (cbx_js_kind(node)) {
    case JS_parenthesized_expression:
    case JS_await_expression:
        shape.kind = CBX_SHAPE_SAME;
        shape.object = cbx_child_at(node, 0);
        break;
    case JS_this:
        shape.kind = CBX_SHAPE_SELF;
        break;
    case JS_identifier:
        shape.kind = CBX_SHAPE_NAME;
        shape.name = cbx_js_name(js, node);
        break;
    case JS_member_expression:
        shape.kind = CBX_SHAPE_MEMBER;
        shape.object = cbx_child_of(node, CBX_FIELD_object);
        shape.name = cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property));
        break;
    case JS_subscript_expression:
        shape.kind = CBX_SHAPE_ITEM;
        shape.object = cbx_child_of(node, CBX_FIELD_object);
        read_literal(js, cbx_child_of(node, CBX_FIELD_index), &shape.name);
        break;
    case JS_call_expression:
        shape.kind = CBX_SHAPE_CALL;
        shape.object = cbx_child_of(node, CBX_FIELD_function);
        shape.arguments = cbx_child_of(node, CBX_FIELD_arguments);
        break;
    case JS_new_expression:
        shape.kind = CBX_SHAPE_CALL;
        shape.object = cbx_child_of(node, CBX_FIELD_constructor);
        shape.arguments = cbx_child_of(node, CBX_FIELD_arguments);
        break;
    case JS_assignment_expression:
    case JS_augmented_assignment_expression:
        shape.kind = CBX_SHAPE_ASSIGN;
        shape.object = cbx_child_of(node, CBX_FIELD_left);
        shape.value = cbx_child_of(node, CBX_FIELD_right);
        break;
    default:
        break;
    }
    return shape;
}

static struct cbx_node *argument_of(struct cbx_walk *js, struct cbx_node *argument,
                                    struct cbx_str *keyword)
{
    (void)js;
    (void)keyword;
    return cbx_js_kind(argument) == JS_spread_element ? cbx_child_at(argument, 0) : argument;
}

static uint32_t secrets_of(const struct cbx_values *values)
{
    return cbx_js_secrets(values, false);
}

const struct cbx_stored_lang cbx_js_stored = {
    .shape = shape_of, .literal = read_literal, .argument = argument_of, .secrets = secrets_of
};
