/* SPDX-License-Identifier: MIT
 * Text of any origin in HTML. All text from outside the source code is written with
 * cbx_html_add: names, code, messages, times, numbers that were read. */
#ifndef CBX_GATEWAY_FRONT_PAGE_HTML_H
#define CBX_GATEWAY_FRONT_PAGE_HTML_H

#include "policies/base/buf.h"
#include "policies/base/json.h"

/* Appends `text` as text, valid between tags and in an attribute with double or single quotes.
 * Not for names of elements and attributes, URLs, styles and scripts. Invisible characters are
 * escaped (printable.h). */
void cbx_html_add(struct cbx_buf *out, struct cbx_str text);

/* The same for the member of a JSON object if it is a string; nothing for any other type. */
void cbx_html_add_member(struct cbx_buf *out, const json_t *object, const char *name);

/* Appends a duration for people: "850 ms", "3.2 s", "12 min", "3 h 24 min", "5 d 3 h". A
 * negative one is "0 ms". */
void cbx_html_add_duration(struct cbx_buf *out, int64_t ms);

/* Appends lines of source around findings, as elements of a <pre>, with the places in <mark>.
 * `findings` are those of a decision. Lines and columns are from the findings; places that the
 * source lacks mark nothing. At most CBX_EXCERPT_LINES lines of CBX_EXCERPT_COLUMNS characters;
 * gaps and cuts are shown. Without findings the first lines. */
void cbx_html_excerpt(struct cbx_buf *out, struct cbx_str source, const json_t *findings);
enum { CBX_EXCERPT_LINES = 24, CBX_EXCERPT_COLUMNS = 200 };

#endif
