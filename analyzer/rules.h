/* SPDX-License-Identifier: MIT
 * Matches facts with rules. */
#ifndef CBX_ANALYZER_RULES_H
#define CBX_ANALYZER_RULES_H

#include "analyzer/decide.h"
#include "analyzer/facts/facts.h"

#include <tree_sitter/api.h>

/* A rule that matched at a place. */
struct cbx_hit {
    const struct cbx_rule *rule;
    struct cbx_str symbol, detail;
    uint32_t start, end;
    uint32_t languages; /* bits of the fact's language and of the source's */
    bool earlier;       /* true for a fact of code that was admitted before: only a denial counts */
};

struct cbx_hits {
    const struct cbx_hit *items; /* in the order of places */
    size_t count;
    bool truncated; /* true if there were more than the cap */
};

/* The input of rules. */
struct cbx_evidence {
    const struct cbx_facts *facts;
    const TSTree *tree;  /* the tree, for rules with a query; NULL: there is none */
    struct cbx_str text; /* text from which the tree was made */
    const struct cbx_strs
        *folders; /* folders of the sandbox whose paths are not `outside`; NULL = none */
};

/* Finds every rule that matches, each place once. Facts that always deny (unreadable source) get
 * a built-in rule if no rule of the policy matches them. CBX_ETOOBIG if the arena is exhausted,
 * CBX_EINVAL for a policy without an index. */
int cbx_rules_match(const struct cbx_policy *policy, const struct cbx_evidence *evidence,
                    struct cbx_arena *arena, struct cbx_hits *out);

/* The built-in rules, for sources and packages that no policy can allow. */
extern const struct cbx_rule cbx_rule_language, cbx_rule_too_large, cbx_rule_unreadable,
    cbx_rule_past, cbx_rule_package;

/* Facts (bit 1 << enum cbx_fact_id) that deny even if no rule matches them. */
extern const uint64_t cbx_rules_always;

#endif
