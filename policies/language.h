/* SPDX-License-Identifier: MIT
 * The languages, from languages.def. */
#ifndef CBX_POLICIES_LANGUAGE_H
#define CBX_POLICIES_LANGUAGE_H

#include "policies/base/str.h"

#include <stdbool.h>

/* Languages as policies name them. A dialect is judged by the rules for its language. */
enum cbx_language {
#define CBX_LANGUAGE(id, ...) CBX_##id,
#define CBX_DIALECT(...)
#include "policies/languages.def"
#undef CBX_LANGUAGE
#undef CBX_DIALECT
    CBX_LANGUAGES
};

/* Returns "python", ...; "unknown" for any other value. */
const char *cbx_language_name(enum cbx_language language);

/* The names, in the order of the enum, NULL-terminated. */
extern const char *const cbx_language_names[];

/* Returns the languages for which a rule about this one also holds, as bits 1 << enum
 * cbx_language: the language itself, and those with `like` for it. */
uint32_t cbx_language_likes(enum cbx_language language);

/* A language or a dialect. */
struct cbx_language_row {
    const char *name; /* name for callers and permits */
    const char *display, *kernel;
    enum cbx_language language;
    bool dialect;
    const char *const *aliases, *const *endings; /* NULL-terminated */
};

/* Returns the rows in order; NULL after the last. */
const struct cbx_language_row *cbx_language_row(size_t index);

/* Returns the row of that name or alias; NULL if there is none. */
const struct cbx_language_row *cbx_language_find(struct cbx_str name);

/* Returns the row with the file name ending of this path; NULL if there is none. */
const struct cbx_language_row *cbx_language_of_file(struct cbx_str path);

/* Writes the names with a separator: "python, ipython, ..." or "python ipython ...". At most
 * `size` bytes, terminated. */
void cbx_language_list(const char *separator, char *out, size_t size);

#endif
