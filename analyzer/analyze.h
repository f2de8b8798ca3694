/* SPDX-License-Identifier: MIT
 * Source to decision in one call. Pure: bytes, a policy and a budget in; a decision out; no files,
 * no globals, no clock. Thread-safe as long as each thread has its own arena. */
#ifndef CBX_ANALYZER_ANALYZE_H
#define CBX_ANALYZER_ANALYZE_H

#include "analyzer/decide.h"
#include "policies/policy.h"

#define CBX_ANALYZER_VERSION "1"

struct cbx_program;

struct cbx_analysis {
    struct cbx_str source; /* any bytes */
    struct cbx_str
        language; /* "python" (a plain file), "ipython" (a notebook cell), "javascript", "shell" */
    struct cbx_str principal; /* for exceptions; may be empty */
    struct cbx_str context;   /* the cells before it in the same session (context.h), or empty */
    const struct cbx_program
        *program;       /* or the program that it is a cell of (program.h), or NULL; */
    size_t cell;        /* which cell, from 0 */
    int64_t now;        /* Unix seconds, for exceptions */
    uint32_t budget_ms; /* parse and walk; 0 = 5,000 */
};

/* Memory that one analysis may take, for cbx_arena_init. */
enum { CBX_ANALYSIS_ARENA_MAX = 512 * 1024 * 1024, CBX_FINDINGS_MAX = 1000 };

/* Judges one source. Everything that is wrong with the source itself (size, encoding, syntax,
 * budget) is a finding and a denial, not an error. Errors: CBX_EINVAL for a language that does not
 * exist (the text names those that do). *out borrows from `policy`, `request` and `arena`. */
int cbx_analyze(const struct cbx_policy *policy, const struct cbx_analysis *request,
                struct cbx_arena *arena, struct cbx_decision *out, struct cbx_err *err);

#endif
