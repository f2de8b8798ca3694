/* SPDX-License-Identifier: MIT
 * Comments that take findings back: `# codebox: allow RULE -- reason` (// in JavaScript), on the
 * line of the finding or alone on the line above. For codebox-lint under a policy that permits them
 * (suppressions: {inline: true}); nothing else in codebox reads them. */
#ifndef CBX_ANALYZER_LINT_SUPPRESS_H
#define CBX_ANALYZER_LINT_SUPPRESS_H

#include "analyzer/report/report.h"

/* What is said of a comment that does nothing: its rule is unknown or cannot be suppressed, it has
 * no reason, there is no such finding, or the policy does not permit it. A warning. */
extern const struct cbx_rule cbx_rule_suppression;

struct cbx_lint_comment {
    struct cbx_str rule, reason; /* as they are written; empty when they are missing */
    uint32_t line;               /* that it speaks of */
    struct cbx_span span;
    bool used;
};

struct cbx_lint_comments {
    struct cbx_lint_comment *items;
    size_t count;
};

/* The comments of this kind in a source of the language, in their order. `source` has its line ends
 * normalised and *out borrows from it. CBX_ETOOBIG when the arena is exhausted. */
int cbx_lint_comments_read(struct cbx_str source, struct cbx_str language, struct cbx_arena *arena,
                           struct cbx_lint_comments *out, struct cbx_err *err);

/* Marks the findings of one source that a comment takes back, if the policy permits that. */
void cbx_lint_suppress(const struct cbx_policy *policy, struct cbx_lint_comments *comments,
                       struct cbx_report_finding *findings, size_t count);

/* Why a comment does nothing, or NULL. After cbx_lint_suppress. */
const char *cbx_lint_comment_fault(const struct cbx_policy *policy,
                                   const struct cbx_lint_comment *comment);

#endif
