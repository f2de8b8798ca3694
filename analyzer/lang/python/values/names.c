/* SPDX-License-Identifier: MIT
 * The table of Python names: names.def. */
#include "analyzer/lang/python/internal.h"

#include <ctype.h>
#include <pthread.h>

enum { NAME_MAX_BYTES = 512 }; /* longer than any name of a table or policy */

enum what {
    ALIAS,
    PREFIX,
    HOP,
    ANYWHERE,
    MEANING,
    RUNS,
    RUNS_TOO,
    THROUGH,
    MAKES,
    DUNDER,
    CLIMB,
    CONST,
    PLAIN,
    CHANGES,
    COMMON,
    JUDGED,
    GIVES,
    OWNED,
    SENDS
};

enum {
    TEXT = CBX_UNKNOWN_TEXT,
    SECRET = CBX_UNKNOWN_SECRET,
    NAMES = CBX_UNKNOWN_NAMES,
    NUMBER = CBX_UNKNOWN_NUMBER,
    ENVIRONMENT = CBX_UNKNOWN_ENVIRONMENT,
    CARRIES = CBX_PY_CARRIES,
    HOLDS = CBX_PY_HOLDS
};

static const struct cbx_name_row rows[] = {
#define CBX_ROW(what, name, text, number, more)                                                    \
    { what, CBX_LITERAL(name), CBX_LITERAL(text), number, more },
#include "analyzer/lang/python/values/names.def"
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) < CBX_NAMES_SLOTS / 2, "more slots are needed");

static struct cbx_names names = { .rows = rows, .count = sizeof(rows) / sizeof(rows[0]) };
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void fill_names(void)
{
    cbx_names_fill(&names);
}

static const struct cbx_name_row *find(enum what what, struct cbx_str name)
{
    pthread_once(&names_once, fill_names);
    return cbx_names_find(&names, (uint8_t)what, name);
}

/* Returns the row of the longest prefix "a.b." of the name; NULL if there is none. */
static const struct cbx_name_row *find_prefix(struct cbx_str name)
{
    for (size_t len = name.len; len > 0; len--) {
        const struct cbx_name_row *row =
            name.p[len - 1] == '.' ? find(PREFIX, cbx_str_sub(name, 0, len)) : NULL;
        if (row != NULL) {
            return row;
        }
    }
    return NULL;
}

struct cbx_str cbx_py_canonical(struct cbx_walk *py, struct cbx_str name)
{
    if (name.len > NAME_MAX_BYTES) {
        return name;
    }
    const struct cbx_name_row *row = find(ALIAS, name);
    if (row != NULL) {
        return row->text;
    }
    row = find_prefix(name);
    if (row != NULL) {
        return cbx_fold_concat(py->arena, row->text, cbx_str_sub(name, row->name.len, name.len));
    }
    char dotted[64];
    if (name.len + 1 >= sizeof(dotted) || name.len == 0) {
        return name;
    }
    memcpy(dotted, name.p, name.len); /* the module's own name: np is numpy */
    dotted[name.len] = '.';
    row = find(PREFIX, (struct cbx_str){ .p = dotted, .len = name.len + 1 });
    return row != NULL && row->text.len > 0 ? cbx_str_sub(row->text, 0, row->text.len - 1) : name;
}

enum cbx_py_call cbx_py_call_meaning(struct cbx_str name)
{
    const struct cbx_name_row *row = find(MEANING, name);
    return row != NULL ? (enum cbx_py_call)row->number : PY_CALL_NONE;
}

const char *cbx_py_runs(struct cbx_str name, uint32_t n, uint32_t *position, const char **keyword)
{
    const struct cbx_name_row *row = n == 0 ? find(RUNS, name) : find(RUNS_TOO, name);
    *keyword = row != NULL && row->more[0] != '\0' ? row->more : NULL;
    *position = row != NULL ? (uint32_t)row->number : 0;
    return row != NULL ? row->text.p : NULL;
}

bool cbx_py_judges_constant(struct cbx_str name)
{
    return find(JUDGED, name) != NULL;
}

