/* SPDX-License-Identifier: MIT
 * Paths in Python: os.path and pathlib. A path that depends on the working folder, on the home or
 * on a library's normal form is a likely text (value.h): rules about paths match it, and it is
 * never used as a constant. */
#include "analyzer/lang/python/internal.h"

#include "analyzer/facts/places.h"

enum { PARENTS_MAX = 8 };

static bool is_path(const struct cbx_values *values)
{
    const struct cbx_value *v = values->count == 1 ? values->items[0] : NULL;
    return v != NULL && v->kind == CBX_V_NAME && v->number == CBX_NAME_OBJECT && v->count == 1;
}

bool cbx_py_path_text(const struct cbx_values *values, struct cbx_str *out)
{
    return cbx_values_is_text(is_path(values) ? values->items[0]->members[0] : values, out);
}

const struct cbx_values *cbx_py_path_likely(const struct cbx_values *values)
{
    struct cbx_str text;
    bool likely = is_path(values) && !cbx_values_is_text(values->items[0]->members[0], &text);
    return likely ? values->items[0]->members[0] : NULL;
}

/* Joins the parts of a path as os.path.join does. */
static const struct cbx_values *join(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    struct cbx_str out = CBX_STR(""), part;
    uint32_t gaps = 0;
    for (uint32_t i = 0; i < actuals->count; i++) {
        uint32_t unknown = 0;
        part = cbx_values_piece(cbx_actual_values(py, actuals, i, NULL), &unknown);
        bool absolute = part.len > 0 && part.p[0] == '/';
        bool slash = out.len > 0 && out.p[out.len - 1] != '/';
        gaps = absolute ? unknown : gaps | unknown;
        out = absolute
                  ? part
                  : cbx_fold_concat(py->arena,
                                    slash ? cbx_fold_concat(py->arena, out, CBX_STR("/")) : out,
                                    part);
    }
    if (actuals->spread) {
        out = cbx_fold_concat(py->arena, out, CBX_STR("/*"));
    }
    return cbx_values_built(py->arena, out, gaps | (actuals->spread ? CBX_UNKNOWN_BUILT : 0));
}

/* Returns the object of a path. Of a constant that is no plain path, str() is another text. */
static const struct cbx_values *make_object(struct cbx_walk *py, const struct cbx_values *path)
{
    struct cbx_str text;
    const struct cbx_values **members = cbx_arena_array(py->arena, 1, sizeof(*members));
    struct cbx_value object = { .kind = CBX_V_NAME,
                                .number = CBX_NAME_OBJECT,
                                .text = CBX_STR("pathlib.Path"),
                                .members = members,
                                .count = members != NULL };
    if (members != NULL) {
        bool exact =
            !cbx_values_is_text(path, &text) || cbx_places_is_plain(text) || cbx_str_is(text, ".");
        members[0] = exact ? path : cbx_values_likely(py->arena, text);
    }
    return cbx_values_one(py->arena, &object);
}

/* Returns a path in the working folder. */
static struct cbx_str in_folder(struct cbx_walk *py, struct cbx_str path)
{
    bool begins = cbx_str_is(path, ".") || cbx_str_starts(path, CBX_STR("./")) ||
                  !cbx_places_is_relative(path) || (path.len > 0 && path.p[0] == '*');
    return begins ? path : CBX_JOIN(py->arena, CBX_STR("./"), path);
}

/* Returns the result of a function of one path, of the path's kind: a text, or an object. */
static const struct cbx_values *change(struct cbx_walk *py, enum cbx_py_call meaning,
                                       const struct cbx_values *path)
{
    uint32_t gaps = 0;
    struct cbx_str text = cbx_values_piece(path, &gaps);
    bool object = is_path(path), likely = true;
    switch (meaning) {
    case PY_CALL_ABSOLUTE:
        text = in_folder(py, text);
        break;
    case PY_CALL_NORMAL:
        likely = !cbx_places_is_plain(text);
        break;
    case PY_CALL_EXPAND_USER:
        likely = text.len > 0 && text.p[0] == '~';
        break;
    default:
        text = gaps == 0 && cbx_str_is(text, ".") ? text : cbx_places_parent(py->arena, text);
        likely = gaps != 0 || !object;
        break;
    }
    const struct cbx_values *out =
        text.len == 0         ? cbx_values_marked(py->arena, gaps & ~(uint32_t)CBX_UNKNOWN_HERE)
        : likely && gaps == 0 ? cbx_values_likely(py->arena, text)
                              : cbx_values_built(py->arena, text, gaps);
    return object ? make_object(py, out) : out;
}

const struct cbx_values *cbx_py_path_parents(struct cbx_walk *py, const struct cbx_value *path)
{
    const struct cbx_values **members = cbx_arena_array(py->arena, PARENTS_MAX, sizeof(*members));
    const struct cbx_values *at = cbx_values_one(py->arena, path);
    for (uint32_t i = 0; members != NULL && i < PARENTS_MAX; i++) {
        at = change(py, PY_CALL_PARENT, at);
        members[i] = at;
    }
    return cbx_values_list(py->arena, members, PARENTS_MAX);
}

const struct cbx_values *cbx_py_make_path(struct cbx_walk *py, enum cbx_py_call meaning,
                                          struct cbx_actuals *actuals)
{
    switch (meaning) {
    case PY_CALL_JOIN_PATH:
        return join(py, actuals);
    case PY_CALL_PATH:
        return make_object(py, join(py, actuals));
    case PY_CALL_HERE:
        return cbx_values_likely(py->arena, CBX_STR("."));
    case PY_CALL_HERE_PATH:
        return make_object(py, cbx_values_likely(py->arena, CBX_STR(".")));
    case PY_CALL_HOME_PATH:
        return make_object(py, cbx_values_likely(py->arena, CBX_STR("~")));
    default:
        return change(py, meaning, cbx_actual_values(py, actuals, 0, NULL));
    }
}
