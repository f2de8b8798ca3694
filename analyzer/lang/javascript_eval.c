/* SPDX-License-Identifier: MIT
 * The JavaScript evaluator: what an expression may be. Bounded in depth and steps; whatever is
 * beyond is "anything". */
#include "analyzer/lang/javascript.h"

static const struct cbx_values nothing;

static const struct cbx_values *eval_identifier(struct cbx_walk *js, struct cbx_str name,
                                                struct cbx_scope *scope)
{
    for (struct cbx_scope *s = scope; s != NULL; s = s->parent) {
        const struct cbx_values *found = cbx_scope_lookup(js, s, name);
        if (found != NULL) {
            return found;
        }
    }
    return cbx_values_bare(js->arena, name);
}

static const struct cbx_values *read_name(struct cbx_walk *js, const struct cbx_value *object,
                                          struct cbx_str key)
{
    if (object->number == 1 && cbx_js_is_global_object(object->text)) {
        return cbx_values_bare(js->arena, key);
    }
    /* A default export is the module; methods of functions are handled where they are called. */
    if (cbx_str_is(key, "default") || cbx_str_is(key, "promises")) {
        return cbx_values_one(js->arena, object);
    }
    if (object->text.len + key.len > 512) {
        return cbx_values_one(js->arena, object); /* longer than any name that a policy knows */
    }
    struct cbx_str name = cbx_arena_printf(js->arena, "%.*s.%.*s", (int)object->text.len,
                                           object->text.p, (int)key.len, key.p);
    return name.p == NULL ? &cbx_values_unknown
                          : cbx_values_name(js->arena, cbx_js_canonical(name));
}

const struct cbx_values *cbx_js_read(struct cbx_walk *js, const struct cbx_values *object,
                                     struct cbx_str key)
{
    const struct cbx_values *out = &nothing;
    bool opaque = object->count == 0, maker = cbx_str_is(key, "constructor");
    if (cbx_str_is(key, "require")) { /* of whatever module it was reached through */
        out = cbx_values_name(js->arena, CBX_STR("require"));
    }
    for (uint32_t i = 0; i < object->count; i++) {
        const struct cbx_value *v = &object->items[i];
        if (v->kind == CBX_V_NAME) {
            out = cbx_values_join(js->arena, out, read_name(js, v, key));
        } else if (v->kind == CBX_V_FUNCTION && maker) {
            out = cbx_values_join(js->arena, out, cbx_values_name(js->arena, CBX_STR("Function")));
        } else if (maker && v->kind != CBX_V_UNKNOWN) {
            out = cbx_values_join(js->arena, out, cbx_values_name(js->arena, CBX_STR("Object")));
        } else if (v->kind == CBX_V_MAP || v->kind == CBX_V_LIST) {
            out = cbx_values_join(js->arena, out,
                                  cbx_values_member(js->arena, cbx_values_one(js->arena, v), key));
            opaque = true;
        } else {
            opaque = true;
        }
    }
    const struct cbx_values *fields = opaque ? cbx_scope_lookup(js, NULL, key) : NULL;
    out = fields != NULL ? cbx_values_join(js->arena, out, fields) : out;
    return out->count > 0 ? out : &cbx_values_unknown;
}

bool cbx_js_member(struct cbx_walk *js, TSNode node, struct cbx_scope *scope, struct cbx_str *out)
{
    if (cbx_js_kind(node) == JS_member_expression) {
        *out = cbx_js_name(js, cbx_node_field(node, CBX_FIELD_property));
        return true;
    }
    const struct cbx_values *key = cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_index), scope);
    int64_t number;
    if (cbx_values_is_number(key, &number)) {
        *out = cbx_arena_printf(js->arena, "%lld", (long long)number);
        return out->p != NULL;
    }
    return cbx_values_is_text(key, out);
}

/* --- constants -------------------------------------------------------------------------------- */

/* A string, or a template without or with constant substitutions; `raw` keeps backslashes
 * (String.raw). */
const struct cbx_values *cbx_js_eval_string(struct cbx_walk *js, TSNode node,
                                            struct cbx_scope *scope, bool raw)
{
    struct cbx_str out = CBX_STR("");
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && out.p != NULL;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        enum cbx_js_kind kind = cbx_js_kind(child);
        struct cbx_str part = cbx_walk_text(js, child);
        if (kind == JS_template_substitution) {
            part = (struct cbx_str){ 0 };
            const struct cbx_values *value = cbx_js_eval(js, ts_node_named_child(child, 0), scope);
            int64_t number;
            if (cbx_values_is_number(value, &number)) {
                part = value->items[0].text;
            } else if (!cbx_values_is_text(value, &part)) {
                out.p = NULL;
            }
        } else if (kind != JS_string_fragment && kind != JS_escape_sequence) {
            continue;
        } else if (!raw) {
            part = cbx_fold_unescape(js->arena, part, false);
        }
        out = out.p == NULL ? out : out.len == 0 ? part : cbx_fold_concat(js->arena, out, part);
    }
    ts_tree_cursor_delete(&cursor);
    return cbx_values_text(js->arena, out);
}

