/* SPDX-License-Identifier: MIT
 * The rules of a policy, for authors of code. */
#ifndef CBX_ANALYZER_LINT_LINT_RULES_H
#define CBX_ANALYZER_LINT_LINT_RULES_H

#include "analyzer/report/report.h"

/* Appends a line for each rule: id, severity, effect, languages, message; or JSON {version,
 * policy, rules}. */
void cbx_lint_list_rules(const struct cbx_policy *policy, bool json, struct cbx_buf *out);

/* Appends the description of one rule: message, hint, matches, references, examples. CBX_ENOTFOUND
 * for an unknown id, with the nearest known id. */
int cbx_lint_explain(const struct cbx_policy *policy, const char *id, bool json,
                     struct cbx_buf *out, struct cbx_err *err);

#endif
