/* SPDX-License-Identifier: MIT
 * The language of a file, by its name or by its first bytes: "#!" with the path of an interpreter,
 * also through env, or the magic number of compiled code. Pure; the tables are in filetype.def. */
#ifndef CBX_ANALYZER_FILETYPE_H
#define CBX_ANALYZER_FILETYPE_H

#include "analyzer/lang/lang.h"

/* Number of first bytes that cbx_filetype_of_head needs: Linux reads 256 bytes of a "#!" line. */
enum { CBX_FILETYPE_HEAD_BYTES = 256 };

/* If neither member is set, nothing indicates that the file is code. */
struct cbx_filetype {
    const struct cbx_lang *lang; /* language with an analyzer; NULL = none */
    /* Without an analyzer: the language, or the interpreter if the language is unknown too. */
    struct cbx_str foreign;
};

/* Determines the language by the end of the name, or the whole name. Capital letters count as
 * small ones if the name as it is written is unknown: ".C" is C++, ".PY" is Python. */
struct cbx_filetype cbx_filetype_of_name(struct cbx_str path);

/* Determines the language by the first bytes of the file; `foreign` may point into them. */
struct cbx_filetype cbx_filetype_of_head(struct cbx_str head);

/* Determines the language by a word in small letters, as fenced blocks and notebooks have it:
 * "ruby", "rb", "r". Neither member is set for an unknown word. */
struct cbx_filetype cbx_filetype_of_word(struct cbx_str word);

/* Returns true if the bytes are no text: one of them is NUL. */
bool cbx_filetype_is_binary(struct cbx_str head);

#endif
