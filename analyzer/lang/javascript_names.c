/* SPDX-License-Identifier: MIT
 * What the JavaScript extractor knows about names: the tables of javascript_names.def. */
#include "analyzer/lang/javascript.h"

#define CBX_ALIAS(name, means)
#define CBX_CALL(name, meaning)
#define CBX_RUNS(name, language)
#define CBX_GLOBAL(name)

struct cbx_str cbx_js_canonical(struct cbx_str name)
{
    static const struct cbx_name_row rows[] = {
#undef CBX_ALIAS
#define CBX_ALIAS(name, means) { name, means, 0 },
#include "analyzer/lang/javascript_names.def"
#undef CBX_ALIAS
#define CBX_ALIAS(name, means)
    };
    const char *means = cbx_name_find(rows, sizeof(rows) / sizeof(rows[0]), name)->text;
    return means != NULL ? cbx_str_of(means) : name;
}

enum cbx_js_call cbx_js_call_meaning(struct cbx_str name)
{
    static const struct cbx_name_row rows[] = {
#undef CBX_CALL
#define CBX_CALL(name, meaning) { name, NULL, JS_CALL_##meaning },
#include "analyzer/lang/javascript_names.def"
#undef CBX_CALL
#define CBX_CALL(name, meaning)
    };
    return (enum cbx_js_call)cbx_name_find(rows, sizeof(rows) / sizeof(rows[0]), name)->number;
}

const char *cbx_js_runs(struct cbx_str name)
{
    static const struct cbx_name_row rows[] = {
#undef CBX_RUNS
#define CBX_RUNS(name, language) { name, language, 0 },
#include "analyzer/lang/javascript_names.def"
#undef CBX_RUNS
#define CBX_RUNS(name, language)
    };
    return cbx_name_find(rows, sizeof(rows) / sizeof(rows[0]), name)->text;
}

bool cbx_js_is_global_object(struct cbx_str name)
{
    static const struct cbx_name_row rows[] = {
#undef CBX_GLOBAL
#define CBX_GLOBAL(name) { name, NULL, 1 },
#include "analyzer/lang/javascript_names.def"
#undef CBX_GLOBAL
#define CBX_GLOBAL(name)
    };
    return cbx_name_find(rows, sizeof(rows) / sizeof(rows[0]), name)->number != 0;
}
