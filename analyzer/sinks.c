/* SPDX-License-Identifier: MIT
 * The tables of names, and a hash table over each that is built at the first question. */
#include "analyzer/sinks.h"

#include <assert.h>
#include <pthread.h>

/* The names of the capabilities as the tables write them. */
enum {
#define CBX_CAPABILITY(id, name, meaning) id = 1u << CBX_CAN_##id,
#include "policies/capabilities.def"
#undef CBX_CAPABILITY
};

enum reach { EXACTLY, AND_WITHIN, WHEN_IMPORTED };

struct sink {
    const char *name;
    uint32_t capabilities;
    enum reach reach;
};

#define CBX_SINK(name, capabilities)    { name, capabilities, EXACTLY },
#define CBX_MODULE(name, capabilities)  { name, capabilities, AND_WITHIN },
#define CBX_PACKAGE(name, capabilities) { name, capabilities, WHEN_IMPORTED },
#define CBX_FS(name, capabilities)                                                                 \
    CBX_SINK("fs." name, capabilities)                                                             \
    CBX_SINK("fs/promises." name, capabilities)                                                    \
    CBX_SINK("fs-extra." name, capabilities)                                                       \
    CBX_SINK("graceful-fs." name, capabilities)
static const struct sink python[] = {
#include "analyzer/lang/python/sinks.def"
};
static const struct sink javascript[] = {
#include "analyzer/lang/javascript/sinks.def"
};
static const struct sink shell[] = {
#include "analyzer/lang/shell/sinks.def"
};
static const struct sink c[] = {
#include "analyzer/lang/c/sinks.def"
};
#undef CBX_SINK
#undef CBX_MODULE
#undef CBX_PACKAGE
#undef CBX_FS

enum { SLOTS = 4096 }; /* at least two for each row of the largest table */
static uint16_t slots[CBX_LANGUAGES][SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
static const struct {
    const struct sink *rows;
    size_t count;
} tables[CBX_LANGUAGES] = { [CBX_PYTHON] = { python, COUNT(python) },
                            [CBX_JAVASCRIPT] = { javascript, COUNT(javascript) },
                            [CBX_SHELL] = { shell, COUNT(shell) },
                            [CBX_TYPESCRIPT] = { javascript, COUNT(javascript) },
                            [CBX_C] = { c, COUNT(c) } };
_Static_assert(COUNT(python) * 2 < SLOTS && COUNT(javascript) * 2 < SLOTS &&
                   COUNT(shell) * 2 < SLOTS && COUNT(c) * 2 < SLOTS,
               "the hash tables are too small");

static uint32_t step(uint32_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * 16777619u;
}

static uint32_t slot_of(uint32_t hash)
{
    return (hash ^ hash >> 15) % SLOTS;
}

/* The hashes of all that rows stand within: "flask" and "flask.Flask" of "flask.Flask.run". */
static uint32_t parents[CBX_LANGUAGES][SLOTS];

static void add_parent(int language, uint32_t hash)
{
    uint32_t at = slot_of(hash);
    for (int i = 0; i < SLOTS && parents[language][at] != 0 && parents[language][at] != hash; i++) {
        at = (at + 1) % SLOTS;
    }
    parents[language][at] = hash;
}

static void build(void)
{
    for (int language = 0; language < CBX_LANGUAGES; language++) {
        for (size_t i = 0; i < tables[language].count; i++) {
            uint32_t hash = 0x811c9dc5u;
            for (const char *p = tables[language].rows[i].name; *p != '\0'; p++) {
                if (*p == '.') {
                    add_parent(language, hash);
                }
                hash = step(hash, *p);
            }
            uint32_t at = slot_of(hash);
            while (slots[language][at] != 0) {
                at = (at + 1) % SLOTS;
            }
            slots[language][at] = (uint16_t)(i + 1);
        }
    }
}

static const struct sink *find(enum cbx_language language, struct cbx_str name, uint32_t hash)
{
    for (uint32_t at = slot_of(hash); slots[language][at] != 0; at = (at + 1) % SLOTS) {
        const struct sink *sink = &tables[language].rows[slots[language][at] - 1];
        if (cbx_str_is(name, sink->name)) {
            return sink;
        }
    }
    return NULL;
}

static bool counts(const struct sink *sink, bool whole, bool imported)
{
    return sink->reach == AND_WITHIN || (sink->reach == WHEN_IMPORTED && imported) ||
           (sink->reach == EXACTLY && whole && !imported);
}

/* Longer names come later on the way, and the last one that counts is the answer. */
static uint32_t look_up(enum cbx_language language, struct cbx_str name, bool imported)
{
    assert(language < CBX_LANGUAGES);
    pthread_once(&once, build);
    uint32_t hash = 0x811c9dc5u, found = 0;
    for (size_t i = 0; i <= name.len; i++) {
        bool whole = i == name.len;
        if (whole || name.p[i] == '.' || name.p[i] == '/') {
            const struct sink *sink = find(language, cbx_str_sub(name, 0, i), hash);
            bool taken = sink != NULL && sink->reach == EXACTLY && whole && imported;
            found = sink != NULL && counts(sink, whole, imported) ? sink->capabilities : found;
            found = taken ? 0 : found; /* what is taken out of a module speaks for itself */
        }
        hash = whole ? hash : step(hash, name.p[i]);
    }
    return found;
}

uint32_t cbx_sinks_of(enum cbx_language language, struct cbx_str name)
{
    return look_up(language, name, false);
}

uint32_t cbx_sinks_of_module(enum cbx_language language, struct cbx_str module)
{
    return look_up(language, module, true);
}

bool cbx_sinks_within(enum cbx_language language, struct cbx_str name)
{
    pthread_once(&once, build);
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < name.len; i++) {
        hash = step(hash, name.p[i]);
    }
    for (uint32_t at = slot_of(hash); parents[language][at] != 0; at = (at + 1) % SLOTS) {
        if (parents[language][at] == hash) {
            return true;
        }
    }
    return false;
}
