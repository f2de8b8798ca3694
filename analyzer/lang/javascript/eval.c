/* SPDX-License-Identifier: MIT
 * The JavaScript evaluator: the possible values of an expression. Bounded in depth and steps;
 * beyond a bound the value is "anything". */
#include "analyzer/lang/javascript/internal.h"

/* Returns the arguments of the function that Node wraps around a module: exports, require, module,
 * two texts; anything inside of another function. */
static const struct cbx_values *eval_arguments(struct cbx_walk *js, const struct cbx_scope *scope)
{
    static const char *const given[] = { "exports", "require", "module", "__filename",
                                         "__dirname" };
    const struct cbx_values **members = cbx_arena_array(js->arena, 5, sizeof(*members));
    const struct cbx_scope *s = scope;
    while (s != NULL && !(s->kind == CBX_SCOPE_FUNCTION && s->node != NULL &&
                          cbx_js_kind(s->node) != JS_arrow_function)) {
        s = s->parent;
    }
    for (uint32_t i = 0; members != NULL && i < 5; i++) {
        members[i] = cbx_values_bare(js->arena, cbx_str_of(given[i]));
    }
    return s != NULL ? &cbx_values_unknown : cbx_values_list(js->arena, members, 5);
}

static const struct cbx_values *eval_identifier(struct cbx_walk *js, struct cbx_str name,
                                                struct cbx_scope *scope)
{
    for (struct cbx_scope *s = scope; s != NULL; s = s->parent) {
        const struct cbx_values *found = cbx_scope_lookup(js, s, name);
        if (found != NULL) {
            return js->changes ? cbx_values_loose(js->arena, found) : found;
        }
    }
    if (cbx_str_is(name, "arguments")) {
        return eval_arguments(js, scope);
    }
    return cbx_str_is(name, "__dirname") ? cbx_values_likely(js->arena, CBX_STR("."))
                                         : cbx_values_bare(js->arena, name);
}

/* --- constants -------------------------------------------------------------------------------- */

/* Evaluates a string, or a template without or with constant substitutions; `raw` keeps
 * backslashes (String.raw). */
const struct cbx_values *cbx_js_eval_string(struct cbx_walk *js, struct cbx_node *node,
                                            struct cbx_scope *scope, bool raw)
{
    struct cbx_str out = CBX_STR("");
    uint32_t gaps = 0;
    for (struct cbx_node *child = node != NULL ? node->first : NULL; child != NULL && out.p != NULL;
         child = child->next) {
        enum cbx_js_kind kind = cbx_js_kind(child);
        struct cbx_str part = cbx_walk_text(js, child);
        if (kind == JS_template_substitution) {
            const struct cbx_values *value = cbx_js_eval(js, cbx_child_at(child, 0), scope);
            gaps |= cbx_js_secrets(value, false);
            part = cbx_js_piece(value, &gaps);
        } else if (kind != JS_string_fragment && kind != JS_escape_sequence) {
            continue;
        } else if (!raw) {
            part = cbx_fold_unescape(js->arena, part, false);
        }
        out = out.len == 0 ? part : cbx_fold_concat(js->arena, out, part);
    }
    return cbx_values_built(js->arena, out, gaps);
}

static const struct cbx_values *eval_number(struct cbx_walk *js, struct cbx_node *node)
{
    int64_t number;
    struct cbx_str text = cbx_walk_text(js, node);
    return cbx_fold_integer(text, &number) ? cbx_values_number(js->arena, text, number)
                                           : &cbx_values_unknown;
}

/* Reads the text that string concatenation makes of a constant. */
static bool to_text(const struct cbx_values *values, struct cbx_str *out)
{
    if (values->count == 1 && values->items[0]->kind == CBX_V_NUMBER) {
        *out = values->items[0]->text;
        return true;
    }
    return cbx_values_is_text(values, out);
}

