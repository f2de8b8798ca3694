/* SPDX-License-Identifier: MIT
 * The last stage of judgement: makes a decision of findings and a policy. Zeroed memory denies. */
#ifndef CBX_ANALYZER_DECIDE_H
#define CBX_ANALYZER_DECIDE_H

#include "policies/policy.h"
#include "policies/verdict.h"

/* A place in the source as the caller sent it. Lines and columns are 1-based, columns count
 * characters (code points), the end is exclusive; bytes are offsets into the source after
 * normalisation of its line ends. */
struct cbx_span {
    uint32_t start_byte, end_byte;
    uint32_t line, column, end_line, end_column;
};

/* A rule that matched at a place. Texts are borrowed from the policy or the request's arena. */
struct cbx_finding {
    const struct cbx_rule *rule;
    enum cbx_effect effect; /* effect after exceptions and log-only */
    enum cbx_effect
        enforced; /* effect after exceptions alone: the effect if the policy were enforced */
    struct cbx_str symbol; /* the code that matched: "subprocess.run", "dynamic-code", ... */
    struct cbx_str
        detail; /* more detail, or empty ("decoded from base64", "'numpy<1.22' allows 1.21.6") */
    struct cbx_str hint;      /* replacement for the code (hints.h), or empty */
    struct cbx_str exception; /* reason of the exception that allows it, or empty */
    struct cbx_span span;
};

struct cbx_decision {
    enum cbx_verdict verdict;
    struct cbx_str language; /* as requested: "python", "ipython", ... */
    /* The bytes that may run: normalised, with notebook syntax rewritten; the original bytes if
     * the source was denied before it was parsed. */
    struct cbx_str text;
    struct cbx_sha256 sha256;           /* of text */
    const struct cbx_finding *findings; /* in the order of the source */
    size_t finding_count;
    /* Words of packages of the index that the program itself installs (`%pip install NAME`), in
     * the order of the source. */
    const struct cbx_str *installs;
    size_t install_count;
    bool runs_lines; /* true if it has notebook lines or cells of shell */
    /* summary of a cell that has a past; empty if it cannot be summarised */
    struct cbx_str summary;
    /* true if there were more findings than the cap; the verdict includes all of them */
    bool truncated;
};

/* The context of a decision. All borrowed. */
struct cbx_hits;
struct cbx_source;
struct cbx_deciding {
    const struct cbx_policy *policy;
    struct cbx_str principal; /* principal, for exceptions, */
    int64_t now;              /* and the time at which they must be valid: Unix seconds */
    const struct cbx_source *source;
    struct cbx_arena *arena;
};

/* Makes findings of matches (rules.h) and sets verdict, findings and truncated of *out. The
 * verdict is the strictest of all matches, including those beyond CBX_FINDINGS_MAX. *findings is
 * out->findings, to which the caller adds hints. CBX_ETOOBIG if the arena is exhausted. */
int cbx_decide(const struct cbx_deciding *deciding, const struct cbx_hits *hits,
               struct cbx_decision *out, struct cbx_finding **findings);

#endif
