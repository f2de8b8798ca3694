/* SPDX-License-Identifier: MIT
 * Excerpts of judged source as HTML. */
#ifndef CBX_GATEWAY_FRONT_PAGE_EXCERPT_H
#define CBX_GATEWAY_FRONT_PAGE_EXCERPT_H

#include "policies/base/buf.h"
#include "policies/base/text/json.h"

enum { CBX_EXCERPT_LINES = 24, CBX_EXCERPT_COLUMNS = 200 };

/* Appends lines of source around findings, as elements of a <pre>, with the places in <mark>.
 * `findings` are the findings of a decision. Lines and columns are from the findings; places that
 * the source lacks mark nothing. At most CBX_EXCERPT_LINES lines of CBX_EXCERPT_COLUMNS characters;
 * gaps and cuts are shown. Without findings the first lines. */
void cbx_excerpt_add(struct cbx_buf *out, struct cbx_str source, const json_t *findings);

#endif