static const struct cbx_values *eval_this(struct cbx_walk *js, const struct cbx_node *node)
{
    const struct cbx_node *n = node->parent;
    while (n != NULL && cbx_js_kind(n) != JS_function_declaration &&
           cbx_js_kind(n) != JS_function_expression && cbx_js_kind(n) != JS_method_definition &&
           cbx_js_kind(n) != JS_class_body) {
        n = n->parent;
    }
    bool plain = n == NULL || cbx_js_kind(n) == JS_function_declaration ||
                 cbx_js_kind(n) == JS_function_expression;
    const struct cbx_values *out =
        plain ? cbx_values_bare(js->arena, CBX_STR("this")) : &cbx_values_unknown;
    const struct cbx_values *given =
        n != NULL && n->inner != NULL ? cbx_scope_lookup(js, n->inner, CBX_STR("this")) : NULL;
    return given != NULL ? cbx_values_join(js->arena, out, given) : out;
}

static const struct cbx_values *eval_container(struct cbx_walk *js, struct cbx_node *node,
                                               struct cbx_scope *scope, bool map)
{
    uint32_t capacity = cbx_child_count(node);
    const struct cbx_values **members =
        capacity <= CBX_MEMBERS_MAX ? cbx_arena_array(js->arena, capacity + 1u, sizeof(*members))
                                    : NULL;
    struct cbx_str *keys =
        map && members != NULL ? cbx_arena_array(js->arena, capacity + 1u, sizeof(*keys)) : NULL;
    bool spread = false;
    struct cbx_value value = { .kind = map ? CBX_V_MAP : CBX_V_LIST,
                               .members = members,
                               .keys = keys };
    if (members == NULL || (map && keys == NULL)) {
        return &cbx_values_unknown;
    }
    for (struct cbx_node *child = node != NULL ? node->first : NULL; child != NULL;
         child = child->next) {
        enum cbx_js_kind kind = cbx_js_kind(child);
        if (!child->named || value.count == capacity) {
            continue;
        }
        if (map && kind == JS_pair) {
            struct cbx_node *key = cbx_child_of(child, CBX_FIELD_key);
            if (cbx_js_kind(key) == JS_property_identifier) {
                keys[value.count] = cbx_js_name(js, key);
            } else if (!to_text(cbx_js_eval(js,
                                            cbx_js_kind(key) == JS_computed_property_name
                                                ? cbx_child_at(key, 0)
                                                : key,
                                            scope),
                                &keys[value.count])) {
                keys[value.count] = CBX_STR("\xff");
            }
            members[value.count++] = cbx_js_eval(js, cbx_child_of(child, CBX_FIELD_value), scope);
        } else if (map && kind == JS_shorthand_property_identifier) {
            keys[value.count] = cbx_js_name(js, child);
            members[value.count++] = eval_identifier(js, cbx_js_name(js, child), scope);
        } else if (map && kind == JS_method_definition) {
            keys[value.count] = cbx_js_name(js, cbx_child_of(child, CBX_FIELD_name));
            members[value.count++] = cbx_values_one(
                js->arena, &(struct cbx_value){
                               .kind = CBX_V_FUNCTION, .node = child, .scope = child->inner });
        } else if (map && kind == JS_spread_element) {
            value.number = 1; /* members of the spread object override earlier ones */
            keys[value.count] = CBX_STR("\xff");
            members[value.count] = cbx_values_marked(
                js->arena, cbx_js_secrets(cbx_js_eval(js, cbx_child_at(child, 0), scope), false));
            value.count += cbx_values_flags(members[value.count]) != 0;
        } else if (map && kind == JS_property_identifier) {
            value.number = 1; /* a member of an enum without a value is a number */
        } else if (!map) {
            spread |= kind == JS_spread_element;
            members[value.count++] = cbx_js_eval(js, child, scope);
        }
    }
    if (spread) { /* the indexes of the array's members are unknown */
        return cbx_values_each(js->arena,
                               cbx_values_members(js->arena, cbx_values_one(js->arena, &value)));
    }
    return cbx_values_one(js->arena, &value);
}

/* --- expressions ------------------------------------------------------------------------------ */

