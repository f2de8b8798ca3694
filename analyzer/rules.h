/* SPDX-License-Identifier: MIT
 * Facts and rules to findings. */
#ifndef CBX_ANALYZER_RULES_H
#define CBX_ANALYZER_RULES_H

#include "analyzer/decide.h"
#include "analyzer/facts.h"

#include <tree_sitter/api.h>

/* One rule at one place. */
struct cbx_hit {
    const struct cbx_rule *rule;
    struct cbx_str symbol, detail;
    uint32_t start, end;
};

/* Every rule that matches a fact, each place once, in order of places. What must be denied whatever
 * the policy says (unreadable source) gets a built-in rule when the policy has none for it. `tree`
 * and the text that it was made from are for query rules; NULL: there are none. At most
 * CBX_FINDINGS_MAX; *truncated says that there were more, and the hits that are kept hold the
 * strictest effects. */
int cbx_rules_match(const struct cbx_policy *policy, const struct cbx_facts *facts,
                    const TSTree *tree, struct cbx_str text, struct cbx_arena *arena,
                    const struct cbx_hit **out, size_t *count, bool *truncated);

/* The built-in rules, for what no policy can allow. */
extern const struct cbx_rule cbx_rule_language, cbx_rule_too_large, cbx_rule_unreadable;

/* Facts (bit 1 << enum cbx_fact_id) that deny even when no rule speaks of them. */
extern const uint64_t cbx_rules_always;

/* Could a rule of the policy say something about this name when it is called or used, or do the
 * sinks know it, or something within it? */
bool cbx_name_matters(const struct cbx_policy *policy, enum cbx_language language,
                      struct cbx_str name);

#endif
