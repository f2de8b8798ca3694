/* SPDX-License-Identifier: MIT
 * Binary operators of constants in Python. */
#include "analyzer/lang/python/internal.h"

enum { CROSS_MAX = 16 };

static const struct cbx_values *repeat(struct cbx_walk *py, const struct cbx_value *v,
                                       int64_t times)
{
    struct cbx_str out = CBX_STR("");
    if (times >= 4096) {
        return &cbx_values_unknown;
    }
    if (v->kind != CBX_V_TEXT) {
        const struct cbx_values *one = cbx_values_one(py->arena, v);
        return times == 1 ? one : cbx_values_each(py->arena, cbx_values_members(py->arena, one));
    }
    for (int64_t i = 0; i < times && out.p != NULL; i++) {
        out = cbx_fold_concat(py->arena, out, v->text);
    }
    return v->number == CBX_TEXT_BYTES ? cbx_values_bytes(py->arena, out)
                                       : cbx_values_text(py->arena, out);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static bool divides(int64_t a, int64_t b)
{
    return b != 0 && !(a == INT64_MIN && b == -1);
}

/* Computes a op b; returns false for another operator, or if the result does not fit in 64 bits. */
static bool compute(char op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case '+':
        return !__builtin_add_overflow(a, b, out);
    case '-':
        return !__builtin_sub_overflow(a, b, out);
    case '*':
        return !__builtin_mul_overflow(a, b, out);
    case '^':
        *out = a ^ b;
        return true;
    case '|':
        *out = a | b;
        return true;
    case '&':
        *out = a & b;
        return true;
    case '%':
        if (!divides(a, b)) {
            return false;
        }
        *out = a - floor_div(a, b) * b;
        return true;
    default:
        return false;
    }
}

static const struct cbx_values *eval_arithmetic(struct cbx_walk *py, struct cbx_str op, int64_t a,
                                                int64_t b)
{
    int64_t out = 0;
    bool bad = true, shifts = b >= 0 && b < 62 && a >= 0;
    if (cbx_str_is(op, "//")) {
        bad = !divides(a, b);
        out = bad ? 0 : floor_div(a, b);
    } else if (cbx_str_is(op, "<<") || cbx_str_is(op, ">>")) {
        bool left = op.p[0] == '<';
        bad = !shifts || (left && a > INT64_MAX >> b);
        out = bad ? 0 : left ? a << b : a >> b;
    } else if (op.len == 1) {
        bad = !compute(op.p[0], a, b, &out);
    }
    return bad ? &cbx_values_unknown
               : cbx_values_number(py->arena, cbx_arena_number(py->arena, out), out);
}

static bool is_path(const struct cbx_value *v)
{
    return v->kind == CBX_V_NAME && v->number == CBX_NAME_OBJECT && v->count == 1 &&
           cbx_str_is(v->text, "pathlib.Path");
}

/* Returns true for a text that is known completely or in part. */
static bool is_textual(const struct cbx_value *v)
{
    return v->kind == CBX_V_TEXT || (v->kind == CBX_V_UNKNOWN && v->text.len > 0);
}

bool cbx_py_is_symbolic(const struct cbx_value *v)
{
    return v->kind == CBX_V_NAME && v->number == CBX_NAME_OBJECT &&
           cbx_str_is(v->text, "sympy.Basic");
}

static uint32_t gap_of(struct cbx_walk *py, const struct cbx_value *v)
{
    uint32_t gaps = 0;
    cbx_values_piece(cbx_values_one(py->arena, v), &gaps);
    return gaps;
}

/* Concatenates texts: '/home/' + name. */
static const struct cbx_values *join_texts(struct cbx_walk *py, const struct cbx_value *a,
                                           const struct cbx_value *b)
{
    uint32_t gaps = CBX_UNKNOWN_BUILT | gap_of(py, a) | gap_of(py, b);
    struct cbx_str out = is_textual(a) ? a->text : CBX_STR("*");
    return cbx_values_built(
        py->arena, cbx_fold_concat(py->arena, out, is_textual(b) ? b->text : CBX_STR("*")), gaps);
}

