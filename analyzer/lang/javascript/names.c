/* SPDX-License-Identifier: MIT
 * The table of JavaScript names: names.def. */
#include "analyzer/lang/javascript/internal.h"

#include <pthread.h>

enum what {
    ALIAS,
    MEANING,
    RUNS,
    GLOBAL,
    POWER,
    CHANGES,
    SERVER,
    WRAPPER,
    SENDS,
    KEEPS,
    ENVIRONMENT,
    FOLDER
};

static const struct cbx_name_row rows[] = {
#define CBX_ROW(what, name, text, number, more)                                                    \
    { what, CBX_LITERAL(name), CBX_LITERAL(text), number, more },
#include "analyzer/lang/javascript/names.def"
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) < CBX_NAMES_SLOTS / 2, "more slots are needed");

static struct cbx_names names = { .rows = rows, .count = sizeof(rows) / sizeof(rows[0]) };
static uint64_t powerful_bits;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void fill_names(void)
{
    cbx_names_fill(&names);
    for (size_t i = 0; i < names.count; i++) {
        powerful_bits |= rows[i].what == POWER ? cbx_name_bit(rows[i].name) : 0;
    }
}

static const struct cbx_name_row *find(enum what what, struct cbx_str name)
{
    pthread_once(&names_once, fill_names);
    return cbx_names_find(&names, (uint8_t)what, name);
}

struct cbx_str cbx_js_canonical(struct cbx_str name)
{
    const struct cbx_name_row *row = find(ALIAS, name);
    return row != NULL ? row->text : name;
}

enum cbx_js_call cbx_js_call_meaning(struct cbx_str name)
{
    const struct cbx_name_row *row = find(MEANING, name);
    return row != NULL ? (enum cbx_js_call)row->number : JS_CALL_NONE;
}

const char *cbx_js_runs(struct cbx_str name)
{
    const struct cbx_name_row *row = find(RUNS, name);
    return row != NULL ? row->text.p : NULL;
}

bool cbx_js_is_global_object(struct cbx_str name)
{
    return find(GLOBAL, name) != NULL;
}

bool cbx_js_changes(struct cbx_str method)
{
    return find(CHANGES, method) != NULL;
}

bool cbx_js_keeps(struct cbx_str method)
{
    return find(KEEPS, method) != NULL;
}

bool cbx_js_is_powerful(struct cbx_str name)
{
    return find(POWER, name) != NULL;
}

uint64_t cbx_js_powerful_bits(void)
{
    pthread_once(&names_once, fill_names);
    return powerful_bits;
}

struct cbx_str cbx_js_module(struct cbx_str specifier)
{
    return cbx_str_starts(specifier, CBX_STR("node:")) ? cbx_str_sub(specifier, 5, specifier.len)
                                                       : specifier;
}

bool cbx_js_sends(struct cbx_str name)
{
    const char *dot = name.len > 0 ? memchr(name.p, '.', name.len) : NULL;
    return find(SENDS, dot != NULL ? cbx_str_sub(name, 0, (size_t)(dot - name.p)) : name) != NULL;
}

struct cbx_str cbx_js_wrapper(struct cbx_str name)
{
    const char *dot = name.len > 0 ? memchr(name.p, '.', name.len) : NULL;
    struct cbx_str library = dot != NULL ? cbx_str_sub(name, 0, (size_t)(dot - name.p)) : name;
    return find(WRAPPER, library) != NULL ? library : CBX_STR("");
}

struct cbx_str cbx_js_folder(struct cbx_str name)
{
    const struct cbx_name_row *row = find(FOLDER, name);
    return row != NULL ? row->text : CBX_STR("");
}

size_t cbx_js_environment(struct cbx_str name)
{
    size_t len = name.len;
    while (len > 0 && find(ENVIRONMENT, cbx_str_sub(name, 0, len)) == NULL) {
        const char *dot = memrchr(name.p, '.', len);
        len = dot != NULL ? (size_t)(dot - name.p) : 0;
    }
    return len;
}

bool cbx_js_is_server(struct cbx_str module)
{
    return find(SERVER, module) != NULL;
}
