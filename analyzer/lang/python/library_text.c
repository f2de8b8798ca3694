/* SPDX-License-Identifier: MIT
 * Texts that libraries evaluate: formulas, symbolic expressions, expressions over columns,
 * arguments of mappers, types as texts. evaluated.def lists the arguments and their languages. A
 * constant text is judged as Python, after its operators that Python lacks are replaced; any other
 * text gives a fact. */
#include "analyzer/facts/sinks.h"
#include "analyzer/lang/python/internal.h"

#include <ctype.h>
#include <pthread.h>

enum language { FORMULA, SYMPY, PANDAS, MAPPER, ANNOTATION, ARGUMENTS, PYTHON, OBJECT, NONE };
enum unknown { DENIED, DATA, OUTSIDE, ALLOWED };
enum { ANY = 255, DEPTH_MAX = 4, MEMBERS_MAX = 64 };

struct row {
    struct cbx_str name;
    enum language language;
    uint32_t position;
    const char *keyword;
    enum unknown unknown;
};

static const struct row rows[] = {
#define CBX_EVALUATES(name, language, position, keyword, unknown)                                  \
    { CBX_LITERAL(name), language, position, keyword, unknown },
#include "analyzer/lang/python/evaluated.def"
#undef CBX_EVALUATES
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* --- languages -------------------------------------------------------------------------------- */

/* Returns a copy with room for one more character, for changes in place; NULL if the arena is
 * exhausted. */
static char *copy_of(struct cbx_walk *py, struct cbx_str text)
{
    char *copy = cbx_arena_alloc(py->arena, text.len + 1);
    if (copy != NULL && text.len > 0) {
        memcpy(copy, text.p, text.len);
    }
    return copy;
}

/* Returns the index after the string that begins at `at`. */
static size_t skip_string(struct cbx_str text, size_t at)
{
    char quote = text.p[at++];
    while (at < text.len && text.p[at] != quote) {
        at += text.p[at] == '\\' ? 2 : 1;
    }
    return at + 1;
}

/* Converts y ~ a:b to y , a*b: operators that Python does not have, outside of strings,
 * subscripts and dictionaries. */
static struct cbx_str from_formula(struct cbx_walk *py, struct cbx_str text)
{
    char *copy = copy_of(py, text);
    int depth = 0;
    bool lambda = false;
    for (size_t i = 0; copy != NULL && i < text.len; i++) {
        char c = text.p[i];
        if (c == '"' || c == '\'') {
            i = skip_string(text, i) - 1;
            continue;
        }
        lambda |= c == 'l' && cbx_str_starts(cbx_str_sub(text, i, text.len), CBX_STR("lambda"));
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        bool first = i == 0 || cbx_fold_trim(cbx_str_sub(text, 0, i)).len == 0;
        if (c == '~' && depth == 0) {
            copy[i] = first ? ' ' : ',';
        } else if (c == ':' && depth == 0 && !lambda) {
            copy[i] = '*';
        }
        lambda &= c != ':';
    }
    return (struct cbx_str){ .p = copy, .len = copy != NULL ? text.len : 0 };
}

/* Converts the names of pandas: @name is a variable of Python, `a b` a column. */
static struct cbx_str from_pandas(struct cbx_walk *py, struct cbx_str text)
{
    char *copy = copy_of(py, text);
    bool column = false;
    for (size_t i = 0; copy != NULL && i < text.len; i++) {
        column ^= text.p[i] == '`';
        if (text.p[i] == '@') {
            copy[i] = ' ';
        } else if (column || text.p[i] == '`') {
            copy[i] = 'c';
        }
    }
    return (struct cbx_str){ .p = copy, .len = copy != NULL ? text.len : 0 };
}

/* Adds an import of sympy's functions that evaluate texts: they are in scope for a text that
 * sympy evaluates. */
static struct cbx_str from_sympy(struct cbx_walk *py, struct cbx_str text)
{
    static const char names[] = "from sympy import S, N, sympify, parse_expr, lambdify, simplify, "
                                "solve, Eq, Matrix, nsimplify, plot, test, doctest\n(";
    struct cbx_str out = cbx_fold_concat(py->arena, CBX_STR(names), cbx_fold_trim(text));
    return cbx_fold_concat(py->arena, out, CBX_STR(")"));
}

/* Converts the name of an object, package.module.name or package.module:name, to its import. */
static struct cbx_str from_object(struct cbx_walk *py, struct cbx_str text)
{
    size_t at = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool part = isalnum((unsigned char)text.p[i]) != 0 || text.p[i] == '_';
        if (!part && text.p[i] != '.' && text.p[i] != ':') {
            return (struct cbx_str){ 0 };
        }
        at = part ? at : i;
    }
    struct cbx_str code = cbx_fold_concat(py->arena, CBX_STR("from "), cbx_str_sub(text, 0, at));
    code = cbx_fold_concat(py->arena, code, CBX_STR(" import "));
    return cbx_fold_concat(py->arena, code, cbx_str_sub(text, at + 1, text.len));
}

