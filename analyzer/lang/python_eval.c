/* SPDX-License-Identifier: MIT
 * The Python evaluator: what an expression may be. Bounded in depth and steps; whatever is beyond
 * is "anything". */
#include "analyzer/lang/python.h"

static const struct cbx_values nothing;

static const struct cbx_values *eval_identifier(struct cbx_walk *py, struct cbx_str raw,
                                                struct cbx_scope *scope)
{
    struct cbx_str name = cbx_fold_nfkc(py->arena, raw);
    bool first = true;
    for (struct cbx_scope *s = scope; s != NULL; s = s->parent, first = false) {
        if (s->kind == CBX_SCOPE_CLASS && !first) {
            continue;
        }
        const struct cbx_values *found = cbx_scope_lookup(py, s, name);
        if (found != NULL) {
            return found;
        }
    }
    struct cbx_value bare = { .kind = CBX_V_NAME, .text = cbx_py_canonical(py, name), .number = 1 };
    const struct cbx_values *out = cbx_values_one(py->arena, &bare);
    for (size_t i = 0; i < py->stars.count && i < 4; i++) {
        struct cbx_value module = { .kind = CBX_V_NAME, .text = py->stars.items[i] };
        out = cbx_values_join(py->arena, out,
                              cbx_values_name(py->arena, cbx_py_qualify(py, &module, name)));
    }
    return out;
}

/* --- attributes and subscripts ---------------------------------------------------------------- */

const struct cbx_values *cbx_py_read(struct cbx_walk *py, const struct cbx_values *object,
                                     struct cbx_str attribute)
{
    const struct cbx_values *out = &nothing;
    bool opaque = false;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct cbx_value *v = &object->items[i];
        if (v->kind == CBX_V_NAME) {
            out = cbx_values_join(py->arena, out,
                                  cbx_values_name(py->arena, cbx_py_qualify(py, v, attribute)));
        } else {
            opaque = true;
        }
    }
    if (opaque || object->count == 0) {
        const struct cbx_values *fields = cbx_scope_lookup(py, NULL, attribute);
        out = cbx_values_join(py->arena, out, fields != NULL ? fields : &cbx_values_unknown);
    }
    return out;
}

static const struct cbx_values *read_namespace(struct cbx_walk *py, const struct cbx_value *space,
                                               struct cbx_str key, struct cbx_scope *scope)
{
    if (cbx_str_is(space->text, "sys.modules")) {
        return cbx_values_name(py->arena, cbx_py_canonical(py, key));
    }
    if (cbx_str_is(space->text, "globals()") || cbx_str_is(space->text, "locals()")) {
        return eval_identifier(py, key, cbx_str_is(space->text, "globals()") ? py->module : scope);
    }
    if (cbx_str_is(space->text, "__builtins__") || cbx_str_is(space->text, "builtins")) {
        return cbx_values_bare(py->arena, key);
    }
    struct cbx_str dict = CBX_STR(".__dict__");
    if (cbx_str_ends(space->text, dict)) {
        struct cbx_value module = { .kind = CBX_V_NAME,
                                    .text =
                                        cbx_str_sub(space->text, 0, space->text.len - dict.len) };
        return cbx_values_name(py->arena, cbx_py_qualify(py, &module, key));
    }
    return &cbx_values_unknown;
}

static bool slice_bounds(struct cbx_walk *py, TSNode slice, struct cbx_scope *scope, int64_t len,
                         int64_t *from, int64_t *to, int64_t *step)
{
    *step = 1;
    int64_t part[3] = { INT64_MIN, INT64_MIN, 1 };
    int at = 0;
    for (uint32_t i = 0, n = ts_node_child_count(slice); i < n && i < 8; i++) {
        TSNode child = ts_node_child(slice, i);
        if (!ts_node_is_named(child)) {
            at++;
        } else if (at > 2 || !cbx_values_is_number(cbx_py_eval(py, child, scope), &part[at])) {
            return false;
        }
    }
    *step = part[2];
    if (*step == 0) {
        return false;
    }
    int64_t low = *step > 0 ? 0 : -1, high = *step > 0 ? len : len - 1;
    *from = part[0] == INT64_MIN ? (*step > 0 ? 0 : len - 1)
            : part[0] < 0        ? part[0] + len
                                 : part[0];
    *to = part[1] == INT64_MIN ? (*step > 0 ? len : -1) : part[1] < 0 ? part[1] + len : part[1];
    *from = *from < low ? low : *from > high ? high : *from;
    *to = *to < low ? low : *to > (*step > 0 ? len : len - 1) ? (*step > 0 ? len : len - 1) : *to;
    return true;
}

