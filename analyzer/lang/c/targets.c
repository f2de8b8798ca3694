/* SPDX-License-Identifier: MIT
 * Values in C that may be called, and may be something other than a function: casts to pointers to
 * functions, their values, and their addresses. */
#include "analyzer/lang/c/names.h"

/* Returns true if the value may be the address of something other than a function. A name that
 * the source does not declare is a library function, which has its own fact, or a constant such
 * as SIG_IGN. */
static bool is_doubtful_target(const struct cbx_c_walk *c, struct cbx_node *node, int depth)
{
    node = cbx_c_strip(node);
    struct cbx_node *inner = cbx_child_of(node, CBX_FIELD_argument);
    const struct cbx_c_name *name;
    struct cbx_str text = cbx_c_text(c, node);
    switch (cbx_c_kind(node)) {
    case CN_OTHER:
    case CN_null:
    case CN_call_expression: /* the expressions that the function returns were checked */
    case CN_assignment_expression:
        return false;
    case CN_identifier:
        name = cbx_c_name_find(c, node);
        return name != NULL && name->what == CBX_C_OBJECT;
    case CN_number_literal:
        return !cbx_str_is(text, "0");
    case CN_pointer_expression: /* &f, *f */
        return depth < 8 && is_doubtful_target(c, inner, depth + 1);
    case CN_conditional_expression:
        return depth < 8 &&
               (is_doubtful_target(c, cbx_child_of(node, CBX_FIELD_consequence), depth + 1) ||
                is_doubtful_target(c, cbx_child_of(node, CBX_FIELD_alternative), depth + 1));
    case CN_comma_expression:
        return depth < 8 && is_doubtful_target(c, cbx_child_of(node, CBX_FIELD_right), depth + 1);
    case CN_field_expression:
    case CN_subscript_expression:
    case CN_initializer_list:
        return false;
    case CN_compound_literal_expression: /* (void *[]){ address } */
        inner = cbx_child_of(node, CBX_FIELD_value);
        for (inner = inner != NULL ? inner->first : NULL; inner != NULL && depth < 8;
             inner = inner->next) {
            if (inner->named && is_doubtful_target(c, inner, depth + 1)) {
                return true;
            }
        }
        return false;
    default:
        return true;
    }
}

bool cbx_c_is_doubtful_target(const struct cbx_c_walk *c, struct cbx_node *node)
{
    return is_doubtful_target(c, node, 0);
}

void cbx_c_check_cast(struct cbx_c_walk *c, struct cbx_node *cast)
{
    struct cbx_node *value = cbx_c_strip(cbx_child_of(cast, CBX_FIELD_value));
    enum cbx_c_node_kind kind = cbx_c_kind(value);
    if (!cbx_c_is_callable_type(c, cbx_child_of(cast, CBX_FIELD_type))) {
        return;
    }
    bool member =
        (kind == CN_field_expression &&
         !cbx_c_is_function_field(c, cbx_c_text(c, cbx_child_of(value, CBX_FIELD_field)))) ||
        kind == CN_subscript_expression;
    if (member || is_doubtful_target(c, value, 0)) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_c_text(c, value), 0, 40),
                          cast);
    }
}

/* Returns true for a member that holds a pointer to a function, of a structure of this source or of
 * the library. */
static bool holds_function(const struct cbx_c_walk *c, struct cbx_str field)
{
    static const char *const library[] = { "sa_handler", "sa_sigaction", "sigev_notify_function" };
    for (size_t i = 0; i < sizeof(library) / sizeof(library[0]); i++) {
        if (cbx_str_is(field, library[i])) {
            return true;
        }
    }
    return cbx_c_is_function_field(c, field);
}

/* Adds a fact if a value that is converted to a pointer to a function without a cast to such a type
 * may be the address of something else; a list: if one of its members may be. */
static void check_converted(struct cbx_c_walk *c, struct cbx_node *value)
{
    bool list = cbx_c_kind(value) == CN_initializer_list,
         cast = cbx_c_kind(value) == CN_cast_expression &&
                cbx_c_is_callable_type(c, cbx_child_of(value, CBX_FIELD_type)); /* check_cast */
    for (struct cbx_node *child = list ? value->first : NULL; child != NULL; child = child->next) {
        if (child->named && cbx_c_kind(child) == CN_cast_expression) {
            check_converted(c, child);
        }
    }
    if (!cast && !list && is_doubtful_target(c, value, 0)) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_c_text(c, value), 0, 40),
                          value);
    }
}

