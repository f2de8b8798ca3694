/* SPDX-License-Identifier: MIT
 * The last stage of judgement: findings and a policy give a decision. Zeroed memory denies. */
#ifndef CBX_ANALYZER_DECIDE_H
#define CBX_ANALYZER_DECIDE_H

#include "policies/policy.h"
#include "policies/verdict.h"

/* A place in the source as the caller sent it. Lines and columns are 1-based, columns count
 * characters (code points), the end is exclusive; bytes are offsets into the source with its line
 * ends normalised. */
struct cbx_span {
    uint32_t start_byte, end_byte;
    uint32_t line, column, end_line, end_column;
};

/* One rule that matched one place. Texts are borrowed from the policy or the request's arena. */
struct cbx_finding {
    const struct cbx_rule *rule;
    enum cbx_effect effect; /* after exceptions and log-only */
    enum cbx_effect
        enforced; /* after exceptions alone: what it would be if the policy were enforced */
    struct cbx_str symbol; /* what was found: "subprocess.run", "dynamic-code", ... */
    struct cbx_str
        detail; /* more detail, or empty ("decoded from base64", "'numpy<1.22' allows 1.21.6") */
    struct cbx_str hint;      /* what to write instead (hints.h), or empty */
    struct cbx_str exception; /* reason of the exception that allows it, or empty */
    struct cbx_span span;
};

struct cbx_decision {
    enum cbx_verdict verdict;
    struct cbx_str language; /* as requested: "python", "ipython", ... */
    /* The bytes that may run: normalised, notebook syntax rewritten; the original bytes when the
     * source was denied unread. */
    struct cbx_str text;
    struct cbx_sha256 sha256;           /* of text */
    const struct cbx_finding *findings; /* in source order */
    size_t finding_count;
    /* Packages of the index that it installs by itself, `%pip install NAME`: the words, in
     * source order. */
    const struct cbx_str *installs;
    size_t install_count;
    bool runs_lines;        /* it has notebook lines or cells of shell */
    struct cbx_str summary; /* of a cell that has a past; empty when it cannot be summarised */
    bool truncated; /* there were more findings than the cap; the verdict covers all of them */
};

/* What a decision is made with. All borrowed. */
struct cbx_hits;
struct cbx_source;
struct cbx_deciding {
    const struct cbx_policy *policy;
    struct cbx_str principal; /* for exceptions, */
    int64_t now;              /* at this moment: Unix seconds */
    const struct cbx_source *source;
    struct cbx_arena *arena;
};

/* Makes findings of hits (rules.h) and sets verdict, findings and truncated of *out. The verdict
 * is the strictest of all hits, those beyond CBX_FINDINGS_MAX included. *findings is
 * out->findings, for hints to be filled in. CBX_ETOOBIG when the arena is exhausted. */
int cbx_decide(const struct cbx_deciding *deciding, const struct cbx_hits *hits,
               struct cbx_decision *out, struct cbx_finding **findings);

#endif
