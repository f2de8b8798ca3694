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

/* Returns true for a || b, a && b, a ?? b. */
static bool selects(struct cbx_walk *js, const struct cbx_node *node)
{
    struct cbx_str operator= cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator));
    return cbx_str_is(operator, "||") || cbx_str_is(operator, "&&") || cbx_str_is(operator, "??");
}

/* The shapes of kinds that need no more than the node. */
static const struct {
    enum cbx_js_kind kind;
    int shape;
} plain_shapes[] = {
    { JS_parenthesized_expression, CBX_SHAPE_SAME },
    { JS_await_expression, CBX_SHAPE_SAME },
    { JS_ternary_expression, CBX_SHAPE_CHOICE },
    { JS_array, CBX_SHAPE_PARTS },
    { JS_object, CBX_SHAPE_PARTS },
    { JS_this, CBX_SHAPE_SELF },
};

static struct cbx_shape plain_shape(const struct cbx_node *node)
{
    struct cbx_shape shape = { .kind = CBX_SHAPE_OTHER };
    for (size_t i = 0; i < sizeof(plain_shapes) / sizeof(plain_shapes[0]); i++) {
        if (node != NULL && cbx_js_kind(node) == plain_shapes[i].kind) {
            shape.kind = plain_shapes[i].shape;
        }
    }
    shape.object = shape.kind == CBX_SHAPE_SAME ? cbx_child_at(node, 0) : NULL;
    return shape;
}

static struct cbx_shape shape_of(struct cbx_walk *js, struct cbx_node *node)
{
    struct cbx_shape shape = { .kind = CBX_SHAPE_OTHER };
    switch (cbx_js_kind(node)) {
    case JS_binary_expression:
        shape.kind = selects(js, node) ? CBX_SHAPE_CHOICE : CBX_SHAPE_OTHER;
        return shape;
    case JS_field_definition:
        shape.kind = CBX_SHAPE_FIELD;
        shape.name = cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property));
        shape.value = cbx_child_of(node, CBX_FIELD_value);
        return shape;
    case JS_shorthand_property_identifier:
    case JS_identifier:
        shape.kind = CBX_SHAPE_NAME;
        shape.name = cbx_js_name(js, node);
        return shape;
    case JS_member_expression:
        shape.kind = CBX_SHAPE_MEMBER;
        shape.object = cbx_child_of(node, CBX_FIELD_object);
        shape.name = cbx_js_name(js, cbx_child_of(node, CBX_FIELD_property));
        return shape;
    case JS_subscript_expression:
        shape.kind = CBX_SHAPE_ITEM;
        shape.object = cbx_child_of(node, CBX_FIELD_object);
        read_literal(js, cbx_child_of(node, CBX_FIELD_index), &shape.name);
        return shape;
    case JS_call_expression:
    case JS_new_expression:
        shape.kind = CBX_SHAPE_CALL;
        shape.object =
            cbx_child_of(node, cbx_js_kind(node) == JS_new_expression ? CBX_FIELD_constructor
                                                                      : CBX_FIELD_function);
        shape.arguments = cbx_child_of(node, CBX_FIELD_arguments);
        return shape;
    case JS_assignment_expression:
    case JS_augmented_assignment_expression:
        shape.kind = CBX_SHAPE_ASSIGN;
        shape.adds = cbx_js_kind(node) == JS_augmented_assignment_expression;
        shape.object = cbx_child_of(node, CBX_FIELD_left);
        shape.value = cbx_child_of(node, CBX_FIELD_right);
        return shape;
    default:
        return plain_shape(node);
    }
}

static struct cbx_node *argument_of(struct cbx_walk *js, struct cbx_node *argument,
                                    struct cbx_str *keyword)
{
    struct cbx_node *key = cbx_child_of(argument, CBX_FIELD_key);
    if (argument->field == CBX_FIELD_condition) {
        return NULL;
    }
    switch (cbx_js_kind(argument)) {
    case JS_spread_element:
        return cbx_child_at(argument, 0);
    case JS_shorthand_property_identifier:
        *keyword = cbx_js_name(js, argument);
        return argument;
    case JS_pair:
        if (cbx_js_kind(key) == JS_property_identifier) {
            *keyword = cbx_js_name(js, key);
        } else {
            read_literal(js, key, keyword);
        }
        return cbx_child_of(argument, CBX_FIELD_value);
    default:
        return argument;
    }
}

static uint32_t secrets_of(struct cbx_walk *js, const struct cbx_values *values)
{
    return cbx_js_secrets(js, values, false);
}

static struct cbx_node *maker_of(const struct cbx_node *node)
{
    for (const struct cbx_node *n = node; n != NULL; n = n->parent) {
        enum cbx_js_kind kind = cbx_js_kind(n), outer = cbx_js_kind(n->parent);
        bool method = kind == JS_method_definition && outer == JS_object;
        bool function = kind == JS_function_expression || kind == JS_function_declaration;
        const struct cbx_node *made = method                         ? n->parent
                                      : function && outer == JS_pair ? n->parent->parent
                                                                     : n;
        if (method || function || kind == JS_class || kind == JS_class_declaration) {
            return (struct cbx_node *)(uintptr_t)made;
        }
    }
    return NULL;
}

static const struct cbx_values *bases_of(struct cbx_walk *js, const struct cbx_node *class)
{
    struct cbx_node *base = NULL;
    for (struct cbx_node *child = class->first; child != NULL; child = child->next) {
        base = cbx_js_kind(child) == JS_class_heritage ? cbx_child_at(child, 0) : base;
    }
    base = cbx_js_kind(base) == JS_extends_clause ? cbx_child_at(base, 0) : base;
    return cbx_js_kind(base) == JS_identifier ? cbx_js_eval(js, base, cbx_scope_around(js, base))
                                              : &cbx_values_nothing;
}

const struct cbx_stored_lang cbx_js_stored = { .shape = shape_of,
                                               .literal = read_literal,
                                               .argument = argument_of,
                                               .secrets = secrets_of,
                                               .maker = maker_of,
                                               .bases = bases_of };
