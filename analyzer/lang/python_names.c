/* SPDX-License-Identifier: MIT
 * What the Python extractor knows about names: the tables of python_names.def. */
#include "analyzer/lang/python.h"

#define CBX_ALIAS(name, means)
#define CBX_HOP(name, means)
#define CBX_CALL(name, meaning)
#define CBX_RUNS(name, language)
#define CBX_DUNDER(name)

struct cbx_str cbx_py_canonical(struct cbx_walk *py, struct cbx_str name)
{
    static const struct {
        struct cbx_str from, to;
    } aliases[] = {
#undef CBX_ALIAS
#define CBX_ALIAS(from, to) { { from, sizeof(from) - 1 }, { to, sizeof(to) - 1 } },
#include "analyzer/lang/python_names.def"
#undef CBX_ALIAS
#define CBX_ALIAS(name, means)
    };
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
        bool prefix = cbx_str_ends(aliases[i].from, CBX_STR("."));
        struct cbx_str bare =
            prefix ? cbx_str_sub(aliases[i].from, 0, aliases[i].from.len - 1) : aliases[i].from;
        if (prefix ? cbx_str_starts(name, aliases[i].from) : cbx_str_equal(name, aliases[i].from)) {
            struct cbx_str rest = cbx_str_sub(name, aliases[i].from.len, name.len);
            return cbx_fold_concat(py->arena, aliases[i].to, rest);
        }
        if (prefix && aliases[i].to.len > 0 && cbx_str_equal(name, bare)) {
            return cbx_str_sub(aliases[i].to, 0, aliases[i].to.len - 1);
        }
    }
    return name;
}

static const char *find_hop(struct cbx_str attribute)
{
    static const struct cbx_name_row rows[] = {
#undef CBX_HOP
#define CBX_HOP(name, means) { name, means, 0 },
#include "analyzer/lang/python_names.def"
#undef CBX_HOP
#define CBX_HOP(name, means)
    };
    return cbx_name_find(rows, sizeof(rows) / sizeof(rows[0]), attribute)->text;
}

enum cbx_py_call cbx_py_call_meaning(struct cbx_str name)
{
    static const struct cbx_name_row rows[] = {
#undef CBX_CALL
#define CBX_CALL(name, meaning) { name, NULL, PY_CALL_##meaning },
#include "analyzer/lang/python_names.def"
#undef CBX_CALL
#define CBX_CALL(name, meaning)
    };
    return (enum cbx_py_call)cbx_name_find(rows, sizeof(rows) / sizeof(rows[0]), name)->number;
}

const char *cbx_py_runs(struct cbx_str name)
{
    static const struct cbx_name_row rows[] = {
#undef CBX_RUNS
#define CBX_RUNS(name, language) { name, language, 0 },
#include "analyzer/lang/python_names.def"
#undef CBX_RUNS
#define CBX_RUNS(name, language)
    };
    return cbx_name_find(rows, sizeof(rows) / sizeof(rows[0]), name)->text;
}

bool cbx_py_is_dunder(struct cbx_str name)
{
    static const struct cbx_name_row rows[] = {
#undef CBX_DUNDER
#define CBX_DUNDER(name) { name, NULL, 1 },
#include "analyzer/lang/python_names.def"
#undef CBX_DUNDER
#define CBX_DUNDER(name)
    };
    bool candidate = name.len >= 4 && memchr(name.p, '_', name.len) != NULL;
    return candidate && cbx_name_find(rows, sizeof(rows) / sizeof(rows[0]), name)->number != 0;
}

/* number == 1 marks a name that nothing binds: a builtin, or something of an earlier cell. */
static bool is_bare(const struct cbx_value *value)
{
    return value->number == 1;
}

struct cbx_str cbx_py_qualify(struct cbx_walk *py, const struct cbx_value *object,
                              struct cbx_str attribute)
{
    const char *other = find_hop(attribute);
    bool package = cbx_str_is(object->text, "concurrent") || cbx_str_is(object->text, "asyncio") ||
                   cbx_str_is(object->text, "distutils");
    if (other != NULL && !is_bare(object) && !package) {
        return cbx_str_of(other);
    }
    if (object->text.len + attribute.len > 512) {
        return object->text; /* a.a.a.a...: longer than any name that a policy knows */
    }
    struct cbx_str joined = cbx_fold_concat(py->arena, object->text, CBX_STR("."));
    return cbx_py_canonical(py, cbx_fold_concat(py->arena, joined, attribute));
}
