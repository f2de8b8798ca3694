/* SPDX-License-Identifier: MIT
 * Where values that are not constant come from: texts from outside of the program, and secrets. The
 * flags are those of "anything" (value.h), the sources are the rows CBX_GIVES of names.def. */
#include "analyzer/lang/python/internal.h"

enum {
    MARK_DEPTH_MAX = 4,
    MARK_MEMBERS_MAX = 64,
    MARKS = CBX_UNKNOWN_TEXT | CBX_UNKNOWN_SECRET | CBX_UNKNOWN_NAMES | CBX_UNKNOWN_PICKED
};

static uint32_t flags_of(const struct cbx_values *values, int depth)
{
    uint32_t flags = cbx_values_flags(values);
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool container = v->kind == CBX_V_LIST || v->kind == CBX_V_MAP;
        uint32_t held = v->kind == CBX_V_NAME ? cbx_py_gives(v->text) : 0;
        flags |= (held & CBX_PY_HOLDS) != 0 ? held : 0;
        for (uint32_t k = 0; container && depth < MARK_DEPTH_MAX && k < v->count; k++) {
            flags |= k < MARK_MEMBERS_MAX ? flags_of(v->members[k], depth + 1) : 0;
        }
    }
    return flags & MARKS;
}

uint32_t cbx_py_flags(const struct cbx_values *values)
{
    return flags_of(values, 0);
}

const struct cbx_values *cbx_py_mark(struct cbx_walk *py, struct cbx_str name,
                                     struct cbx_actuals *actuals, const struct cbx_values *values)
{
    uint32_t gives = cbx_py_gives(name), flags = gives;
    const char *dot = gives == 0 && name.len > 0 ? memrchr(name.p, '.', name.len) : NULL;
    if (dot != NULL) { /* a method of what holds it: os.environ.items() */
        uint32_t held = cbx_py_gives(cbx_str_sub(name, 0, (size_t)(dot - name.p)));
        flags = (held & CBX_PY_HOLDS) != 0 && cbx_py_call_meaning(name) == PY_CALL_NONE ? held : 0;
    }
    for (uint32_t i = 0; (gives & CBX_PY_CARRIES) != 0 && i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        a->values = a->values != NULL ? a->values : py->eval(py, a->node, a->scope);
        flags |= cbx_py_flags(a->values) & CBX_UNKNOWN_SECRET;
    }
    flags &= MARKS;
    flags = flags == CBX_UNKNOWN_NAMES && actuals->count == 0 ? 0 : flags; /* of the program */
    return flags != 0 && cbx_values_has_unknown(values)
               ? cbx_values_join(py->arena, values, cbx_values_marked(py->arena, flags))
               : values;
}