/* Returns true for a text in which Python only looks names up: a type, a column, a number; for the
 * name of an object without a module. */
static bool is_plain(enum language language, struct cbx_str text)
{
    if (language == OBJECT) {
        return memchr(text.p, '.', text.len) == NULL && memchr(text.p, ':', text.len) == NULL;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == '(' || c == '@' || (c == '_' && i + 1 < text.len && text.p[i + 1] == '_') ||
            (c == '.' && language != ANNOTATION && i + 1 < text.len &&
             isalpha((unsigned char)text.p[i + 1]) != 0)) {
            return false;
        }
    }
    return true;
}

static struct cbx_str as_python(struct cbx_walk *py, enum language language, struct cbx_str text)
{
    switch (language) {
    case FORMULA:
        return from_formula(py, text);
    case PANDAS:
        return from_pandas(py, text);
    case SYMPY:
        return from_sympy(py, text);
    case OBJECT:
        return from_object(py, text);
    case ARGUMENTS:
        return cbx_fold_concat(py->arena, cbx_fold_concat(py->arena, CBX_STR("_("), text),
                               CBX_STR(")"));
    default:
        return cbx_fold_trim(text);
    }
}

/* Returns a powerful name that is called in a text which Python's grammar does not read; empty
 * if there is none. */
static struct cbx_str find_power(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        size_t end = i;
        while (end < text.len && (isalnum((unsigned char)text.p[end]) != 0 || text.p[end] == '_')) {
            end++;
        }
        struct cbx_str name = cbx_str_sub(text, i, end);
        while (name.len > 0 && isdigit((unsigned char)name.p[0]) != 0) {
            name = cbx_str_sub(name, 1, name.len);
        }
        bool called = end < text.len && text.p[end] == '(' && name.len > 0 &&
                      cbx_sinks_of(CBX_PYTHON, name) != 0;
        if (called || cbx_str_starts(name, CBX_STR("__")) || cbx_str_is(name, "import")) {
            return name;
        }
        i = end;
    }
    return CBX_STR("");
}

static void judge(struct cbx_walk *py, enum language language, struct cbx_str text,
                  const struct cbx_node *node)
{
    if (is_plain(language, text) || language == NONE) {
        return;
    }
    const char *dunder = memmem(text.p, text.len, ".__", 3);
    if (dunder != NULL) { /* no expression over columns or symbols has such an attribute */
        size_t at = (size_t)(dunder - text.p) + 1;
        cbx_py_special(py, CBX_FACT_DUNDER_WALK, cbx_str_sub(text, at, text.len), node);
    }
    struct cbx_str code = as_python(py, language, text);
    bool own = language == SYMPY || language == MAPPER;
    if (code.p == NULL || cbx_py_judge_loosely(py, code, node, own)) {
        return;
    }
    struct cbx_str power = find_power(text);
    if (power.len > 0) {
        cbx_py_special(py, CBX_FACT_LIBRARY_CODE, power, node);
    }
}

/* --- arguments -------------------------------------------------------------------------------- */

/* The possible values of one argument. */
struct evaluated {
    const struct row *row;
    const struct cbx_node *call;
    /* properties of at least one alternative: a text built of data, a text from outside of the
     * program, an unknown value, an expression of sympy */
    bool data, outside, unknown, symbolic;
};

