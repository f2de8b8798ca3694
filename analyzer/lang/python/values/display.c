/* SPDX-License-Identifier: MIT
 * The values of displays in Python: lists, tuples, sets, dictionaries, comprehensions. */
#include "analyzer/lang/python/internal.h"

struct builder {
    const struct cbx_values **members;
    struct cbx_str *keys;
    uint32_t count, size;
    bool more;
};

static void add_member(struct builder *b, struct cbx_str key, const struct cbx_values *member)
{
    if (b->count == b->size) {
        b->more = true;
        return;
    }
    if (b->keys != NULL) {
        b->keys[b->count] = key;
    }
    b->members[b->count++] = member;
}

/* Allocates members for the children of a display and for spread lists among them. */
static bool make_room(struct cbx_walk *py, struct cbx_node *node, bool map, struct builder *b)
{
    uint32_t count = cbx_child_count(node) + 16;
    *b = (struct builder){ .size = count };
    b->members =
        count <= CBX_MEMBERS_MAX ? cbx_arena_array(py->arena, count, sizeof(*b->members)) : NULL;
    b->keys =
        map && b->members != NULL ? cbx_arena_array(py->arena, count, sizeof(*b->keys)) : NULL;
    return b->members != NULL && (!map || b->keys != NULL);
}

const struct cbx_values *cbx_py_eval_list(struct cbx_walk *py, struct cbx_node *node,
                                          struct cbx_scope *scope)
{
    struct builder b;
    if (!make_room(py, node, false, &b)) {
        return &cbx_values_unknown;
    }
    struct cbx_str no_key = { 0 };
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        const struct cbx_values *value = cbx_py_eval(py, child, scope);
        const struct cbx_value *spread =
            cbx_py_kind(child) == PY_list_splat ? cbx_py_sequence(py, value) : NULL;
        if (cbx_py_kind(child) != PY_list_splat) {
            add_member(&b, no_key, value);
            continue;
        }
        b.more |= spread == NULL;
        for (uint32_t i = 0; spread != NULL && i < spread->count; i++) {
            add_member(&b, no_key, spread->members[i]);
        }
        if (spread == NULL) {
            add_member(&b, no_key, cbx_py_members(py, value));
        }
    }
    const struct cbx_values *list = cbx_values_list(py->arena, b.members, b.count);
    return b.more ? cbx_values_each(py->arena, cbx_values_members(py->arena, list)) : list;
}

struct cbx_str cbx_py_key(struct cbx_walk *py, const struct cbx_values *key)
{
    struct cbx_str text;
    int64_t number;
    if (cbx_values_is_number(key, &number)) {
        return cbx_arena_number(py->arena, number);
    }
    return cbx_values_is_text(key, &text) ? text : CBX_STR("\xff");
}

const struct cbx_values *cbx_py_eval_dictionary(struct cbx_walk *py, struct cbx_node *node,
                                                struct cbx_scope *scope)
{
    struct builder b;
    if (!make_room(py, node, true, &b)) {
        return &cbx_values_unknown;
    }
    for (struct cbx_node *child = node->first; child != NULL; child = child->next) {
        if (cbx_py_kind(child) == PY_pair) {
            add_member(&b,
                       cbx_py_key(py, cbx_py_eval(py, cbx_child_of(child, CBX_FIELD_key), scope)),
                       cbx_py_eval(py, cbx_child_of(child, CBX_FIELD_value), scope));
            continue;
        }
        const struct cbx_value *spread = cbx_values_container(
            cbx_py_eval(py, cbx_child_at(child, 0), scope), CBX_V_MAP); /* **more */
        b.more |= spread == NULL;
        uint32_t flags = cbx_py_flags(cbx_py_eval(py, cbx_child_at(child, 0), scope));
        if (spread == NULL && flags != 0) {
            add_member(&b, CBX_STR("\xff"), cbx_values_marked(py->arena, flags));
        }
        for (uint32_t i = 0; spread != NULL && i < spread->count; i++) {
            add_member(&b, spread->keys[i], spread->members[i]);
        }
    }
    struct cbx_value map = {
        .kind = CBX_V_MAP, .members = b.members, .keys = b.keys, .count = b.count, .number = b.more
    };
    return cbx_values_one(py->arena, &map);
}

const struct cbx_values *cbx_py_eval_comprehension(struct cbx_walk *py, struct cbx_node *node,
                                                   struct cbx_scope *scope)
{
    struct cbx_scope *inner = node->inner;
    const struct cbx_values **members = cbx_arena_array(py->arena, 1, sizeof(*members));
    struct cbx_node *body = cbx_child_of(node, CBX_FIELD_body);
    if (members == NULL || body == NULL) {
        return &cbx_values_unknown;
    }
    if (cbx_py_kind(body) == PY_pair) {
        struct cbx_str *key = cbx_arena_array(py->arena, 1, sizeof(*key));
        members[0] = cbx_py_eval(py, cbx_child_of(body, CBX_FIELD_value), inner);
        struct cbx_value map = {
            .kind = CBX_V_MAP, .members = members, .keys = key, .count = key != NULL, .number = 1
        };
        if (key != NULL) {
            *key = CBX_STR("\xff");
        }
        return cbx_values_one(py->arena, &map);
    }
    members[0] = cbx_py_eval(py, body, inner);
    struct cbx_value list = { .kind = CBX_V_LIST,
                              .members = members,
                              .count = 1,
                              .number = 1,
                              .node = node,
                              .scope = scope };
    return cbx_values_one(py->arena, &list);
}