/* Returns the values of x in `with (o) { x }`: x may be a member of o. */
static const struct cbx_values *eval_within(struct cbx_walk *js, const struct cbx_node *name,
                                            struct cbx_str text, const struct cbx_values *out)
{
    for (const struct cbx_node *n = name; js->withs && n->parent != NULL; n = n->parent) {
        struct cbx_node *object = cbx_child_of(n->parent, CBX_FIELD_object);
        if (cbx_js_kind(n->parent) == JS_with_statement && n->field == CBX_FIELD_body) {
            const struct cbx_values *values = cbx_js_eval(js, object, cbx_scope_around(js, object));
            out = cbx_values_join(js->arena, out, cbx_js_read(js, values, text));
        }
    }
    return out;
}

static const struct cbx_values *eval_kind(struct cbx_walk *js, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    enum cbx_js_kind kind = cbx_js_kind(node);
    int64_t number;
    switch (kind) {
    case JS_identifier:
    case JS_shorthand_property_identifier:
        return eval_within(js, node, cbx_js_name(js, node),
                           eval_identifier(js, cbx_js_name(js, node), scope));
    case JS_member_expression:
    case JS_subscript_expression:
        return cbx_js_eval_member(js, node, scope);
    case JS_string:
    case JS_template_string:
        return cbx_js_eval_string(js, node, scope, false);
    case JS_number:
        return eval_number(js, node);
    case JS_true:
    case JS_false:
    case JS_null:
    case JS_undefined:
        return cbx_values_constant(js->arena, cbx_walk_text(js, node));
    case JS_this:
        return eval_this(js, node);
    case JS_augmented_assignment_expression:
        return cbx_js_eval_augmented(js, node, scope);
    case JS_spread_element:
        return cbx_values_members(js->arena, cbx_js_eval(js, cbx_child_at(node, 0), scope));
    case JS_regex:
        return cbx_values_one(js->arena, &(struct cbx_value){ .kind = CBX_V_MAP });
    case JS_binary_expression:
        return cbx_js_eval_binary(js, node, scope);
    case JS_unary_expression:
        if (cbx_str_is(cbx_walk_text(js, cbx_child_of(node, CBX_FIELD_operator)), "-") &&
            cbx_values_is_number(cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_argument), scope),
                                 &number) &&
            number != INT64_MIN) {
            return cbx_values_number(js->arena, cbx_walk_text(js, node), -number);
        }
        return &cbx_values_unknown;
    case JS_object:
    case JS_array:
    case JS_arguments:
        return eval_container(js, node, scope, kind == JS_object);
    case JS_call_expression:
    case JS_new_expression:
        return cbx_js_eval_call(js, node, scope);
    case JS_parenthesized_expression:
    case JS_await_expression:
        return cbx_js_eval(js, cbx_child_at(node, 0), scope);
    case JS_sequence_expression:
        return cbx_js_eval(js, cbx_last_child(node), scope);
    case JS_ternary_expression:
        return cbx_values_join(js->arena,
                               cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_consequence), scope),
                               cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_alternative), scope));
    case JS_assignment_expression:
        return cbx_js_eval(js, cbx_child_of(node, CBX_FIELD_right), scope);
    case JS_class:
    case JS_class_declaration:
        return cbx_values_one(js->arena,
                              &(struct cbx_value){ .kind = CBX_V_FUNCTION, .node = node });
    case JS_yield_expression:
        return &cbx_values_unknown;
    case JS_import:
        return cbx_values_name(js->arena, CBX_STR("import"));
    default:
        if (cbx_js_is_function(kind)) {
            return cbx_values_one(
                js->arena,
                &(struct cbx_value){ .kind = CBX_V_FUNCTION, .node = node, .scope = node->inner });
        }
        return &cbx_values_unknown;
    }
}

const struct cbx_values *cbx_js_eval(struct cbx_walk *js, struct cbx_node *node,
                                     struct cbx_scope *scope)
{
    return cbx_scope_eval(js, node, scope, eval_kind);
}