static bool is_denied(const struct evaluated *e)
{
    switch (e->row->unknown) {
    case DENIED:
        return e->data || (e->unknown && !e->symbolic);
    case DATA:
        return e->data;
    case OUTSIDE:
        return e->outside;
    default:
        return false;
    }
}

static void judge_values(struct cbx_walk *py, struct evaluated *e, const struct cbx_values *values,
                         int depth)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool container = v->kind == CBX_V_LIST || v->kind == CBX_V_MAP;
        e->symbolic |= cbx_py_is_symbolic(v);
        if (v->kind == CBX_V_TEXT) {
            judge(py, e->row->language, v->text, e->call);
        } else if (v->kind == CBX_V_UNKNOWN) {
            bool data = (v->number & (CBX_UNKNOWN_TEXT | CBX_UNKNOWN_BUILT)) != 0,
                 outside = (v->number & CBX_UNKNOWN_TEXT) != 0,
                 caller = (v->number & CBX_UNKNOWN_CALLER) != 0;
            e->data |= data && !caller;
            e->outside |= outside && !caller;
            e->unknown |= !caller;
        }
        for (uint32_t k = 0; container && depth < DEPTH_MAX && k < v->count; k++) {
            if (k < MEMBERS_MAX) {
                judge_values(py, e, v->members[k], depth + 1);
            }
        }
    }
}

/* Returns true for x.design_info: patsy's own description of a formula. */
static bool is_design(struct cbx_walk *py, const struct cbx_actual *actual)
{
    const struct cbx_node *name = cbx_py_kind(actual->node) == PY_attribute
                                      ? cbx_child_of(actual->node, CBX_FIELD_attribute)
                                      : NULL;
    return name != NULL && cbx_str_is(cbx_walk_text(py, name), "design_info");
}

static bool is_evaluated(const struct row *row, const struct cbx_actual *actual, uint32_t position)
{
    bool keyword = actual->keyword.len > 0;
    if (keyword) {
        return cbx_str_is(actual->keyword, row->keyword) || row->keyword[0] == '*';
    }
    return position == row->position || (row->position == ANY && row->keyword[0] == '\0');
}

static void judge_arguments(struct cbx_walk *py, const struct row *row, struct cbx_str callee,
                            struct cbx_actuals *actuals, const struct cbx_node *call)
{
    struct evaluated e = { .row = row, .call = call, .unknown = actuals->spread };
    uint32_t position = 0;
    for (uint32_t i = 0; i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        uint32_t at = a->keyword.len > 0 ? UINT32_MAX : position++;
        if (!is_evaluated(row, a, at) || is_design(py, a)) {
            continue;
        }
        a->values = a->values != NULL ? a->values : cbx_py_eval(py, a->node, a->scope);
        e.unknown = false; /* `*more` follows this argument */
        judge_values(py, &e, a->values, 0);
    }
    if (is_denied(&e)) {
        cbx_py_special(py, CBX_FACT_LIBRARY_CODE, cbx_arena_copy(py->arena, callee), call);
    }
}

/* Returns the rank of a row that covers the callable: the length of its name, one more for an exact
 * name; 0 if the row does not cover the callable. */
static size_t covers(const struct row *row, struct cbx_str callee)
{
    size_t len = row->name.len;
    bool all = len > 2 && row->name.p[len - 1] == '*';
    if (all) { /* `import *` also gives a builtin the name of a member */
        return cbx_str_starts(callee, cbx_str_sub(row->name, 0, len - 1)) &&
                       !cbx_py_is_given(cbx_str_sub(callee, len - 1, callee.len))
                   ? len
                   : 0;
    }
    return cbx_str_equal(row->name, callee) ? len + 1 : 0;
}

/* Set of the hashes of all rows' names, without their '*', as bits: a quick test, because no row
 * covers most callables. */
enum { NAME_BITS = 4096 };
static uint64_t name_bits[NAME_BITS / 64];
static pthread_once_t name_bits_once = PTHREAD_ONCE_INIT;

