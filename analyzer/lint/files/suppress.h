/* SPDX-License-Identifier: MIT
 * Comments that suppress findings: `# codebox: allow RULE -- reason` (// in JavaScript), on the
 * line of the finding or alone on the line above. Only codebox-lint reads them, under a policy that
 * permits them (suppressions: {inline: true}). */
#ifndef CBX_ANALYZER_LINT_FILES_SUPPRESS_H
#define CBX_ANALYZER_LINT_FILES_SUPPRESS_H

#include "analyzer/report/report.h"

struct cbx_lint_comment {
    struct cbx_str rule, reason; /* the reason as written; empty = missing */
    uint32_t line;               /* the line whose findings it suppresses */
    struct cbx_span span;
    bool used;
};

struct cbx_lint_comments {
    struct cbx_lint_comment *items;
    size_t count;
};

/* Finds the comments of this kind in a source of the language, in their order. `source` has
 * normalised line ends, and *out borrows from it. CBX_ETOOBIG if the arena is exhausted. */
int cbx_lint_comments_read(struct cbx_str source, struct cbx_str language, struct cbx_arena *arena,
                           struct cbx_lint_comments *out, struct cbx_err *err);

/* Suppresses the findings of one source that have a comment, if the policy permits that. */
void cbx_lint_suppress(const struct cbx_policy *policy, struct cbx_lint_comments *comments,
                       struct cbx_report_finding *findings, size_t count);

/* Returns why a comment has no effect, or NULL. Call it after cbx_lint_suppress. */
const char *cbx_lint_comment_fault(const struct cbx_policy *policy,
                                   const struct cbx_lint_comment *comment);

#endif