static const struct cbx_values *slice_text(struct cbx_walk *py, struct cbx_str text, TSNode slice,
                                           struct cbx_scope *scope)
{
    int64_t from, to, step;
    if (text.len > CBX_FOLD_MAX_BYTES || !cbx_str_is_ascii(text) ||
        !slice_bounds(py, slice, scope, (int64_t)text.len, &from, &to, &step)) {
        return &cbx_values_unknown;
    }
    char *p = cbx_arena_alloc(py->arena, text.len + 1);
    size_t n = 0;
    for (int64_t i = from;
         p != NULL && (step > 0 ? i < to : i > to) && i >= 0 && i < (int64_t)text.len; i += step) {
        p[n++] = text.p[i];
    }
    return cbx_values_text(py->arena, (struct cbx_str){ .p = p, .len = n });
}

static const struct cbx_values *index_text(struct cbx_walk *py, struct cbx_str text, int64_t index)
{
    index += index < 0 ? (int64_t)text.len : 0;
    return index >= 0 && index < (int64_t)text.len && cbx_str_is_ascii(text)
               ? cbx_values_text(py->arena, cbx_str_sub(text, (size_t)index, (size_t)index + 1))
               : &cbx_values_unknown;
}

static const struct cbx_values *eval_subscript(struct cbx_walk *py, TSNode node,
                                               struct cbx_scope *scope)
{
    const struct cbx_values *object = cbx_py_eval(py, cbx_node_field(node, CBX_FIELD_value), scope);
    TSNode key = cbx_node_field(node, CBX_FIELD_subscript);
    struct cbx_str text;
    if (cbx_py_kind(key) == PY_slice) {
        return cbx_values_is_text(object, &text) ? slice_text(py, text, key, scope) : object;
    }
    const struct cbx_values *index = cbx_py_eval(py, key, scope);
    int64_t number;
    bool is_number = cbx_values_is_number(index, &number),
         is_text = cbx_values_is_text(index, &text);
    struct cbx_str object_text;
    if (is_number && cbx_values_is_text(object, &object_text)) {
        return index_text(py, object_text, number);
    }
    const struct cbx_values *out = &nothing;
    bool opaque = object->count == 0;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct cbx_value *v = &object->items[i];
        opaque |= v->kind != CBX_V_NAME;
        if (v->kind == CBX_V_NAME && is_text) {
            out = cbx_values_join(py->arena, out, read_namespace(py, v, text, scope));
        } else if ((v->kind == CBX_V_LIST || v->kind == CBX_V_MAP) && (is_number || is_text)) {
            struct cbx_str k =
                is_text ? text : cbx_arena_printf(py->arena, "%lld", (long long)number);
            out = cbx_values_join(py->arena, out,
                                  cbx_values_member(py->arena, cbx_values_one(py->arena, v), k));
        } else if (v->kind == CBX_V_LIST || v->kind == CBX_V_MAP) {
            out = cbx_values_join(py->arena, out,
                                  cbx_values_members(py->arena, cbx_values_one(py->arena, v)));
            out = cbx_values_join(py->arena, out, &cbx_values_unknown);
        }
    }
    const struct cbx_values *items = opaque && is_text ? cbx_scope_lookup(py, NULL, text) : NULL;
    out = items != NULL ? cbx_values_join(py->arena, out, items) : out;
    return out->count > 0 ? out : &cbx_values_unknown;
}

/* --- constants -------------------------------------------------------------------------------- */

