/* SPDX-License-Identifier: MIT
 * Calls of functions of a Python source: what they return, for arguments that are known with these
 * as the values of the parameters. */
#include "analyzer/lang/python/internal.h"

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

const struct cbx_values *cbx_py_call_function(struct cbx_walk *py, const struct cbx_value *function,
                                              struct cbx_actuals *actuals)
{
    struct cbx_scope *natural = function->scope;
    bool method =
        natural != NULL && natural->parent != NULL && natural->parent->kind == CBX_SCOPE_CLASS;
    if (natural == NULL || natural->returns == NULL ||
        cbx_py_kind(function->node) == PY_class_definition) {
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
