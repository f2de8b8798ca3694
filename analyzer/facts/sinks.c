/* SPDX-License-Identifier: MIT
 * The tables of names, and a hash table over each that is built at its first use. */
#include "analyzer/facts/sinks.h"

#include "analyzer/facts/sinks_table.h"
#include "policies/load/index.h"

#include <assert.h>
#include <pthread.h>

enum { SLOTS = 4096 };
_Static_assert(CBX_SINKS_MAX * 2 < SLOTS, "a search has to come upon an empty slot soon");

/* Rows by the hash of their names, and the hashes of their parents: "flask" and "flask.Flask" of
 * "flask.Flask.run". */
struct table {
    const struct cbx_sink *rows;
    const size_t *count;
    uint16_t slots[SLOTS];
    uint32_t parents[SLOTS];
};
static uint32_t slot_of(uint32_t hash)
{
    return (hash ^ hash >> 15) % SLOTS;
}

static void add_parent(struct table *table, uint32_t hash)
{
    uint32_t at = slot_of(hash);
    for (int i = 0; i < SLOTS && table->parents[at] != 0 && table->parents[at] != hash; i++) {
        at = (at + 1) % SLOTS;
    }
    table->parents[at] = hash;
}

static void build(struct table *table)
{
    for (size_t i = 0; i < *table->count; i++) {
        uint32_t hash = CBX_INDEX_SEED;
        for (const char *p = table->rows[i].name; *p != '\0'; p++) {
            if (*p == '.') {
                add_parent(table, hash);
            }
            hash = cbx_index_step(hash, *p);
        }
        uint32_t at = slot_of(hash);
        while (table->slots[at] != 0) {
            at = (at + 1) % SLOTS;
        }
        table->slots[at] = (uint16_t)(i + 1);
    }
}

#define CBX_LANGUAGE(id, word, display, kernel, like, ...)                                         \
    extern const struct cbx_sink cbx_sinks_##like[];                                               \
    extern const size_t cbx_sinks_##like##_count;
#define CBX_DIALECT(...)
#include "policies/languages.def"
#undef CBX_LANGUAGE

/* A language that is like another one has a table with that one's rows. */
#define CBX_LANGUAGE(id, word, display, kernel, like, ...)                                         \
    static struct table word##_table = { .rows = cbx_sinks_##like,                                 \
                                         .count = &cbx_sinks_##like##_count };                     \
    static pthread_once_t word##_once = PTHREAD_ONCE_INIT;                                         \
    static void build_##word(void)                                                                 \
    {                                                                                              \
        build(&word##_table);                                                                      \
    }
#include "policies/languages.def"
#undef CBX_LANGUAGE

/* The table of a language, built at its first use: a linter of one file needs one table. */
static const struct table *table_of(enum cbx_language language)
{
    static const struct {
        struct table *table;
        pthread_once_t *once;
        void (*build)(void);
    } tables[CBX_LANGUAGES] = {
#define CBX_LANGUAGE(id, word, ...) [CBX_##id] = { &word##_table, &word##_once, build_##word },
#include "policies/languages.def"
#undef CBX_LANGUAGE
#undef CBX_DIALECT
    };
    assert(language < CBX_LANGUAGES);
    pthread_once(tables[language].once, tables[language].build);
    return tables[language].table;
}

static const struct cbx_sink *find(const struct table *table, struct cbx_str name, uint32_t hash)
{
    for (uint32_t at = slot_of(hash); table->slots[at] != 0; at = (at + 1) % SLOTS) {
        const struct cbx_sink *sink = &table->rows[table->slots[at] - 1];
        if (cbx_str_is(name, sink->name)) {
            return sink;
        }
    }
    return NULL;
}

static bool counts(const struct cbx_sink *sink, bool whole, bool imported)
{
    return sink->reach == CBX_SINK_AND_WITHIN ||
           (sink->reach == CBX_SINK_WHEN_IMPORTED && imported) ||
           (sink->reach == CBX_SINK_EXACTLY && whole && !imported);
}

/* Longer names are looked up later, and the last row that counts wins. *covered: there is one. */
static uint32_t look_up(enum cbx_language language, struct cbx_str name, bool imported,
                        bool *covered)
{
    const struct table *table = table_of(language);
    uint32_t hash = CBX_INDEX_SEED, found = 0;
    *covered = false;
    for (size_t i = 0; i <= name.len; i++) {
        bool whole = i == name.len;
        if (whole || name.p[i] == '.' || name.p[i] == '/') {
            const struct cbx_sink *sink = find(table, cbx_str_sub(name, 0, i), hash);
            bool taken = sink != NULL && sink->reach == CBX_SINK_EXACTLY && whole && imported;
            bool counted = sink != NULL && counts(sink, whole, imported);
            *covered |= counted;
            found = counted ? sink->capabilities : found;
            found = taken ? 0 : found; /* a name that is imported from a module has its own row */
        }
        hash = whole ? hash : cbx_index_step(hash, name.p[i]);
    }
    return found;
}

uint32_t cbx_sinks_of(enum cbx_language language, struct cbx_str name)
{
    bool covered;
    return look_up(language, name, false, &covered);
}

uint32_t cbx_sinks_of_module(enum cbx_language language, struct cbx_str module)
{
    bool covered;
    return look_up(language, module, true, &covered);
}

bool cbx_sinks_cleared(enum cbx_language language, struct cbx_str name)
{
    bool covered;
    return look_up(language, name, false, &covered) == 0 && covered;
}

bool cbx_sinks_is_module(enum cbx_language language, struct cbx_str name)
{
    uint32_t hash = CBX_INDEX_SEED;
    for (size_t i = 0; i < name.len; i++) {
        hash = cbx_index_step(hash, name.p[i]);
    }
    const struct cbx_sink *sink = find(table_of(language), name, hash);
    return sink != NULL && sink->reach == CBX_SINK_AND_WITHIN;
}

bool cbx_sinks_within(enum cbx_language language, struct cbx_str name)
{
    const struct table *table = table_of(language);
    uint32_t hash = CBX_INDEX_SEED;
    for (size_t i = 0; i < name.len; i++) {
        hash = cbx_index_step(hash, name.p[i]);
    }
    for (uint32_t at = slot_of(hash); table->parents[at] != 0; at = (at + 1) % SLOTS) {
        if (table->parents[at] == hash) {
            return true;
        }
    }
    return false;
}

bool cbx_sinks_name(enum cbx_language language, size_t number, struct cbx_str *name)
{
    const struct table *table = table_of(language);
    bool found = number < *table->count;
    *name = found ? cbx_str_of(table->rows[number].name) : CBX_STR("");
    return found;
}
