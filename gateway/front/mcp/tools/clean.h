/* SPDX-License-Identifier: MIT
 * Output of a program, made safe for models and terminals, and cut to their limits. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_CLEAN_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_CLEAN_H

#include "policies/base/buf.h"

/* Appends `text`: ANSI escape sequences and control characters except '\n' and '\t' are dropped,
 * "\r\n" is a line end, invisible characters (bidirectional and zero-width) become \u{NNNN}, and
 * bytes that are not UTF-8 \xNN. */
void cbx_clean(struct cbx_buf *out, struct cbx_str text);

/* Returns the number of characters of the text in JSON: one for each code point, two for escaped
 * ones. */
size_t cbx_clean_cost(struct cbx_str text);

/* Appends a clean text that costs at most max_cost (cbx_clean_cost). Of a longer one the first
 * fifth and the end are kept, because results are at the end, with a line between them that has
 * the number of omitted bytes and the place of the rest (`where`, a clause; NULL = none).
 * Returns true if the text was cut. */
bool cbx_clean_cut(struct cbx_buf *out, struct cbx_str text, size_t max_cost, const char *where);

#endif
