/* SPDX-License-Identifier: MIT
 * The language of a file, by its name or by its first bytes: "#!" with the path of an
 * interpreter, also by way of env, or the magic number of compiled code. Pure; the tables are in
 * filetype.def. */
#ifndef CBX_ANALYZER_FILETYPE_H
#define CBX_ANALYZER_FILETYPE_H

#include "analyzer/lang/lang.h"

/* As many first bytes as cbx_filetype_of_head reads: Linux reads 256 bytes of a "#!" line. */
enum { CBX_FILETYPE_HEAD_BYTES = 256 };

/* Neither member set: nothing says that it is code. */
struct cbx_filetype {
    const struct cbx_lang *lang; /* NULL: no analyzer for it */
    /* When there is none: the language, or the interpreter if that is unknown too. */
    struct cbx_str foreign;
};

/* By the end of the name, or the whole name. Capital letters count as small ones when the name
 * as it is written says nothing: ".C" is C++, ".PY" is Python. */
struct cbx_filetype cbx_filetype_of_name(struct cbx_str path);

/* By the first bytes of the file; foreign may lie in them. */
struct cbx_filetype cbx_filetype_of_head(struct cbx_str head);

/* By a word for the language, in small letters, as fenced blocks and notebooks have it: "ruby",
 * "rb", "r". Neither member set: the word is no language of code that is known. */
struct cbx_filetype cbx_filetype_of_word(struct cbx_str word);

/* True when the bytes are no text: one of them is NUL. */
bool cbx_filetype_is_binary(struct cbx_str head);

#endif
