/* SPDX-License-Identifier: MIT
 * Sources of values that are not constant: texts from outside of the program, and secrets. The
 * flags are as for "anything" (value.h), the sources are the rows CBX_GIVES of names.def. */
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/stored.h"

enum {
    MARK_DEPTH_MAX = 4,
    MARK_MEMBERS_MAX = 64,
    MARKS = CBX_UNKNOWN_TEXT | CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT | CBX_UNKNOWN_NAMES |
            CBX_UNKNOWN_PICKED
};

/* Returns true for an object of a class of the text: its text has none of its attributes. */
static bool is_instance(const struct cbx_value *v)
{
    return v->kind == CBX_V_MAP && cbx_str_is(v->text, CBX_MAP_INSTANCE);
}

static uint32_t flags_of(const struct cbx_values *values, int depth)
{
    uint32_t flags = cbx_values_flags(values);
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool container = v->kind == CBX_V_LIST || (v->kind == CBX_V_MAP && !is_instance(v));
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

uint32_t cbx_py_unknown_secrets(const struct cbx_actuals *actuals)
{
    uint32_t flags = actuals->unknown != NULL ? cbx_py_flags(actuals->unknown) : 0;
    return flags & (CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT);
}

const struct cbx_values *cbx_py_mark(struct cbx_walk *py, struct cbx_str name,
                                     struct cbx_actuals *actuals, const struct cbx_values *values)
{
    uint32_t gives = cbx_py_gives(name), flags = gives, carried = 0;
    const char *dot = gives == 0 && name.len > 0 ? memrchr(name.p, '.', name.len) : NULL;
    if (dot != NULL) { /* a method of an object with a row: os.environ.items() */
        uint32_t held = cbx_py_gives(cbx_str_sub(name, 0, (size_t)(dot - name.p)));
        flags = (held & CBX_PY_HOLDS) != 0 && cbx_py_call_meaning(name) == PY_CALL_NONE ? held : 0;
    }
    for (uint32_t i = 0; (gives & CBX_PY_CARRIES) != 0 && i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        a->values = a->values != NULL ? a->values : py->eval(py, a->node, a->scope);
        carried |= cbx_py_flags(a->values) & (CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT);
    }
    carried |= (gives & CBX_PY_CARRIES) != 0 ? cbx_py_unknown_secrets(actuals) : 0;
    if (values->count == 1 &&
        values->items[0]->kind == CBX_V_MAP) { /* dict(a=x): the members have them */
        carried &= ~cbx_py_flags(values);
    }
    flags |= carried;
    struct cbx_actual *first = actuals->count > 0 ? &actuals->items[0] : NULL;
    uint32_t stored = 0;
    if (py->stored.files != NULL && first != NULL) {
        first->values =
            first->values != NULL ? first->values : py->eval(py, first->node, first->scope);
        stored = cbx_stored_in_file(py, name, first->values);
    }
    if (stored != 0) {
        values = cbx_values_join(py->arena, values, cbx_values_marked(py->arena, stored));
    }
    if ((gives & CBX_UNKNOWN_NUMBER) != 0 && values->count == 1 &&
        values->items[0]->kind == CBX_V_UNKNOWN) {
        return cbx_values_marked(py->arena, CBX_UNKNOWN_NUMBER);
    }
    flags &= MARKS;
    /* names of the program itself */
    flags = flags == CBX_UNKNOWN_NAMES && actuals->count == 0 ? 0 : flags;
    return flags != 0 && (carried != 0 || cbx_values_has_unknown(values))
               ? cbx_values_join(py->arena, values, cbx_values_marked(py->arena, flags))
               : values;
}

/* --- secrets that are sent -------------------------------------------------------------------- */

/* Returns the flags of "anything", and of a name whose row gives them for the object itself. The
 * numbers of other values are no flags. */
static uint32_t held_flags(const struct cbx_value *v)
{
    if (v->kind == CBX_V_UNKNOWN) {
        return (uint32_t)v->number;
    }
    uint32_t gives = v->kind == CBX_V_NAME ? cbx_py_gives(v->text) : 0;
    return (gives & CBX_PY_HOLDS) != 0 ? gives : 0;
}

/* Returns the flags of values that are sent outside of headers for keys, and
 * CBX_UNKNOWN_ENVIRONMENT of values that are sent in such headers. */
static uint32_t sent_flags(const struct cbx_values *values, bool for_keys, int depth)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool map = v->kind == CBX_V_MAP && !is_instance(v);
        bool container = map || v->kind == CBX_V_LIST;
        for (uint32_t k = 0; container && depth < MARK_DEPTH_MAX && k < v->count; k++) {
            bool key = for_keys || (map && v->keys != NULL && cbx_is_for_keys(v->keys[k]));
            flags |= k < MARK_MEMBERS_MAX ? sent_flags(v->members[k], key, depth + 1) : 0;
        }
        flags |= held_flags(v) & (for_keys ? CBX_UNKNOWN_ENVIRONMENT
                                           : CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT);
    }
    return flags;
}

/* Returns true for HTTPBasicAuth(user, password), add_password(...), add_header(...), which make
 * the header Authorization. */
static bool makes_header(struct cbx_str name)
{
    return memmem(name.p, name.len, "eader", 5) != NULL ||
           memmem(name.p, name.len, "Auth", 4) != NULL ||
           memmem(name.p, name.len, "auth", 4) != NULL ||
           memmem(name.p, name.len, "assword", 7) != NULL;
}

void cbx_py_check_sent(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                       const struct cbx_node *call)
{
    if (cbx_str_starts(name, CBX_STR("set:"))) { /* session.params = x */
        name = cbx_str_sub(name, 4, name.len);
    }
    if (!cbx_py_sends(name) || cbx_str_starts(name, CBX_STR("urllib.parse"))) {
        return;
    }
    const char *dot = memrchr(name.p, '.', name.len);
    bool header =
        makes_header(name) ||
        (dot != NULL && cbx_is_for_keys(cbx_str_sub(name, (size_t)(dot - name.p) + 1, name.len)));
    uint32_t flags = 0;
    for (uint32_t i = 0; i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        a->values = a->values != NULL ? a->values : py->eval(py, a->node, a->scope);
        flags |= sent_flags(a->values, header || cbx_is_for_keys(a->keyword), 0);
    }
    flags |= actuals->unknown != NULL ? sent_flags(actuals->unknown, header, 0) : 0;
    if (flags != 0) {
        cbx_py_special(py, CBX_FACT_SECRET_SENT, name, call);
    }
}