static uint32_t step(uint32_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * 16777619u;
}

static uint32_t bit_of(uint32_t hash)
{
    return (hash ^ hash >> 15) % NAME_BITS;
}

static void fill_name_bits(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t len = rows[i].name.len - (rows[i].name.p[rows[i].name.len - 1] == '*');
        uint32_t hash = 0;
        for (size_t k = 0; k < len; k++) {
            hash = step(hash, rows[i].name.p[k]);
        }
        name_bits[bit_of(hash) / 64] |= 1ull << bit_of(hash) % 64;
    }
}

/* Returns false if certainly no row covers the callable: no beginning of its name has a bit. */
static bool may_be_covered(struct cbx_str callee)
{
    pthread_once(&name_bits_once, fill_name_bits);
    uint32_t hash = 0;
    for (size_t i = 0; i < callee.len; i++) {
        hash = step(hash, callee.p[i]);
        if ((name_bits[bit_of(hash) / 64] >> bit_of(hash) % 64 & 1) != 0) {
            return true;
        }
    }
    return false;
}

/* sympy.core.symbol.Symbol is sympy.Symbol. */
static struct cbx_str without_modules(struct cbx_walk *py, struct cbx_str callee)
{
    const char *dot = callee.len > 0 ? memrchr(callee.p, '.', callee.len) : NULL;
    if (dot == NULL || !cbx_str_starts(callee, CBX_STR("sympy."))) {
        return callee;
    }
    return cbx_fold_concat(py->arena, CBX_STR("sympy"),
                           cbx_str_sub(callee, (size_t)(dot - callee.p), callee.len));
}

static size_t covers_any(const struct row *row, struct cbx_str callee, struct cbx_str other)
{
    size_t a = covers(row, callee), b = covers(row, other);
    return a > b ? a : b;
}

void cbx_py_extract_evaluated(struct cbx_walk *py, struct cbx_str callee,
                              struct cbx_actuals *actuals, const struct cbx_node *call)
{
    struct cbx_str other = without_modules(py, callee);
    size_t best = 0;
    if (!may_be_covered(callee) && !may_be_covered(other)) {
        return;
    }
    for (size_t i = 0; i < ROWS; i++) {
        size_t len = covers_any(&rows[i], callee, other);
        best = len > best ? len : best;
    }
    for (size_t i = 0; best > 0 && i < ROWS; i++) {
        if (covers_any(&rows[i], callee, other) == best) {
            judge_arguments(py, &rows[i], callee, actuals, call);
        }
    }
}

/* --- types ------------------------------------------------------------------------------------ */

static void judge_type(struct cbx_walk *py, struct cbx_node *node)
{
    static const struct row annotation = { .language = ANNOTATION, .unknown = DATA };
    struct evaluated e = { .row = &annotation, .call = node };
    judge_values(py, &e, cbx_py_eval(py, node, cbx_scope_around(py, node)), 0);
    if (is_denied(&e)) {
        cbx_py_special(py, CBX_FACT_LIBRARY_CODE, CBX_STR("annotation"), node);
    }
}

/* Returns the number of a generic type's arguments that are types: none of Literal, one of
 * Annotated, else all. */
static uint32_t count_types(struct cbx_str generic)
{
    const char *dot = generic.len > 0 ? memrchr(generic.p, '.', generic.len) : NULL;
    struct cbx_str last =
        dot != NULL ? cbx_str_sub(generic, (size_t)(dot - generic.p) + 1, generic.len) : generic;
    if (cbx_str_is(last, "Literal")) {
        return 0;
    }
    return cbx_str_is(last, "Annotated") ? 1 : UINT32_MAX;
}

void cbx_py_extract_annotation(struct cbx_walk *py, struct cbx_node *type)
{
    struct cbx_node *parameter = type->parent;
    if (cbx_py_kind(parameter) == PY_type_parameter) {
        uint32_t at = 0;
        for (struct cbx_node *t = parameter->first; t != NULL && t != type; t = t->next) {
            at += t->named;
        }
        if (at >= count_types(cbx_walk_text(py, cbx_child_at(parameter->parent, 0)))) {
            return;
        }
    }
    struct cbx_node *child = cbx_child_at(type, 0);
    switch (cbx_py_kind(child)) {
    case PY_string:
    case PY_concatenated_string:
    case PY_identifier:
    case PY_call:
        judge_type(py, child);
        return;
    default:
        return;
    }
}

