/* SPDX-License-Identifier: MIT
 * Output of a program, made safe for models and terminals: without escape sequences, control
 * characters and invisible characters. */
#ifndef CBX_GATEWAY_FRONT_MCP_CLEAN_H
#define CBX_GATEWAY_FRONT_MCP_CLEAN_H

#include "policies/base/buf.h"

/* Appends at most about max_bytes of `text`: ANSI escape sequences and control characters but '\n'
 * and '\t' are dropped, "\r\n" is a line end, characters that do not show (bidirectional and
 * zero-width) stand as \u{NNNN}, and what is not UTF-8 as \xNN. Of a text that is too long the
 * beginning and the end are kept, with a line between them that says how much was left out. Returns
 * whether that was so. */
bool cbx_clean(struct cbx_buf *out, struct cbx_str text, size_t max_bytes);

#endif