/* Returns the member that *(void **)&s.handler writes; else the node. */
static struct cbx_node *written_member(const struct cbx_c_walk *c, struct cbx_node *left)
{
    struct cbx_node *address = cbx_c_kind(left) == CN_pointer_expression
                                   ? cbx_c_strip(cbx_child_of(left, CBX_FIELD_argument))
                                   : NULL;
    struct cbx_node *member = cbx_c_kind(address) == CN_pointer_expression &&
                                      cbx_str_starts(cbx_c_text(c, address), CBX_STR("&"))
                                  ? cbx_c_strip(cbx_child_of(address, CBX_FIELD_argument))
                                  : NULL;
    return cbx_c_kind(member) == CN_field_expression ? member : left;
}

/* Checks { .handler = value }. */
void cbx_c_check_member(struct cbx_c_walk *c, struct cbx_node *pair)
{
    const struct cbx_node *name = cbx_child_at(cbx_child_at(pair, 0), 0);
    struct cbx_node *value = cbx_child_of(pair, CBX_FIELD_value);
    if (cbx_c_kind(name) == CN_field_identifier && value != NULL &&
        holds_function(c, cbx_c_text(c, name))) {
        check_converted(c, value);
    }
}

/* Checks `return value;` of a function whose result is a pointer to a function. */
void cbx_c_check_returned(struct cbx_c_walk *c, struct cbx_node *node)
{
    const struct cbx_node *function = node->parent;
    struct cbx_node *value = cbx_child_at(node, 0);
    while (function != NULL && cbx_c_kind(function) != CN_function_definition) {
        function = function->parent;
    }
    const struct cbx_node *declarator = cbx_child_of(function, CBX_FIELD_declarator);
    if (value != NULL && cbx_c_kind(declarator) == CN_function_declarator &&
        cbx_c_is_callable_type(c, function)) {
        check_converted(c, value);
    }
}

void cbx_c_check_assigned(struct cbx_c_walk *c, struct cbx_node *node)
{
    bool begins = cbx_c_kind(node) == CN_init_declarator;
    struct cbx_node *left = cbx_child_of(node, begins ? CBX_FIELD_declarator : CBX_FIELD_left),
                    *value = cbx_child_of(node, begins ? CBX_FIELD_value : CBX_FIELD_right);
    enum cbx_c_what what = CBX_C_OBJECT;
    struct cbx_node *declared = begins && left != NULL ? cbx_c_declared(left, &what) : left;
    cbx_c_check_record_value(c, left, value);
    left = written_member(c, left);
    bool pointer = what == CBX_C_POINTER;
    if (cbx_c_kind(declared) == CN_identifier) {
        const struct cbx_c_name *name = cbx_c_name_find(c, declared);
        pointer |= name != NULL && name->what == CBX_C_POINTER;
    } else if (cbx_c_kind(left) == CN_field_expression) {
        pointer = holds_function(c, cbx_c_text(c, cbx_child_of(left, CBX_FIELD_field)));
    }
    if (pointer) {
        check_converted(c, value);
    }
}

void cbx_c_check_address(struct cbx_c_walk *c, struct cbx_node *node)
{
    const struct cbx_node *token = node->first;
    const struct cbx_node *inner = cbx_c_strip(cbx_child_of(node, CBX_FIELD_argument));
    bool address = token != NULL && cbx_str_is(cbx_c_text(c, token), "&");
    const struct cbx_c_name *name =
        address && cbx_c_kind(inner) == CN_identifier ? cbx_c_name_find(c, inner) : NULL;
    const struct cbx_node *up = node->parent;
    while (cbx_c_kind(up) == CN_parenthesized_expression) {
        up = up->parent;
    }
    bool away = cbx_c_kind(up) == CN_cast_expression || cbx_c_kind(up) == CN_argument_list;
    if (name != NULL && name->what == CBX_C_POINTER && away) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_c_text(c, inner), node);
    }
}