static const struct cbx_values *eval_number(struct cbx_walk *js, TSNode node)
{
    int64_t number;
    struct cbx_str text = cbx_walk_text(js, node);
    return cbx_fold_integer(text, &number) ? cbx_values_number(js->arena, text, number)
                                           : &cbx_values_unknown;
}

/* The text of a constant as string concatenation has it. */
bool cbx_js_to_text(const struct cbx_values *values, struct cbx_str *out)
{
    int64_t number;
    if (cbx_values_is_number(values, &number)) {
        *out = values->items[0].text;
        return true;
    }
    return cbx_values_is_text(values, out);
}

static const struct cbx_values *eval_binary(struct cbx_walk *js, TSNode node,
                                            struct cbx_scope *scope)
{
    struct cbx_str op = cbx_walk_text(js, cbx_node_field(node, CBX_FIELD_operator)), a, b;
    const struct cbx_values *left = cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_left), scope),
                            *right = cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_right), scope);
    if (cbx_str_is(op, "||") || cbx_str_is(op, "&&") || cbx_str_is(op, "??")) {
        return cbx_values_join(js->arena, left, right);
    }
    int64_t x, y, sum;
    if (cbx_values_is_number(left, &x) && cbx_values_is_number(right, &y)) {
        bool bad = op.len != 1 || (op.p[0] == '+'   ? __builtin_add_overflow(x, y, &sum)
                                   : op.p[0] == '-' ? __builtin_sub_overflow(x, y, &sum)
                                   : op.p[0] == '*' ? __builtin_mul_overflow(x, y, &sum)
                                   : op.p[0] == '^' ? (sum = x ^ y, false)
                                                    : true);
        return bad ? &cbx_values_unknown
                   : cbx_values_number(js->arena,
                                       cbx_arena_printf(js->arena, "%lld", (long long)sum), sum);
    }
    bool texts = cbx_str_is(op, "+") && cbx_js_to_text(left, &a) && cbx_js_to_text(right, &b);
    return texts ? cbx_values_text(js->arena, cbx_fold_concat(js->arena, a, b))
                 : &cbx_values_unknown;
}

static const struct cbx_values *eval_container(struct cbx_walk *js, TSNode node,
                                               struct cbx_scope *scope, bool map)
{
    uint32_t capacity = ts_node_named_child_count(node);
    const struct cbx_values **members =
        capacity <= CBX_MEMBERS_MAX ? cbx_arena_array(js->arena, capacity + 1u, sizeof(*members))
                                    : NULL;
    struct cbx_str *keys =
        map && members != NULL ? cbx_arena_array(js->arena, capacity + 1u, sizeof(*keys)) : NULL;
    struct cbx_value value = { .kind = map ? CBX_V_MAP : CBX_V_LIST,
                               .members = members,
                               .keys = keys };
    if (members == NULL || (map && keys == NULL)) {
        return &cbx_values_unknown;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        enum cbx_js_kind kind = cbx_js_kind(child);
        if (!ts_node_is_named(child) || kind == JS_comment || value.count == capacity) {
            continue;
        }
        if (map && kind == JS_pair) {
            TSNode key = cbx_node_field(child, CBX_FIELD_key);
            if (cbx_js_kind(key) == JS_property_identifier) {
                keys[value.count] = cbx_js_name(js, key);
            } else if (!cbx_js_to_text(cbx_js_eval(js,
                                                   cbx_js_kind(key) == JS_computed_property_name
                                                       ? ts_node_named_child(key, 0)
                                                       : key,
                                                   scope),
                                       &keys[value.count])) {
                keys[value.count] = CBX_STR("\xff");
            }
            members[value.count++] = cbx_js_eval(js, cbx_node_field(child, CBX_FIELD_value), scope);
        } else if (map && kind == JS_shorthand_property_identifier) {
            keys[value.count] = cbx_js_name(js, child);
            members[value.count++] = eval_identifier(js, cbx_js_name(js, child), scope);
        } else if (map && kind == JS_method_definition) {
            keys[value.count] = cbx_js_name(js, cbx_node_field(child, CBX_FIELD_name));
            members[value.count++] = cbx_values_one(
                js->arena, &(struct cbx_value){ .kind = CBX_V_FUNCTION,
                                                .node = child,
                                                .scope = cbx_scope_of(js, child, NULL) });
        } else if (map && kind == JS_spread_element) {
            value.number = 1; /* whatever that has, over what came before */
        } else if (!map) {
            members[value.count++] = cbx_js_eval(js, child, scope);
        }
    }
    ts_tree_cursor_delete(&cursor);
    return cbx_values_one(js->arena, &value);
}

