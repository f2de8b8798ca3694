/* SPDX-License-Identifier: MIT
 * The targets of bindings in JavaScript: names, members, and patterns of these. */
#include "analyzer/lang/javascript/bind.h"

#include "analyzer/lang/javascript/internal.h"

enum { PATTERN_DEPTH_MAX = 64 };

void cbx_js_bind_name(struct cbx_walk *js, const struct cbx_js_target *t, struct cbx_str name)
{
    enum cbx_bind kind = t->key ? CBX_BIND_KEY : CBX_BIND_EXPR;
    if (t->value == NULL || t->unknown) {
        kind = CBX_BIND_UNKNOWN;
    }
    struct cbx_binding *binding = cbx_scope_bind(js, t->scope, t->where, name, kind, t->value);
    if (binding != NULL) {
        binding->each = t->each;
        binding->path = t->path;
    }
}

static struct cbx_js_target at_key(struct cbx_walk *js, struct cbx_js_target t, struct cbx_str key)
{
    t.unknown |= key.len == 0;
    if (t.path.len > 0 && key.p != NULL) {
        const char separator = CBX_PATH_SEPARATOR;
        key = CBX_JOIN(js->arena, t.path, { &separator, 1 }, key);
    }
    t.path = key;
    return t;
}

static void bind_pattern(struct cbx_walk *js, struct cbx_js_target t, struct cbx_node *pattern,
                         int depth);

/* Binds [a, , ...b]; commas count the places. */
static void bind_array(struct cbx_walk *js, const struct cbx_js_target *t, struct cbx_node *pattern,
                       int depth)
{
    uint32_t i = 0;
    for (struct cbx_node *child = pattern->first; child != NULL; child = child->next) {
        if (!child->named) {
            i += js->src[child->start] == ',';
            continue;
        }
        struct cbx_js_target inner = at_key(js, *t, cbx_arena_number(js->arena, i));
        if (cbx_js_kind(child) == JS_rest_pattern) {
            inner = *t; /* the rest is the whole array, with other indexes */
        }
        bind_pattern(js, inner, child, depth + 1);
    }
}

static void bind_children(struct cbx_walk *js, struct cbx_js_target t, struct cbx_node *pattern,
                          int depth)
{
    for (struct cbx_node *child = pattern->first; child != NULL; child = child->next) {
        if (child->named) {
            bind_pattern(js, t, child, depth + 1);
        }
    }
}

struct cbx_str cbx_js_key_of(struct cbx_walk *js, struct cbx_node *key)
{
    struct cbx_node *inner =
        cbx_js_kind(key) == JS_computed_property_name ? cbx_child_at(key, 0) : key;
    if (cbx_js_kind(key) == JS_property_identifier || cbx_js_kind(key) == JS_number ||
        cbx_js_kind(key) == JS_shorthand_property_identifier_pattern) {
        return cbx_js_name(js, key);
    }
    if (cbx_js_kind(inner) == JS_string && cbx_child_count(inner) == 1) {
        return cbx_js_name(js, cbx_child_at(inner, 0));
    }
    if (inner == NULL || inner == key) {
        return CBX_STR("");
    }
    const char computed = CBX_JS_COMPUTED;
    return CBX_JOIN(js->arena, { &computed, 1 },
                    cbx_arena_number(js->arena, inner - js->syntax.nodes));
}

/* Binds {a = value}, also to the value. */
static void bind_default(struct cbx_walk *js, const struct cbx_js_target *t,
                         struct cbx_node *pattern, int depth)
{
    struct cbx_node *left = cbx_child_of(pattern, CBX_FIELD_left);
    struct cbx_js_target other = { .scope = t->scope,
                                   .where = t->where,
                                   .value = cbx_child_of(pattern, CBX_FIELD_right) };
    bind_pattern(js, *t, left, depth + 1);
    if (cbx_js_kind(left) == JS_shorthand_property_identifier_pattern) {
        cbx_js_bind_name(js, &other, cbx_js_name(js, left));
    } else {
        bind_pattern(js, other, left, depth + 1);
    }
}

