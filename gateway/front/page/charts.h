/* SPDX-License-Identifier: MIT
 * Small charts as inline SVG: only numbers and classes, which the style colours. */
#ifndef CBX_GATEWAY_FRONT_PAGE_CHARTS_H
#define CBX_GATEWAY_FRONT_PAGE_CHARTS_H

#include "policies/base/buf.h"
#include "policies/base/text/json.h"

/* Writes a duration for people: "850 ms", "3.2 s", "12 min", "3 h 24 min", "5 d 3 h"; a negative
 * one is "0 ms". Returns `out`. */
enum { CBX_DURATION_BYTES = 40 };
const char *cbx_duration_write(int64_t ms, char out[CBX_DURATION_BYTES]);
/* The same in an array of the enclosing block. */
#define CBX_DURATION(ms) cbx_duration_write(ms, (char[CBX_DURATION_BYTES]){ 0 })

/* Draws the durations of the last runs as bars, the newest right, on a logarithmic scale from 1
 * ms, and their median and 95th percentile as text. `decisions` are of cbx_decisions_page. */
void cbx_chart_runs(struct cbx_buf *out, const json_t *decisions);

/* Draws the numbers of allowed, asking and denied decisions: one bar and a legend. */
void cbx_chart_verdicts(struct cbx_buf *out, const json_t *decisions);

/* Draws the sandboxes of the pool by their state: one bar and a legend; `pool` may be NULL. */
void cbx_chart_pool(struct cbx_buf *out, const json_t *pool);

#endif