/* Handles typing.Optional["code()"], and texts that are no constants. */
void cbx_py_extract_generic(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *key = cbx_child_of(node, CBX_FIELD_subscript);
    const struct cbx_values *values = cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_value), scope);
    const struct cbx_value *v = values->count == 1 ? values->items[0] : NULL;
    if (v == NULL || v->kind != CBX_V_NAME || !cbx_str_starts(v->text, CBX_STR("typing"))) {
        return;
    }
    uint32_t types = count_types(v->text), seen = 0;
    for (; key != NULL; key = key->next) { /* every subscript of x[a, b] is a child */
        if (key->named && seen++ < types && cbx_py_kind(key) != PY_comment) {
            judge_type(py, key);
        }
    }
}

/* Returns true for types, and for mappings from constant names to types. */
static bool are_types(const struct cbx_values *values)
{
    bool types = values->count > 0;
    for (uint32_t i = 0; types && i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        types = v->kind == CBX_V_NAME || v->kind == CBX_V_FUNCTION ||
                (v->kind == CBX_V_MAP && v->number == 0);
        for (uint32_t k = 0; types && v->kind == CBX_V_MAP && k < v->count; k++) {
            enum cbx_value_kind kind = v->members[k]->items[0]->kind;
            types = v->members[k]->count == 1 && v->keys[k].p[0] != '\xff' &&
                    (kind == CBX_V_NAME || kind == CBX_V_FUNCTION);
        }
    }
    return types;
}

void cbx_py_check_annotations(struct cbx_walk *py, const struct cbx_values *values,
                              const struct cbx_node *node)
{
    if (!are_types(values)) {
        cbx_py_special(py, CBX_FACT_DYNAMIC_CODE, CBX_STR("__annotations__"), node);
    }
}

/* Returns true for f.__annotations__.update. */
static bool changes_annotations(struct cbx_walk *py, const struct cbx_node *function)
{
    static const char *const methods[] = { "update", "setdefault", "__setitem__", "__ior__" };
    const struct cbx_node *object = cbx_child_of(function, CBX_FIELD_object);
    if (cbx_py_kind(object) != PY_attribute ||
        !cbx_str_is(cbx_walk_text(py, cbx_child_of(object, CBX_FIELD_attribute)),
                    "__annotations__")) {
        return false;
    }
    struct cbx_str name = cbx_walk_text(py, cbx_child_of(function, CBX_FIELD_attribute));
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (cbx_str_is(name, methods[i])) {
            return true;
        }
    }
    return false;
}

void cbx_py_extract_annotation_change(struct cbx_walk *py, const struct cbx_node *function)
{
    if (changes_annotations(py, function)) {
        cbx_py_special(py, CBX_FACT_DYNAMIC_CODE, CBX_STR("__annotations__"), function);
    }
}

void cbx_py_extract_annotations(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *target =
        cbx_child_of(node, cbx_py_kind(node) == PY_pair ? CBX_FIELD_key : CBX_FIELD_left);
    while (cbx_py_kind(target) == PY_subscript) {
        target = cbx_child_of(target, CBX_FIELD_value);
    }
    struct cbx_str name = { 0 };
    if (cbx_py_kind(target) == PY_attribute) {
        name = cbx_py_text(py, cbx_child_of(target, CBX_FIELD_attribute));
    } else if (cbx_py_kind(target) == PY_string) {
        name = cbx_walk_text(py, cbx_child_at(target, 1));
    }
    struct cbx_node *value =
        cbx_child_of(node, cbx_py_kind(node) == PY_pair ? CBX_FIELD_value : CBX_FIELD_right);
    if (cbx_str_is(name, "__annotations__")) {
        cbx_py_check_annotations(py, cbx_py_eval(py, value, scope), node);
    }
}