static void bind_pattern(struct cbx_walk *js, struct cbx_js_target t, struct cbx_node *pattern,
                         int depth)
{
    if (depth >= PATTERN_DEPTH_MAX) {
        js->gave_up = true; /* the names of the deeper pattern are not bound */
        return;
    }
    struct cbx_node *object;
    switch (cbx_js_kind(pattern)) {
    case JS_identifier:
        cbx_js_bind_name(js, &t, cbx_js_name(js, pattern));
        return;
    case JS_shorthand_property_identifier_pattern:
        t = at_key(js, t, cbx_js_key_of(js, pattern));
        cbx_js_bind_name(js, &t, cbx_js_name(js, pattern));
        return;
    case JS_pair_pattern:
        bind_pattern(js, at_key(js, t, cbx_js_key_of(js, cbx_child_of(pattern, CBX_FIELD_key))),
                     cbx_child_of(pattern, CBX_FIELD_value), depth + 1);
        return;
    case JS_assignment_pattern:
    case JS_object_assignment_pattern:
        bind_default(js, &t, pattern, depth);
        return;
    case JS_array_pattern:
        bind_array(js, &t, pattern, depth);
        return;
    case JS_object_pattern:
    case JS_rest_pattern:
    case JS_parenthesized_expression:
        bind_children(js, t, pattern, depth);
        return;
    case JS_member_expression: /* globalThis.x = value also binds the name x */
        object = cbx_child_of(pattern, CBX_FIELD_object);
        while (cbx_js_kind(object) == JS_parenthesized_expression) {
            object = cbx_child_at(object, 0);
        }
        if (cbx_js_kind(object) == JS_identifier &&
            cbx_js_is_global_object(cbx_walk_text(js, object))) {
            t.scope = js->module;
            cbx_js_bind_name(js, &t, cbx_js_name(js, cbx_child_of(pattern, CBX_FIELD_property)));
        }
        t.scope = NULL;
        cbx_js_bind_name(js, &t, cbx_js_name(js, cbx_child_of(pattern, CBX_FIELD_property)));
        return;
    case JS_subscript_expression: { /* o['k'] = value */
        js->changes = true;
        struct cbx_str key = cbx_js_key_of(js, cbx_child_of(pattern, CBX_FIELD_index));
        t.scope = NULL;
        if (key.len > 0 && key.p[0] != CBX_JS_COMPUTED) {
            cbx_js_bind_name(js, &t, key);
        }
        return;
    }
    default:
        return;
    }
}

void cbx_js_bind_pattern(struct cbx_walk *js, struct cbx_js_target t, struct cbx_node *pattern)
{
    bind_pattern(js, t, pattern, 0);
}

void cbx_js_bind_children(struct cbx_walk *js, struct cbx_js_target t, struct cbx_node *pattern)
{
    bind_children(js, t, pattern, 0);
}

void cbx_js_bind_value(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                       struct cbx_node *pattern, struct cbx_node *value, bool each)
{
    struct cbx_js_target t = { .scope = scope, .where = where, .value = value, .each = each };
    bind_pattern(js, t, pattern, 0);
}

void cbx_js_bind_key(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                     struct cbx_node *pattern, struct cbx_node *value, struct cbx_str key)
{
    struct cbx_js_target t = { .scope = scope, .where = where, .value = value };
    bind_pattern(js, at_key(js, t, key), pattern, 0);
}

void cbx_js_bind_part(struct cbx_walk *js, struct cbx_scope *scope, struct cbx_scope *where,
                      struct cbx_str name, struct cbx_node *value, struct cbx_str key)
{
    struct cbx_js_target t = { .scope = scope, .where = where, .value = value };
    t = at_key(js, t, key);
    cbx_js_bind_name(js, &t, name);
}
