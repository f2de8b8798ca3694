/* SPDX-License-Identifier: MIT
 * Calls of functions of a Python source: what they return, for arguments that are known with these
 * as the values of the parameters. */
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/stored.h"

/* Returns true if a run of the function may return more exact values: the arguments are known, and
 * one is a constant, a list or a name. */
static bool is_known(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    bool constant = false;
    for (uint32_t i = 0; i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        a->values = a->values != NULL ? a->values : py->eval(py, a->node, a->scope);
        if (cbx_values_has_unknown(a->values)) {
            return false;
        }
        enum cbx_value_kind kind = a->values->items[0]->kind;
        constant |=
            kind == CBX_V_TEXT || kind == CBX_V_LIST || kind == CBX_V_NUMBER || kind == CBX_V_NAME;
    }
    return constant && !actuals->spread;
}

/* Returns the list for *args: the remaining arguments. */
static const struct cbx_values *rest_of(struct cbx_walk *py, struct cbx_actuals *actuals,
                                        uint32_t from)
{
    const struct cbx_values **members =
        cbx_arena_array(py->arena, actuals->count + 1u, sizeof(*members));
    uint32_t n = 0;
    for (uint32_t i = from; members != NULL && cbx_actual_find(actuals, i, NULL) != NULL; i++) {
        members[n++] = cbx_actual_values(py, actuals, i, NULL);
    }
    return cbx_values_list(py->arena, members, n);
}

/* Returns the values that the call gives the parameter `p` at the position `n`. */
static const struct cbx_values *parameter_values(struct cbx_walk *py, const struct cbx_node *p,
                                                 struct cbx_actuals *actuals, uint32_t n,
                                                 const char *keyword, struct cbx_scope *natural)
{
    enum cbx_py_kind kind = cbx_py_kind(p);
    struct cbx_node *value = cbx_child_of(p, CBX_FIELD_value);
    if (kind == PY_list_splat_pattern) {
        return rest_of(py, actuals, n);
    }
    if (kind == PY_dictionary_splat_pattern) {
        return &cbx_values_unknown;
    }
    if (cbx_actual_find(actuals, n, keyword) != NULL) {
        return cbx_actual_values(py, actuals, n, keyword);
    }
    if (value != NULL) {
        return cbx_py_eval(py, value, natural->parent);
    }
    return &cbx_values_unknown;
}

static void bind_actuals(struct cbx_walk *py, const struct cbx_value *function,
                         struct cbx_scope *run, struct cbx_actuals *actuals)
{
    struct cbx_node *parameters = cbx_child_of(function->node, CBX_FIELD_parameters);
    struct cbx_scope *natural = function->scope;
    uint32_t n = 0;
    for (struct cbx_node *p = parameters != NULL ? parameters->first : NULL; p != NULL;
         p = p->next) {
        struct cbx_node *name = cbx_py_parameter(p);
        if (name == NULL) {
            continue;
        }
        struct cbx_str text =
            cbx_arena_copy(py->arena, cbx_fold_nfkc(py->arena, cbx_walk_text(py, name)));
        const char *keyword = text.p;
        struct cbx_binding *b = cbx_scope_bind(py, run, run, text, CBX_BIND_VALUES, name);
        if (b == NULL || keyword == NULL) {
            continue;
        }
        b->values = parameter_values(py, p, actuals, n, keyword, natural);
        if (cbx_scope_assigns(py, natural, text)) { /* the function assigns it another value */
            b->values = cbx_values_join(py->arena, b->values, &cbx_values_unknown);
        }
        n += cbx_py_kind(p) != PY_list_splat_pattern;
    }
}

/* Returns the secrets among the arguments for the fields of a class without __init__ (dataclass,
 * BaseModel), by the names of the fields; nothing if there are none. */
static const struct cbx_values *fields_of(struct cbx_walk *py, const struct cbx_node *class,
                                          struct cbx_actuals *actuals)
{
    enum { FIELDS_MAX = 64 };
    struct cbx_str *keys = cbx_arena_array(py->arena, FIELDS_MAX, sizeof(*keys));
    const struct cbx_values **members = cbx_arena_array(py->arena, FIELDS_MAX, sizeof(*members));
    const struct cbx_node *body = cbx_child_of(class, CBX_FIELD_body);
    uint32_t n = 0, count = 0;
    for (const struct cbx_node *s = body != NULL ? body->first : NULL;
         s != NULL && keys != NULL && members != NULL && n < FIELDS_MAX; s = s->next) {
        const struct cbx_node *field = cbx_child_at(s, 0);
        if (cbx_child_of(field, CBX_FIELD_type) == NULL) {
            continue;
        }
        struct cbx_str name = cbx_walk_text(py, cbx_child_of(field, CBX_FIELD_left));
        const char *keyword = cbx_arena_copy(py->arena, name).p;
        const struct cbx_values *value = cbx_actual_find(actuals, n, keyword) != NULL
                                             ? cbx_actual_values(py, actuals, n, keyword)
                                             : &cbx_values_nothing;
        uint32_t flags = cbx_py_flags(value) & (CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT);
        n++;
        if (flags != 0) {
            keys[count] = name;
            members[count++] = cbx_values_marked(py->arena, flags);
        }
    }
    struct cbx_value map = { .kind = CBX_V_MAP,
                             .text = CBX_STR(CBX_MAP_INSTANCE),
                             .number = 1,
                             .keys = keys,
                             .members = members,
                             .count = count };
    return count > 0 ? cbx_values_one(py->arena, &map) : &cbx_values_nothing;
}

/* Returns the attributes with secrets that a class gives a new object; nothing if there are none. */
static const struct cbx_values *make_instance(struct cbx_walk *py, struct cbx_node *class,
                                              struct cbx_actuals *actuals)
{
    if (py->stored.lang == NULL) {
        return &cbx_values_nothing;
    }
    struct cbx_str init = CBX_STR("__init__");
    bool own = class->inner != NULL && cbx_scope_chain(py, class->inner, init) != NULL;
    const struct cbx_values *fields =
        own || actuals->count == 0 ? &cbx_values_nothing : fields_of(py, class, actuals);
    return cbx_values_join(py->arena, fields, cbx_stored_instance(py, class));
}

const struct cbx_values *cbx_py_call_function(struct cbx_walk *py, const struct cbx_value *function,
                                              struct cbx_actuals *actuals)
{
    struct cbx_scope *natural = function->scope;
    bool method =
        natural != NULL && natural->parent != NULL && natural->parent->kind == CBX_SCOPE_CLASS;
    if (cbx_py_kind(function->node) == PY_class_definition) {
        return cbx_values_join(py->arena, make_instance(py, function->node, actuals),
                               &cbx_values_unknown);
    }
    if (natural == NULL || natural->returns == NULL) {
        return &cbx_values_unknown;
    }
    struct cbx_scope *run =
        !method && is_known(py, actuals) ? cbx_scope_run(py, natural, natural->parent) : NULL;
    const struct cbx_values *out = &cbx_values_nothing;
    if (run != NULL) {
        bind_actuals(py, function, run, actuals);
        py->run_depth++;
        out = cbx_scope_returns(py, run);
        py->run_depth--;
    }
    return out->count == 0 || cbx_values_has_unknown(out)
               ? cbx_values_join(py->arena, out, cbx_scope_returns(py, natural))
               : out;
}
