/* SPDX-License-Identifier: MIT
 * Constant folding: the results of operations on constant texts. A result is unknown if
 * interpreters may differ, or if it is too large. */
#ifndef CBX_ANALYZER_FACTS_FOLD_H
#define CBX_ANALYZER_FACTS_FOLD_H

#include "policies/base/arena.h"
#include "policies/base/str.h"

#include <stdint.h>

enum { CBX_FOLD_MAX_BYTES = 65536 };

/* Operations on texts; {NULL, 0} if the result is over the cap, or a part is {NULL, 0}.
 * Interpreters count characters and convert case by Unicode, these functions count bytes: a
 * result that depends on this is unknown for texts that are not ASCII. */
struct cbx_str cbx_fold_concat(struct cbx_arena *arena, struct cbx_str a, struct cbx_str b);
/* Base64 and hex: {NULL, 0} for texts that decoders read differently. */
struct cbx_str cbx_fold_base64(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_hex(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_rot13(struct cbx_arena *arena, struct cbx_str text);
struct cbx_str cbx_fold_case(struct cbx_arena *arena, struct cbx_str text, bool upper);
struct cbx_str cbx_fold_replace(struct cbx_arena *arena, struct cbx_str text, struct cbx_str from,
                                struct cbx_str to);
/* Replaces the first occurrence only, like JavaScript's replace(). */
struct cbx_str cbx_fold_replace_first(struct cbx_arena *arena, struct cbx_str text,
                                      struct cbx_str from, struct cbx_str to);
struct cbx_str cbx_fold_trim(struct cbx_str text);
struct cbx_str cbx_fold_codepoint(struct cbx_arena *arena, int64_t code);

/* Parses an integer of Python or JavaScript (0x, 0o, 0b, '_' between digits). False for a fraction,
 * an exponent, a suffix, or more than 64 bits. */
bool cbx_fold_integer(struct cbx_str text, int64_t *out);

/* NFKC of an identifier (UAX 31; CPython and PEP 3131 do the same); ASCII is returned as it is. */
struct cbx_str cbx_fold_nfkc(struct cbx_arena *arena, struct cbx_str name);

/* Resolves the backslash escapes of a string's content: \n \t \\ \' \" \xHH \uHHHH \u{H} \ooo and
 * an escaped line end; for Python also \a and \UHHHHHHHH, and \N{...} makes the result unknown. */
struct cbx_str cbx_fold_unescape(struct cbx_arena *arena, struct cbx_str text, bool python);

#endif