static const struct cbx_values *eval_string(struct cbx_walk *py, TSNode node,
                                            struct cbx_scope *scope)
{
    struct cbx_str out = CBX_STR("");
    bool raw = false;
    for (uint32_t i = 0, n = ts_node_child_count(node); i < n; i++) {
        TSNode child = ts_node_child(node, i);
        struct cbx_str part = cbx_walk_text(py, child);
        switch (cbx_py_kind(child)) {
        case PY_string_start:
            raw = memchr(part.p, 'r', part.len) != NULL || memchr(part.p, 'R', part.len) != NULL;
            continue;
        case PY_string_content:
            part = raw ? part : cbx_fold_unescape(py->arena, part, true);
            break;
        case PY_interpolation:
            if (ts_node_named_child_count(child) != 1 ||
                !cbx_values_is_text(cbx_py_eval(py, ts_node_named_child(child, 0), scope), &part)) {
                return &cbx_values_unknown;
            }
            break;
        default:
            continue;
        }
        out = out.len == 0 ? part : cbx_fold_concat(py->arena, out, part);
        if (out.p == NULL) {
            return &cbx_values_unknown;
        }
    }
    return cbx_values_text(py->arena, out);
}

static const struct cbx_values *concat_children(struct cbx_walk *py, TSNode node,
                                                struct cbx_scope *scope)
{
    struct cbx_str out = CBX_STR(""), part;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    const struct cbx_values *result = NULL;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && result == NULL;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_py_kind(child) != PY_string) {
            continue;
        }
        if (!cbx_values_is_text(cbx_py_eval(py, child, scope), &part) ||
            (out = cbx_fold_concat(py->arena, out, part)).p == NULL) {
            result = &cbx_values_unknown;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return result != NULL ? result : cbx_values_text(py->arena, out);
}

static const struct cbx_values *eval_number(struct cbx_walk *py, TSNode node)
{
    int64_t number;
    struct cbx_str text = cbx_walk_text(py, node);
    return cbx_fold_integer(text, &number) ? cbx_values_number(py->arena, text, number)
                                           : &cbx_values_unknown;
}

/* '%s%s' % ('a', 'b') with %s alone. */
static const struct cbx_values *format_percent(struct cbx_walk *py, struct cbx_str format,
                                               const struct cbx_values *right)
{
    struct cbx_str out = CBX_STR(""), part;
    uint32_t used = 0;
    for (size_t at = 0; at < format.len;) {
        const char *percent = memchr(format.p + at, '%', format.len - at);
        size_t end = percent != NULL ? (size_t)(percent - format.p) : format.len;
        out = cbx_fold_concat(py->arena, out, cbx_str_sub(format, at, end));
        if (percent == NULL) {
            break;
        }
        bool list = right->count == 1 && right->items[0].kind == CBX_V_LIST;
        const struct cbx_values *argument =
            list ? (used < right->items[0].count ? right->items[0].members[used]
                                                 : &cbx_values_unknown)
                 : right;
        if (end + 1 >= format.len || format.p[end + 1] != 's' ||
            !cbx_values_is_text(argument, &part)) {
            return &cbx_values_unknown;
        }
        used++;
        out = cbx_fold_concat(py->arena, out, part);
        at = end + 2;
    }
    return cbx_values_text(py->arena, out);
}

static const struct cbx_values *repeat_text(struct cbx_walk *py, struct cbx_str text, int64_t times)
{
    struct cbx_str out = CBX_STR("");
    for (int64_t i = 0; i < times && i < 4096 && out.p != NULL; i++) {
        out = cbx_fold_concat(py->arena, out, text);
    }
    return times < 4096 ? cbx_values_text(py->arena, out) : &cbx_values_unknown;
}

static const struct cbx_values *eval_arithmetic(struct cbx_walk *py, char op, int64_t a, int64_t b)
{
    int64_t out = 0;
    bool bad = op == '+'   ? __builtin_add_overflow(a, b, &out)
               : op == '-' ? __builtin_sub_overflow(a, b, &out)
               : op == '*' ? __builtin_mul_overflow(a, b, &out)
               : op == '^' ? (out = a ^ b, false)
               : op == '|' ? (out = a | b, false)
               : op == '&' ? (out = a & b, false)
                           : true;
    return bad ? &cbx_values_unknown
               : cbx_values_number(py->arena, cbx_arena_printf(py->arena, "%lld", (long long)out),
                                   out);
}

