/* SPDX-License-Identifier: MIT
 * The languages. */
#include "policies/language.h"

#include <stdio.h>

const char *const cbx_language_names[] = {
#define CBX_LANGUAGE(id, word, ...) #word,
#define CBX_DIALECT(...)
#include "policies/languages.def"
#undef CBX_LANGUAGE
#undef CBX_DIALECT
    NULL,
};

/* The language of a language's word: CBX_WORD_python is CBX_PYTHON. */
enum {
#define CBX_LANGUAGE(id, word, ...) CBX_WORD_##word = CBX_##id,
#define CBX_DIALECT(...)
#include "policies/languages.def"
#undef CBX_LANGUAGE
#undef CBX_DIALECT
};

static const enum cbx_language likes[CBX_LANGUAGES] = {
#define CBX_LANGUAGE(id, word, display, kernel, like, ...)                                         \
    [CBX_##id] = (enum cbx_language)CBX_WORD_##like,
#define CBX_DIALECT(...)
#include "policies/languages.def"
#undef CBX_LANGUAGE
#undef CBX_DIALECT
};

#define CBX_WORDS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
static const struct cbx_language_row rows[] = {
#define CBX_LANGUAGE(id, word, display, kernel, like, aliases, endings)                            \
    { #word, display, kernel, CBX_##id, false, aliases, endings },
#define CBX_DIALECT(id, word, display, kernel, like, aliases, endings)                             \
    { #word, display, kernel, CBX_##id, true, aliases, endings },
#include "policies/languages.def"
#undef CBX_LANGUAGE
#undef CBX_DIALECT
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const char *cbx_language_name(enum cbx_language language)
{
    return language < CBX_LANGUAGES ? cbx_language_names[language] : "unknown";
}

uint32_t cbx_language_likes(enum cbx_language language)
{
    uint32_t set = 0;
    for (unsigned i = 0; i < CBX_LANGUAGES; i++) {
        set |= i == language || likes[i] == language ? 1u << i : 0;
    }
    return set;
}

const struct cbx_language_row *cbx_language_row(size_t index)
{
    return index < ROWS ? &rows[index] : NULL;
}

static bool holds(const char *const *words, struct cbx_str word)
{
    while (*words != NULL && !cbx_str_is(word, *words)) {
        words++;
    }
    return *words != NULL;
}

const struct cbx_language_row *cbx_language_find(struct cbx_str name)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (cbx_str_is(name, rows[i].name) || holds(rows[i].aliases, name)) {
            return &rows[i];
        }
    }
    return NULL;
}

const struct cbx_language_row *cbx_language_of_file(struct cbx_str path)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (const char *const *e = rows[i].endings; *e != NULL; e++) {
            if (cbx_str_ends(path, cbx_str_of(*e))) {
                return &rows[i];
            }
        }
    }
    return NULL;
}

void cbx_language_list(const char *separator, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < ROWS && used < size; i++) {
        int n = snprintf(out + used, size - used, "%s%s", i > 0 ? separator : "", rows[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}
