/* SPDX-License-Identifier: MIT
 * Converts bytes of unknown origin to text that is safe to show, to log or to put into JSON; no
 * other module does. The mode selects the replacement of unsafe bytes. */
#ifndef CBX_POLICIES_BASE_TEXT_PRINTABLE_H
#define CBX_POLICIES_BASE_TEXT_PRINTABLE_H

#include "policies/base/buf.h"
#include "policies/base/str.h"

/* Unsafe are: control characters, DEL, bytes that are not UTF-8, line and paragraph separators,
 * and invisible format characters (bidirectional, zero-width). */
enum cbx_printable {
    CBX_PRINTABLE_LINE,  /* one line: unsafe characters become \xNN or \u{NNNN} */
    CBX_PRINTABLE_LINES, /* the same, but '\n' and '\t' stay */
    CBX_PRINTABLE_UTF8,  /* only bytes that are not UTF-8 are replaced, by U+FFFD */
};

/* Appends `text` in that mode. CBX_ETOOBIG if the buffer overflows. The result has at most
 * CBX_PRINTABLE_GROWTH times the bytes of `text`. */
int cbx_printable_add(struct cbx_buf *buf, struct cbx_str text, enum cbx_printable mode);
enum { CBX_PRINTABLE_GROWTH = 4 };

/* Replaces, in place, every control character and every byte that is not UTF-8 by '?'. For texts of
 * a fixed size, such as errors. */
void cbx_printable_mask(char *terminated);

/* True if `text` has no control character (below 0x20, and 0x7f). */
bool cbx_printable_has_no_control(struct cbx_str text);

#endif