bool cbx_py_calls_through(struct cbx_str name, uint32_t *function, uint32_t *first)
{
    const struct cbx_name_row *row = find(THROUGH, name);
    if (row != NULL) {
        *function = (uint32_t)row->number / 100;
        *first = (uint32_t)row->number % 100;
    }
    return row != NULL;
}

/* Returns the row "package.*" of a name in a package; NULL if there is none. */
static const struct cbx_name_row *find_package(enum what what, struct cbx_str name)
{
    char all[24];
    const char *dot = name.len > 0 ? memchr(name.p, '.', name.len) : NULL;
    size_t len = dot != NULL ? (size_t)(dot - name.p) : sizeof(all);
    if (len + 3 > sizeof(all)) {
        return NULL;
    }
    snprintf(all, sizeof(all), "%.*s.*", (int)len, name.p);
    return find(what, cbx_str_of(all));
}

const char *cbx_py_makes(struct cbx_str name)
{
    const struct cbx_name_row *row = find(MAKES, name);
    row = row == NULL && find(GIVES, name) == NULL ? find_package(MAKES, name) : row;
    return row != NULL ? row->text.p : NULL;
}

bool cbx_py_is_dunder(struct cbx_str name)
{
    return name.len >= 3 && find(DUNDER, name) != NULL;
}

bool cbx_py_may_be_dunder(struct cbx_str pattern)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].what == DUNDER && cbx_str_glob(pattern, rows[i].name)) {
            return true;
        }
    }
    return false;
}

static size_t count_letters(struct cbx_str text)
{
    size_t letters = 0;
    for (size_t i = 0; i < text.len; i++) {
        letters += text.p[i] != '_';
    }
    return letters;
}

/* Returns true for a word of an attribute's name that few other names have: "closure", not
 * "frame". */
static bool is_rare_word(struct cbx_str word)
{
    static const char *const common[] = { "import", "frame", "trace",  "await",  "origin",
                                          "loader", "spec",  "module", "frames", "class" };
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
        if (cbx_str_is(word, common[i])) {
            return false;
        }
    }
    return word.len > 4;
}

/* Returns true if a rare word of the name begins with the text. */
static bool begins_word(struct cbx_str name, struct cbx_str text)
{
    for (size_t i = 0; i < name.len;) {
        size_t end = i;
        while (end < name.len && name.p[end] != '_') {
            end++;
        }
        struct cbx_str word = cbx_str_sub(name, i, end);
        if (is_rare_word(word) && cbx_str_starts(word, text)) {
            return true;
        }
        i = end + 1;
    }
    return false;
}

static bool is_part_of_dunder(struct cbx_str text)
{
    static const char harmless[] = "__class__ __name__ __doc__ __dict__ __init__ __module__ "
                                   "__call__ __qualname__ load_module exec_module";
    size_t letters = count_letters(text);
    bool joined = letters < text.len;
    if (letters < 2 || (!joined && letters < 4) ||
        memmem(harmless, sizeof(harmless) - 1, text.p, text.len) != NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cbx_str name = rows[i].name;
        bool part = joined
                        ? name.len >= text.len && memmem(name.p, name.len, text.p, text.len) != NULL
                        : begins_word(name, text);
        if (rows[i].what == DUNDER && part) {
            return true;
        }
    }
    return false;
}

bool cbx_py_is_part_of_dunder(struct cbx_str text)
{
    for (size_t i = 0; i < text.len;) { /* each run of letters in a pattern */
        size_t end = i;
        while (end < text.len && (text.p[end] == '_' || isalpha((unsigned char)text.p[end]) != 0)) {
            end++;
        }
        if (is_part_of_dunder(cbx_str_sub(text, i, end))) {
            return true;
        }
        i = end + 1;
    }
    return false;
}

bool cbx_py_is_owned(struct cbx_str name)
{
    for (size_t len = name.len; len > 0; len--) {
        bool whole = len == name.len || name.p[len] == '.';
        if (whole && find(OWNED, cbx_str_sub(name, 0, len)) != NULL) {
            return true;
        }
    }
    return false;
}

