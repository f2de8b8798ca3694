/* SPDX-License-Identifier: MIT
 * The targets of bindings in Python: names, attributes, items, and patterns of these. */
#include "analyzer/lang/python/bind.h"

#include "analyzer/lang/python/internal.h"

enum { PATTERN_DEPTH_MAX = 64 };

/* Notes the attribute that `json.m = x` or setattr(json, 'm', x) assigns: it may have another value
 * than in the module json. */
static void note_patch(struct cbx_walk *py, struct cbx_node *object, struct cbx_str attribute)
{
    struct cbx_str name = cbx_walk_text(py, object);
    if (cbx_py_kind(object) == PY_identifier && !cbx_str_is(name, "self") &&
        !cbx_str_is(name, "cls")) {
        py->patched |= cbx_name_bit(attribute);
    }
}

static void bind_name(struct cbx_walk *py, const struct cbx_py_target *t, struct cbx_scope *scope,
                      struct cbx_str name)
{
    bool unknown = t->unknown || t->value == NULL;
    struct cbx_binding *binding = cbx_scope_bind(
        py, scope, t->where, name, unknown ? CBX_BIND_UNKNOWN : CBX_BIND_EXPR, t->value);
    if (binding != NULL) {
        binding->each = t->each;
        binding->path = t->path;
    }
}

/* Binds x['k'] = value: a read of 'k' from an unknown object may give it; globals()['k'] = value
 * binds a name. */
static void bind_item(struct cbx_walk *py, const struct cbx_py_target *t, struct cbx_node *target)
{
    struct cbx_str key;
    struct cbx_node *subscript = cbx_child_of(target, CBX_FIELD_subscript),
                    *object = cbx_child_of(target, CBX_FIELD_value);
    bool plain = cbx_py_kind(subscript) == PY_string && cbx_child_count(subscript) <= 3 &&
                 cbx_py_kind(cbx_child_at(subscript, 1)) != PY_interpolation; /* not bound yet */
    if (cbx_py_kind(subscript) == PY_integer) {
        key = cbx_walk_text(py, subscript);
    } else if (!plain || !cbx_values_is_text(cbx_py_eval(py, subscript, t->where), &key)) {
        return;
    }
    struct cbx_str call = cbx_walk_text(py, object);
    bool names = cbx_py_kind(object) == PY_call &&
                 (cbx_str_is(call, "globals()") || cbx_str_is(call, "locals()") ||
                  cbx_str_is(call, "vars()"));
    bind_name(py, t, names ? py->module : NULL, key);
}

/* Returns the path to the i-th of `count` targets; targets after a starred one are counted from
 * the end. */
static struct cbx_str path_to(struct cbx_walk *py, struct cbx_str path, uint32_t i, uint32_t count,
                              uint32_t star)
{
    static const char *const low[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
    if (path.len == 0 && i < 8 && i < star) {
        return cbx_str_of(low[i]);
    }
    char index[32];
    if (i == star) {
        snprintf(index, sizeof(index), "%u:%u", i, count - 1 - i);
    } else {
        snprintf(index, sizeof(index), "%d", i < star ? (int)i : (int)i - (int)count);
    }
    if (path.len == 0) {
        return cbx_arena_copy(py->arena, cbx_str_of(index));
    }
    const char separator = CBX_PATH_SEPARATOR;
    return CBX_JOIN(py->arena, path, { &separator, 1 }, cbx_str_of(index));
}

static void bind_target(struct cbx_walk *py, struct cbx_py_target t, struct cbx_node *target,
                        int depth);

/* Binds a, (b, *c) = value: each target gets the member at its place. */
static void bind_places(struct cbx_walk *py, const struct cbx_py_target *t, struct cbx_node *target,
                        int depth)
{
    uint32_t count = cbx_child_count(target), star = UINT32_MAX, i = 0;
    for (struct cbx_node *c = target->first; c != NULL; c = c->next, i++) {
        bool starred = cbx_py_kind(c) == PY_list_splat_pattern || cbx_py_kind(c) == PY_list_splat;
        star = starred ? i : star;
    }
    i = 0;
    for (struct cbx_node *c = target->first; c != NULL; c = c->next, i++) {
        struct cbx_py_target inner = *t;
        inner.path = path_to(py, t->path, i, count, star);
        bind_target(py, inner, i == star ? cbx_child_at(c, 0) : c, depth + 1);
    }
}

static void bind_target(struct cbx_walk *py, struct cbx_py_target t, struct cbx_node *target,
                        int depth)
{
    if (depth >= PATTERN_DEPTH_MAX) {
        py->gave_up = true; /* the names of the deeper pattern are not bound */
        return;
    }
    switch (cbx_py_kind(target)) {
    case PY_identifier:
        bind_name(py, &t, t.scope, cbx_py_text(py, target));
        return;
    case PY_attribute:
        note_patch(py, cbx_child_of(target, CBX_FIELD_object),
                   cbx_py_text(py, cbx_child_of(target, CBX_FIELD_attribute)));
        bind_name(py, &t, NULL, cbx_py_text(py, cbx_child_of(target, CBX_FIELD_attribute)));
        return;
    case PY_subscript:
        py->changes = true;
        bind_item(py, &t, target);
        return;
    case PY_parenthesized_expression:
    case PY_as_pattern_target:
        bind_target(py, t, cbx_child_at(target, 0), depth + 1);
        return;
    case PY_pattern_list:
    case PY_tuple_pattern:
    case PY_list_pattern:
    case PY_expression_list:
    case PY_tuple:
    case PY_list:
        bind_places(py, &t, target, depth);
        return;
    default:
        return;
    }
}

void cbx_py_bind_target(struct cbx_walk *py, struct cbx_py_target t, struct cbx_node *target)
{
    bind_target(py, t, target, 0);
}

void cbx_py_bind_value(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *target,
                       struct cbx_node *value, bool each)
{
    struct cbx_py_target t = { .scope = scope, .where = scope, .value = value, .each = each };
    bind_target(py, t, target, 0);
}

void cbx_py_bind_setattr(struct cbx_walk *py, struct cbx_scope *scope, struct cbx_node *call)
{
    struct cbx_node *list = cbx_child_of(call, CBX_FIELD_arguments), *name = cbx_child_at(list, 1);
    struct cbx_node *text = cbx_py_kind(name) == PY_string ? cbx_child_at(name, 1) : NULL;
    if (cbx_py_kind(text) == PY_string_content) {
        struct cbx_py_target t = { .where = scope, .value = cbx_child_at(list, 2) };
        bind_name(py, &t, NULL, cbx_walk_text(py, text));
        note_patch(py, cbx_child_at(list, 0), cbx_walk_text(py, text));
    }
}
