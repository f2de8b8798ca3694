/* SPDX-License-Identifier: MIT
 * Members of iterables in Python. */
#include "analyzer/lang/python/internal.h"

enum { SEQUENCE_MAX = 1024, EXPAND_DEPTH_MAX = 8 };

static const struct cbx_values *text_sequence(struct cbx_walk *py, const struct cbx_value *text)
{
    uint32_t count = (uint32_t)text->text.len;
    if (text->text.len > SEQUENCE_MAX ||
        (text->number != CBX_TEXT_BYTES && !cbx_str_is_ascii(text->text))) {
        return &cbx_values_unknown;
    }
    const struct cbx_values **members = cbx_arena_array(py->arena, count + 1u, sizeof(*members));
    for (uint32_t i = 0; members != NULL && i < count; i++) {
        unsigned char c = (unsigned char)text->text.p[i];
        members[i] = text->number == CBX_TEXT_BYTES
                         ? cbx_values_number(py->arena, cbx_arena_number(py->arena, c), c)
                         : cbx_values_text(py->arena, cbx_str_sub(text->text, i, i + 1u));
    }
    return cbx_values_list(py->arena, members, count);
}

/* Opens a scope in which the target of a comprehension is `member`; NULL if there were too many
 * runs. */
static struct cbx_scope *run_for(struct cbx_walk *py, struct cbx_node *node,
                                 struct cbx_scope *scope, struct cbx_node *target,
                                 const struct cbx_values *member)
{
    struct cbx_scope *run = cbx_scope_run(py, node->inner, scope);
    if (run == NULL) {
        return NULL;
    }
    uint32_t i = 0;
    char index[16];
    bool single = cbx_py_kind(target) == PY_identifier;
    for (struct cbx_node *t = single ? target : target->first; t != NULL;
         t = single ? NULL : t->next) {
        snprintf(index, sizeof(index), "%u", i++);
        struct cbx_binding *b = cbx_scope_bind(
            py, run, run, cbx_fold_nfkc(py->arena, cbx_walk_text(py, t)), CBX_BIND_VALUES, t);
        if (b != NULL) {
            b->values = single ? member : cbx_py_member(py, member, cbx_str_of(index));
        }
    }
    return run;
}

/* Evaluates [f(x) for x in known if test(x)], member by member. Returns NULL if it nests, has an
 * unknown iterable, or a condition that is not constant. */
static const struct cbx_value *expand(struct cbx_walk *py, struct cbx_node *node,
                                      struct cbx_scope *scope)
{
    struct cbx_node *clause = cbx_child_at(node, 1), *filter = cbx_child_at(node, 2);
    if (cbx_child_count(node) > 3 || cbx_py_kind(clause) != PY_for_in_clause ||
        (filter != NULL && cbx_py_kind(filter) != PY_if_clause)) {
        return NULL;
    }
    const struct cbx_value *source =
        cbx_py_sequence(py, cbx_py_eval(py, cbx_child_of(clause, CBX_FIELD_right), scope));
    const struct cbx_values **members =
        source != NULL ? cbx_arena_array(py->arena, source->count + 1u, sizeof(*members)) : NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; members != NULL && i < source->count; i++) {
        struct cbx_scope *run =
            run_for(py, node, scope, cbx_child_of(clause, CBX_FIELD_left), source->members[i]);
        if (run == NULL) {
            return NULL;
        }
        py->run_depth++;
        enum cbx_py_truth kept =
            filter != NULL ? cbx_py_test(py, cbx_child_at(filter, 0), run) : CBX_PY_YES;
        members[count] = cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_body), run);
        py->run_depth--;
        if (kept == CBX_PY_MAYBE) {
            return NULL;
        }
        count += kept == CBX_PY_YES;
    }
    return members != NULL
               ? cbx_values_container(cbx_values_list(py->arena, members, count), CBX_V_LIST)
               : NULL;
}

static const struct cbx_values *map_keys(struct cbx_walk *py, const struct cbx_value *map)
{
    const struct cbx_values **members =
        cbx_arena_array(py->arena, map->count + 1u, sizeof(*members));
    for (uint32_t i = 0; members != NULL && i < map->count; i++) {
        members[i] = map->keys[i].len > 0 && map->keys[i].p[0] == '\xff'
                         ? &cbx_values_unknown
                         : cbx_values_text(py->arena, map->keys[i]);
    }
    return cbx_values_list(py->arena, members, map->count);
}

const struct cbx_value *cbx_py_sequence(struct cbx_walk *py, const struct cbx_values *values)
{
    const struct cbx_value *v = values->count == 1 ? values->items[0] : NULL;
    if (v == NULL || (v->kind == CBX_V_LIST && v->number == 0)) {
        return v;
    }
    if (v->kind == CBX_V_LIST && v->node != NULL) {
        /* Its iterable may depend on itself: def f(a): return [v for v in f(a)]. */
        const struct cbx_value *out = NULL;
        if (py->expand_depth < EXPAND_DEPTH_MAX) {
            py->expand_depth++;
            out = expand(py, v->node, v->scope);
            py->expand_depth--;
        }
        return out;
    }
    if (v->kind == CBX_V_TEXT) {
        return cbx_values_container(text_sequence(py, v), CBX_V_LIST);
    }
    return v->kind == CBX_V_MAP && v->number == 0
               ? cbx_values_container(map_keys(py, v), CBX_V_LIST)
               : NULL;
}

const struct cbx_values *cbx_py_members(struct cbx_walk *py, const struct cbx_values *values)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        const struct cbx_values *one = cbx_values_one(py->arena, v);
        one = v->kind == CBX_V_MAP ? map_keys(py, v) : one;
        if (cbx_py_is_symbolic(v)) {
            out = cbx_values_join(py->arena, out, one);
            continue;
        }
        one = v->kind == CBX_V_NAME ? cbx_values_marked(py->arena, cbx_py_flags(one)) : one;
        out = cbx_values_join(py->arena, out, cbx_values_members(py->arena, one));
    }
    return cbx_values_some(out);
}
