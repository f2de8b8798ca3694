/* SPDX-License-Identifier: MIT
 * Values as bytes, for data that outlives the arena of a walk: the summary of a cell. Numbers are
 * in host order: only this program reads the bytes. */
#ifndef CBX_ANALYZER_FACTS_VALUE_BYTES_H
#define CBX_ANALYZER_FACTS_VALUE_BYTES_H

#include "policies/base/arena.h"
#include "policies/base/buf.h"

struct cbx_values;

enum { CBX_VALUES_DEPTH_MAX = 6 }; /* maximum nesting of values in members of values */

/* Appends the values. `depth` is 0 for the outermost ones. A text of more than 4096 bytes
 * becomes an unknown value, which allows nothing that the text would not allow. False if they
 * include a function of the program, which has no meaning outside of its text, if they are
 * nested too deeply or if `out` overflows; `out` then has a part of them. */
bool cbx_values_encode(const struct cbx_values *values, int depth, struct cbx_buf *out);

/* Removes the values from the front of the bytes, from which their texts are borrowed. NULL if
 * the bytes are malformed, or the arena is exhausted. */
const struct cbx_values *cbx_values_decode(struct cbx_str *bytes, struct cbx_arena *arena,
                                           int depth);

#endif
