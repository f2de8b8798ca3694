/* SPDX-License-Identifier: MIT
 * Output of a program, made safe for models and terminals, and cut to what they can take. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_CLEAN_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_CLEAN_H

#include "policies/base/buf.h"

/* Appends `text`: ANSI escape sequences and control characters but '\n' and '\t' are dropped, "\r\n" is
 * a line end, characters that do not show (bidirectional and zero-width) stand as \u{NNNN}, and what is
 * not UTF-8 as \xNN. */
void cbx_clean(struct cbx_buf *out, struct cbx_str text);

/* Characters of the text as JSON has them: one for each code point, two for those that are escaped. */
size_t cbx_clean_cost(struct cbx_str text);

/* Appends a clean text that costs at most max_cost (cbx_clean_cost). Of a longer one the first fifth and the
 * end are kept, because results stand at the end, with a line between them that says how many bytes are left
 * out and `where` the reader finds more (a clause; NULL = nowhere). Returns whether that was so. */
bool cbx_clean_cut(struct cbx_buf *out, struct cbx_str text, size_t max_cost, const char *where);

#endif
