/* SPDX-License-Identifier: MIT
 * Folding: what operations on constant texts come out to. What an interpreter would say otherwise,
 * or what is too large, is unknown. */
#ifndef CBX_ANALYZER_FOLD_H
#define CBX_ANALYZER_FOLD_H

#include "policies/base/arena.h"
#include "policies/base/str.h"

#include <stdint.h>

enum { CBX_FOLD_MAX_BYTES = 65536 };

/* Text operations; {NULL, 0} when the result is over the cap, or one of the parts is {NULL, 0}. */
/* Interpreters count characters and know Unicode's cases, we count bytes: what depends on it is
 * unknown for a text that is not ASCII. */
struct cbx_str cbx_fold_concat(struct cbx_arena *arena, struct cbx_str a, struct cbx_str b);
/* Base64 and hex: {NULL, 0} for text that not every decoder reads alike. */
struct cbx_str cbx_fold_base64(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_hex(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_rot13(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_case(struct cbx_arena *arena, struct cbx_str text, bool upper);
struct cbx_str cbx_fold_replace(struct cbx_arena *arena, struct cbx_str text, struct cbx_str from,
                                struct cbx_str to);
/* The first one only, as JavaScript's replace() does. */
struct cbx_str cbx_fold_replace_first(struct cbx_arena *arena, struct cbx_str text,
                                      struct cbx_str from, struct cbx_str to);
struct cbx_str cbx_fold_trim(struct cbx_str text);
struct cbx_str cbx_fold_codepoint(struct cbx_arena *arena, int64_t code);

/* An integer as Python and JavaScript write it (0x, 0o, 0b, '_' between digits). False for a
 * fraction, an exponent, a suffix, or more than 64 bits: then it is not followed. */
bool cbx_fold_integer(struct cbx_str text, int64_t *out);

/* NFKC of an identifier (UAX 31; CPython and PEP 3131 do the same); ASCII is returned as it is. */
struct cbx_str cbx_fold_nfkc(struct cbx_arena *arena, struct cbx_str name);

/* Backslash escapes of a string's content taken away: \n \t \\ \' \" \xHH \uHHHH \u{H} \ooo and an
 * escaped line end; of Python also \a and \UHHHHHHHH, and \N{...} makes it unknown. */
struct cbx_str cbx_fold_unescape(struct cbx_arena *arena, struct cbx_str text, bool python);

#endif