static const struct cbx_values *join_lists(struct cbx_walk *py, const struct cbx_value *a,
                                           const struct cbx_value *b)
{
    uint32_t count = a->count + b->count;
    const struct cbx_values **members =
        count <= CBX_MEMBERS_MAX && a->number == 0 && b->number == 0
            ? cbx_arena_array(py->arena, count + 1u, sizeof(*members))
            : NULL;
    for (uint32_t i = 0; members != NULL && i < count; i++) {
        members[i] = i < a->count ? a->members[i] : b->members[i - a->count];
    }
    return cbx_values_list(py->arena, members, count);
}

static const struct cbx_values *eval_pair(struct cbx_walk *py, struct cbx_str op,
                                          const struct cbx_value *a, const struct cbx_value *b)
{
    bool plus = cbx_str_is(op, "+"), times = cbx_str_is(op, "*");
    if (a->kind == CBX_V_NUMBER && b->kind == CBX_V_NUMBER && a->count + b->count == 0) {
        return eval_arithmetic(py, op, a->number, b->number);
    }
    if (plus && a->kind == CBX_V_TEXT && b->kind == CBX_V_TEXT) {
        struct cbx_str out = cbx_fold_concat(py->arena, a->text, b->text);
        return a->number == CBX_TEXT_BYTES ? cbx_values_bytes(py->arena, out)
                                           : cbx_values_text(py->arena, out);
    }
    if (plus && (is_textual(a) || is_textual(b))) {
        return join_texts(py, a, b);
    }
    if (plus && a->kind == CBX_V_LIST && b->kind == CBX_V_LIST) {
        return join_lists(py, a, b);
    }
    if (times && (a->kind == CBX_V_TEXT || a->kind == CBX_V_LIST) && b->kind == CBX_V_NUMBER &&
        b->count == 0) {
        return repeat(py, a, b->number);
    }
    if (times && a->kind == CBX_V_NUMBER && a->count == 0 && b->kind == CBX_V_TEXT) {
        return repeat(py, b, a->number);
    }
    if (cbx_str_is(op, "|") && a->kind == CBX_V_MAP && b->kind == CBX_V_MAP) {
        return cbx_values_join(py->arena, cbx_values_one(py->arena, a),
                               cbx_values_one(py->arena, b));
    }
    if (cbx_str_is(op, "/") && (is_path(a) || is_path(b))) {
        struct cbx_actuals actuals = { 0 };
        cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, NULL, NULL, cbx_values_one(py->arena, a));
        cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, NULL, NULL, cbx_values_one(py->arena, b));
        return cbx_py_apply(py, cbx_values_name(py->arena, CBX_STR("pathlib.Path")), &actuals,
                            py->module);
    }
    if (cbx_py_is_symbolic(a) || cbx_py_is_symbolic(b)) {
        return cbx_values_one(py->arena, cbx_py_is_symbolic(a) ? a : b);
    }
    const uint32_t kept = CBX_UNKNOWN_TEXT | CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT;
    if (cbx_str_is(op, "|")) { /* a mapping with what the other has: d | os.environ */
        uint32_t flags =
            cbx_py_flags(cbx_values_one(py->arena, a)) | cbx_py_flags(cbx_values_one(py->arena, b));
        return cbx_values_marked(py->arena, flags & kept & ~(uint32_t)CBX_UNKNOWN_TEXT);
    }
    return cbx_values_marked(py->arena, plus ? (gap_of(py, a) | gap_of(py, b)) & kept : 0);
}

const struct cbx_values *cbx_py_operator(struct cbx_walk *py, struct cbx_str op,
                                         const struct cbx_values *left,
                                         const struct cbx_values *right)
{
    const struct cbx_values *out = &cbx_values_nothing;
    if (left->count * right->count > CROSS_MAX) {
        return &cbx_values_unknown;
    }
    for (uint32_t i = 0; i < left->count; i++) {
        if (left->items[i]->kind == CBX_V_TEXT && cbx_str_is(op, "%")) {
            uint32_t flags = cbx_py_flags(right) & (CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT);
            out = cbx_values_join(py->arena, out, cbx_py_percent(py, left->items[i]->text, right));
            out = flags != 0 ? cbx_values_join(py->arena, out, cbx_values_marked(py->arena, flags))
                             : out;
            continue;
        }
        for (uint32_t k = 0; k < right->count; k++) {
            out =
                cbx_values_join(py->arena, out, eval_pair(py, op, left->items[i], right->items[k]));
        }
    }
    return cbx_values_some(out);
}
