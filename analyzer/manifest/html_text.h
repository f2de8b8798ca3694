/* SPDX-License-Identifier: MIT
 * Texts in pages of HTML: attributes with character references, addresses with code, and code with
 * the marks of templates. */
#ifndef CBX_ANALYZER_MANIFEST_HTML_TEXT_H
#define CBX_ANALYZER_MANIFEST_HTML_TEXT_H

#include "analyzer/manifest/manifest_internal.h"

/* Appends the bytes [start, end) of the file, the value of an attribute, with references
 * decoded. */
void cbx_html_take(struct cbx_piece_maker *maker, uint32_t start, uint32_t end);

/* Returns where the rest of an address with this scheme begins ("javascript:", "data:"; in small
 * letters); 0 if the text is none. Browsers skip blanks before the scheme, and line ends and tabs
 * within it (WHATWG URL, 4.4). */
size_t cbx_html_url_behind(struct cbx_str text, const char *scheme);

/* Appends the bytes behind `from` of another piece, with %XX decoded. */
void cbx_html_take_url(struct cbx_piece_maker *out, const struct cbx_piece_maker *url, size_t from);

/* Appends a piece with the marks of templates replaced: {{ x }}, {% x %}, <%= x %>, <? x ?>.
 * False if it has none. */
bool cbx_html_take_template(struct cbx_piece_maker *out, const struct cbx_piece_maker *code);

#endif