static const struct cbx_values *eval_binary(struct cbx_walk *py, TSNode node,
                                            struct cbx_scope *scope)
{
    struct cbx_str op = cbx_walk_text(py, cbx_node_field(node, CBX_FIELD_operator));
    const struct cbx_values *left = cbx_py_eval(py, cbx_node_field(node, CBX_FIELD_left), scope);
    const struct cbx_values *right = cbx_py_eval(py, cbx_node_field(node, CBX_FIELD_right), scope);
    struct cbx_str a, b;
    int64_t x, y;
    bool left_text = cbx_values_is_text(left, &a), right_text = cbx_values_is_text(right, &b);
    if (op.len == 1 && cbx_values_is_number(left, &x) && cbx_values_is_number(right, &y)) {
        return eval_arithmetic(py, op.p[0], x, y);
    }
    if (cbx_str_is(op, "+") && left_text && right_text) {
        return cbx_values_text(py->arena, cbx_fold_concat(py->arena, a, b));
    }
    if (cbx_str_is(op, "*") && left_text && cbx_values_is_number(right, &y)) {
        return repeat_text(py, a, y);
    }
    if (cbx_str_is(op, "%") && left_text) {
        return format_percent(py, a, right);
    }
    if (cbx_str_is(op, "+") && left->count == 1 && right->count == 1 &&
        left->items[0].kind == CBX_V_LIST && right->items[0].kind == CBX_V_LIST) {
        return cbx_values_join(py->arena, left, right);
    }
    return &cbx_values_unknown;
}