/* --- expressions ------------------------------------------------------------------------------ */

static const struct cbx_values *eval_member(struct cbx_walk *js, TSNode node,
                                            struct cbx_scope *scope)
{
    const struct cbx_values *object =
        cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_object), scope);
    struct cbx_str key, text;
    int64_t index;
    if (!cbx_js_member(js, node, scope, &key)) {
        bool container = object->count == 1 && (object->items[0].kind == CBX_V_LIST ||
                                                object->items[0].kind == CBX_V_MAP);
        return container ? cbx_values_join(js->arena, cbx_values_members(js->arena, object),
                                           &cbx_values_unknown)
                         : &cbx_values_unknown;
    }
    if (cbx_values_is_text(object, &text) && cbx_js_kind(node) == JS_subscript_expression &&
        cbx_values_is_number(cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_index), scope),
                             &index)) {
        return index >= 0 && index < (int64_t)text.len
                   ? cbx_values_text(js->arena, cbx_str_sub(text, (size_t)index, (size_t)index + 1))
                   : &cbx_values_unknown;
    }
    return cbx_js_read(js, object, key);
}

static const struct cbx_values *eval_kind(struct cbx_walk *js, TSNode node, struct cbx_scope *scope)
{
    enum cbx_js_kind kind = cbx_js_kind(node);
    int64_t number;
    switch (kind) {
    case JS_identifier:
    case JS_shorthand_property_identifier:
        return eval_identifier(js, cbx_js_name(js, node), scope);
    case JS_member_expression:
    case JS_subscript_expression:
        return eval_member(js, node, scope);
    case JS_string:
    case JS_template_string:
        return cbx_js_eval_string(js, node, scope, false);
    case JS_number:
        return eval_number(js, node);
    case JS_true:
    case JS_false:
    case JS_null:
    case JS_undefined:
        return cbx_values_number(js->arena, cbx_walk_text(js, node), kind == JS_true);
    case JS_regex:
        return cbx_values_one(js->arena, &(struct cbx_value){ .kind = CBX_V_MAP });
    case JS_binary_expression:
        return eval_binary(js, node, scope);
    case JS_unary_expression:
        if (cbx_str_is(cbx_walk_text(js, cbx_node_field(node, CBX_FIELD_operator)), "-") &&
            cbx_values_is_number(cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_argument), scope),
                                 &number) &&
            number != INT64_MIN) {
            return cbx_values_number(js->arena, cbx_walk_text(js, node), -number);
        }
        return &cbx_values_unknown;
    case JS_object:
    case JS_array:
        return eval_container(js, node, scope, kind == JS_object);
    case JS_call_expression:
    case JS_new_expression:
        return cbx_js_eval_call(js, node, scope);
    case JS_parenthesized_expression:
    case JS_await_expression:
        return cbx_js_eval(js, ts_node_named_child(node, 0), scope);
    case JS_sequence_expression:
        return cbx_js_eval(js, ts_node_named_child(node, ts_node_named_child_count(node) - 1),
                           scope);
    case JS_ternary_expression:
        return cbx_values_join(js->arena,
                               cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_consequence), scope),
                               cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_alternative), scope));
    case JS_assignment_expression:
        return cbx_js_eval(js, cbx_node_field(node, CBX_FIELD_right), scope);
    case JS_class:
    case JS_class_declaration:
        return cbx_values_one(js->arena,
                              &(struct cbx_value){ .kind = CBX_V_FUNCTION, .node = node });
    case JS_import:
        return cbx_values_name(js->arena, CBX_STR("import"));
    default:
        if (cbx_js_is_function(kind)) {
            return cbx_values_one(js->arena,
                                  &(struct cbx_value){ .kind = CBX_V_FUNCTION,
                                                       .node = node,
                                                       .scope = cbx_scope_of(js, node, NULL) });
        }
        return &cbx_values_unknown;
    }
}

const struct cbx_values *cbx_js_eval(struct cbx_walk *js, TSNode node, struct cbx_scope *scope)
{
    return cbx_scope_eval(js, node, scope, eval_kind);
}