bool cbx_py_changes(struct cbx_str method)
{
    return method.len > 2 && find(CHANGES, method) != NULL;
}

bool cbx_py_is_common(struct cbx_str method)
{
    return find(COMMON, method) != NULL;
}

bool cbx_py_is_plain(struct cbx_str module)
{
    return find(PLAIN, module) != NULL;
}

struct cbx_str cbx_py_constant(struct cbx_str name)
{
    const struct cbx_name_row *row = find(CONST, name);
    return row != NULL ? row->text : (struct cbx_str){ 0 };
}

bool cbx_py_sends(struct cbx_str name)
{
    return find_package(SENDS, name) != NULL || find(SENDS, name) != NULL;
}

uint32_t cbx_py_gives(struct cbx_str name)
{
    const struct cbx_name_row *row = find(GIVES, name);
    return row != NULL ? (uint32_t)row->number : 0;
}

uint32_t cbx_py_gives_anywhere(struct cbx_str attribute)
{
    char name[24];
    if (attribute.len + 3 >= sizeof(name)) {
        return 0;
    }
    snprintf(name, sizeof(name), "*.%.*s", (int)attribute.len, attribute.p);
    return cbx_py_gives(cbx_str_of(name));
}

bool cbx_py_climbs(struct cbx_str name)
{
    return name.len >= 3 && find(CLIMB, name) != NULL;
}

bool cbx_py_is_powerful(struct cbx_str module)
{
    const struct cbx_name_row *row = find(HOP, module);
    return row != NULL && cbx_str_equal(row->text, module);
}

bool cbx_py_holds_more(struct cbx_str name)
{
    return cbx_py_is_powerful(name) || memchr(name.p, '.', name.len) == NULL;
}

const char *cbx_py_module_anywhere(struct cbx_str attribute)
{
    const struct cbx_name_row *row = find(ANYWHERE, attribute);
    return row != NULL ? row->text.p : NULL;
}

/* Returns true for parts of packages that have the names of other modules. */
static bool is_part(struct cbx_str package, struct cbx_str name)
{
    static const char *const parts[][2] = {
        { "asyncio", "subprocess" },   { "torch", "multiprocessing" }, { "torch", "signal" },
        { "scipy", "signal" },         { "trio", "socket" },           { "curio", "socket" },
        { "curio", "subprocess" },     { "anyio", "socket" },          { "concurrent", "code" },
        { "tensorflow", "signal" },    { "jax.scipy", "signal" },      { "cupyx.scipy", "signal" },
        { "multiprocess", "signal" },  { "gevent", "socket" },         { "gevent", "subprocess" },
        { "eventlet.green", "socket" }
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (cbx_str_is(package, parts[i][0]) && cbx_str_is(name, parts[i][1])) {
            return true;
        }
    }
    return false;
}

struct cbx_str cbx_py_qualify(struct cbx_walk *py, const struct cbx_value *object,
                              struct cbx_str attribute)
{
    const struct cbx_name_row *hop =
        object->number != CBX_NAME_BARE && !is_part(object->text, attribute) ? find(HOP, attribute)
                                                                             : NULL;
    if (hop != NULL && object->number != CBX_NAME_OBJECT) {
        return hop->text;
    }
    if (object->text.len + attribute.len > 512) {
        return object->text; /* a.a.a.a...: longer than any name of a policy */
    }
    char *p = cbx_arena_alloc(py->arena, object->text.len + attribute.len + 2);
    if (p == NULL) {
        return object->text;
    }
    memcpy(p, object->text.p, object->text.len);
    p[object->text.len] = '.';
    memcpy(p + object->text.len + 1, attribute.p, attribute.len);
    return cbx_py_canonical(
        py, (struct cbx_str){ .p = p, .len = object->text.len + 1 + attribute.len });
}

void cbx_py_special(struct cbx_walk *py, enum cbx_fact_id id, struct cbx_str name,
                    const struct cbx_node *node)
{
    cbx_facts_add_special(py->facts, id, name, node->start, node->end);
}
