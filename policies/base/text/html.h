/* SPDX-License-Identifier: MIT
 * HTML with values of any origin. The markup is a literal, and each value is escaped: text from
 * outside the source code cannot become markup. */
#ifndef CBX_POLICIES_BASE_TEXT_HTML_H
#define CBX_POLICIES_BASE_TEXT_HTML_H

#include "policies/base/buf.h"

/* Appends `markup`, a literal, with its conversions replaced by the values: "%s" a terminated text
 * (NULL is empty), "%.*s" a slice (CBX_STR_ARG; whole, with its NUL bytes), "%d" "%lld" "%llu"
 * "%zu" "%.1f" numbers, "%%" a percent sign; any other aborts. Texts are valid between tags and in
 * an attribute with double or single quotes, not as names of elements and attributes, URLs, styles
 * and scripts. Invisible characters in them are escaped (CBX_PRINTABLE_LINES). */
void cbx_html_add(struct cbx_buf *out, const char *markup, ...)
    __attribute__((format(printf, 2, 3)));

#endif
