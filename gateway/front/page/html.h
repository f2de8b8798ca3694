/* SPDX-License-Identifier: MIT
 * Text of any origin in HTML. Whatever is not written by this gateway's authors goes through cbx_html_add: names,
 * code, messages, times, numbers that were read. */
#ifndef CBX_GATEWAY_FRONT_PAGE_HTML_H
#define CBX_GATEWAY_FRONT_PAGE_HTML_H

#include "policies/base/buf.h"
#include "policies/base/json.h"

/* Appends `text` so that it is text, between tags as well as in an attribute with double or single quotes. It is not
 * for names of elements and attributes, for URLs, styles and scripts. What cannot be seen is written out (printable.h). */
void cbx_html_add(struct cbx_buf *out, struct cbx_str text);

/* The same with the member of a JSON object when it is a string; nothing for any other. */
void cbx_html_add_member(struct cbx_buf *out, const json_t *object, const char *name);

/* A duration as people read it: "850 ms", "3.2 s", "12 min", "3 h 24 min", "5 d 3 h". A negative one is "0 ms". */
void cbx_html_add_duration(struct cbx_buf *out, int64_t ms);

/* Lines of source around what findings are about, as elements of a <pre>, with the places in <mark>. `findings` are those of a
 * decision. Lines and columns are what the findings claim; those that the source lacks mark nothing. At most
 * CBX_EXCERPT_LINES lines of CBX_EXCERPT_COLUMNS characters; gaps and cuts are shown. Without findings the first lines. */
void cbx_html_excerpt(struct cbx_buf *out, struct cbx_str source, const json_t *findings);
enum { CBX_EXCERPT_LINES = 24, CBX_EXCERPT_COLUMNS = 200 };

#endif
