/* SPDX-License-Identifier: MIT
 * A policy in plain words, for the person who approves it. */
#ifndef CBX_POLICIES_TEXTS_EXPLAIN_H
#define CBX_POLICIES_TEXTS_EXPLAIN_H

#include "policies/base/buf.h"
#include "policies/policy.h"

/* Appends the text: the languages, the rules by effect, packages, mounts, limits, network. */
void cbx_policy_explain(const struct cbx_policy *policy, struct cbx_buf *out);

/* Appends the matches of a rule, indented, one line for each kind of match; nothing for a
 * built-in rule. */
void cbx_rule_explain(const struct cbx_rule *rule, struct cbx_buf *out);

/* Appends the reference of the policy language as Markdown: every key and every fact, from their
 * tables. */
void cbx_policy_reference(struct cbx_buf *out);

/* Returns a JSON Schema of the policy language, for editors; a new reference. */
json_t *cbx_policy_schema(void);

#endif