static const struct cbx_values *eval_container(struct cbx_walk *py, TSNode node,
                                               struct cbx_scope *scope, bool map)
{
    uint32_t capacity = ts_node_named_child_count(node);
    if (capacity > CBX_MEMBERS_MAX) {
        return &cbx_values_unknown;
    }
    const struct cbx_values **members = cbx_arena_array(py->arena, capacity + 1u, sizeof(*members));
    struct cbx_str *keys = map ? cbx_arena_array(py->arena, capacity + 1u, sizeof(*keys)) : NULL;
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
        if (!ts_node_is_named(child) || cbx_py_kind(child) == PY_comment ||
            value.count == capacity) {
            continue;
        }
        if (map && cbx_py_kind(child) == PY_pair) {
            int64_t number;
            const struct cbx_values *key =
                cbx_py_eval(py, cbx_node_field(child, CBX_FIELD_key), scope);
            if (cbx_values_is_number(key, &number)) {
                keys[value.count] = cbx_arena_printf(py->arena, "%lld", (long long)number);
            } else if (!cbx_values_is_text(key, &keys[value.count])) {
                keys[value.count] = CBX_STR("\xff");
            }
            members[value.count++] = cbx_py_eval(py, cbx_node_field(child, CBX_FIELD_value), scope);
        } else if (!map) {
            members[value.count++] = cbx_py_eval(py, child, scope);
        } else { /* **more: it may hold any key again */
            ts_tree_cursor_delete(&cursor);
            return &cbx_values_unknown;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return cbx_values_one(py->arena, &value);
}

/* --- expressions ------------------------------------------------------------------------------ */

static const struct cbx_values *eval_comprehension(struct cbx_walk *py, TSNode node,
                                                   struct cbx_scope *scope)
{
    struct cbx_scope *inner = cbx_scope_of(py, node, scope);
    TSNode body = cbx_node_field(node, CBX_FIELD_body), clause = ts_node_named_child(node, 1);
    const struct cbx_values *source =
        cbx_py_kind(clause) == PY_for_in_clause
            ? cbx_py_eval(py, cbx_node_field(clause, CBX_FIELD_right), inner)
            : &cbx_values_unknown;
    /* [chr(c) for c in [111, 115]] member by member, when the body is chr(x) or x. */
    struct cbx_str callee = cbx_py_kind(body) == PY_call
                                ? cbx_walk_text(py, cbx_node_field(body, CBX_FIELD_function))
                                : (struct cbx_str){ 0 };
    if (cbx_str_is(callee, "chr") &&
        cbx_py_kind(cbx_py_argument(py, body, 0, NULL)) == PY_identifier) {
        return cbx_py_map(py, cbx_values_name(py->arena, CBX_STR("chr")), source);
    }
    if (cbx_py_kind(body) == PY_identifier && source->count == 1 &&
        source->items[0].kind == CBX_V_LIST && ts_node_named_child_count(node) == 2 &&
        cbx_str_equal(cbx_walk_text(py, body),
                      cbx_walk_text(py, cbx_node_field(clause, CBX_FIELD_left)))) {
        return source;
    }
    const struct cbx_values **members = cbx_arena_array(py->arena, 1, sizeof(*members));
    if (members == NULL || ts_node_is_null(body)) {
        return &cbx_values_unknown;
    }
    members[0] = cbx_py_eval(py, body, inner);
    return cbx_values_one(
        py->arena, &(struct cbx_value){ .kind = CBX_V_LIST, .members = members, .count = 1 });
}

static const struct cbx_values *eval_either(struct cbx_walk *py, TSNode node,
                                            struct cbx_scope *scope)
{
    uint32_t n = ts_node_named_child_count(node);
    const struct cbx_values *first = cbx_py_eval(py, ts_node_named_child(node, 0), scope);
    return n < 2 ? first
                 : cbx_values_join(py->arena, first,
                                   cbx_py_eval(py, ts_node_named_child(node, n - 1), scope));
}

static const struct cbx_values *eval_unary(struct cbx_walk *py, TSNode node,
                                           struct cbx_scope *scope)
{
    int64_t number;
    if (!cbx_values_is_number(cbx_py_eval(py, cbx_node_field(node, CBX_FIELD_argument), scope),
                              &number) ||
        number == INT64_MIN ||
        !cbx_str_is(cbx_walk_text(py, cbx_node_field(node, CBX_FIELD_operator)), "-")) {
        return &cbx_values_unknown;
    }
    return cbx_values_number(py->arena, cbx_walk_text(py, node), -number);
}

static const struct cbx_values *eval_kind(struct cbx_walk *py, TSNode node, struct cbx_scope *scope)
{
    struct cbx_value function = { .kind = CBX_V_FUNCTION, .node = node };
    struct cbx_str text;
    switch (cbx_py_kind(node)) {
    case PY_identifier:
        return eval_identifier(py, cbx_walk_text(py, node), scope);
    case PY_attribute:
        text =
            cbx_fold_nfkc(py->arena, cbx_walk_text(py, cbx_node_field(node, CBX_FIELD_attribute)));
        return cbx_py_read(py, cbx_py_eval(py, cbx_node_field(node, CBX_FIELD_object), scope),
                           text);
    case PY_subscript:
        return eval_subscript(py, node, scope);
    case PY_string:
        return eval_string(py, node, scope);
    case PY_concatenated_string:
        return concat_children(py, node, scope);
    case PY_integer:
        return eval_number(py, node);
    case PY_float:
    case PY_true:
    case PY_false:
    case PY_none:
        return cbx_values_number(py->arena, cbx_walk_text(py, node), cbx_py_kind(node) == PY_true);
    case PY_binary_operator:
        return eval_binary(py, node, scope);
    case PY_unary_operator:
        return eval_unary(py, node, scope);
    case PY_list:
    case PY_tuple:
    case PY_set:
    case PY_expression_list:
    case PY_pattern_list:
        return eval_container(py, node, scope, false);
    case PY_dictionary:
        return eval_container(py, node, scope, true);
    case PY_call:
        return cbx_py_eval_call(py, node, scope);
    case PY_parenthesized_expression:
    case PY_await:
    case PY_list_splat:
        return cbx_py_eval(py, ts_node_named_child(node, 0), scope);
    case PY_as_pattern:
        return cbx_py_eval(py, ts_node_named_child(node, 0), scope);
    case PY_named_expression:
        return cbx_py_eval(py, cbx_node_field(node, CBX_FIELD_value), scope);
    case PY_conditional_expression:
    case PY_boolean_operator:
        return eval_either(py, node, scope);
    case PY_lambda:
    case PY_function_definition:
        function.scope = cbx_scope_of(py, node, NULL);
        return cbx_values_one(py->arena, &function);
    case PY_list_comprehension:
    case PY_set_comprehension:
    case PY_generator_expression:
        return eval_comprehension(py, node, scope);
    default:
        return &cbx_values_unknown;
    }
}

const struct cbx_values *cbx_py_eval(struct cbx_walk *py, TSNode node, struct cbx_scope *scope)
{
    return cbx_scope_eval(py, node, scope, eval_kind);
}
