/* SPDX-License-Identifier: MIT
 * Decisions for people and for machines. Everything in a decision may quote hostile source: text
 * goes through one escaping function, JSON through jansson. */
#ifndef CBX_ANALYZER_REPORT_H
#define CBX_ANALYZER_REPORT_H

#include "analyzer/decide.h"
#include "policies/base/json.h"

/* {verdict, language, sha256, findings[, truncated]}, each finding {rule, severity, effect,
 * message, hint, symbol, detail, line, column, end_line, end_column, references} without the empty
 * ones. *out is a new reference. CBX_ETOOBIG when there are more findings than memory for them. */
int cbx_decision_json(const struct cbx_decision *decision, json_t **out, struct cbx_err *err);

/* Appends one block per finding: path:line:column, effect, rule, what was found, the source line
 * with a caret, message and hint. `source` is the text that the places speak of. `color` uses
 * terminal escapes. */
void cbx_report_text(const struct cbx_decision *decision, struct cbx_str path,
                     struct cbx_str source, bool color, struct cbx_buf *out);

#endif
