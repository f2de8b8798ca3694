/* SPDX-License-Identifier: MIT
 * Source to decision in one call. Pure: bytes, a policy and a budget in; a decision out; no files,
 * no globals, no clock. Thread-safe as long as each thread has its own arena. */
#ifndef CBX_ANALYZER_ANALYZE_H
#define CBX_ANALYZER_ANALYZE_H

#include "analyzer/decide.h"
#include "policies/policy.h"

#define CBX_ANALYZER_VERSION "1"

struct cbx_past;
struct cbx_program;

/* Where code runs: what counts there is in build.h. */
enum cbx_build {
    CBX_BUILD_NONE = 0, /* a sandbox */
    CBX_BUILD_PROJECT,  /* Dockerfiles, scripts */
    /* workflows, whose expressions are replaced before a shell reads the code */
    CBX_BUILD_COMPLETED,
};

struct cbx_analysis {
    struct cbx_str source; /* any bytes */
    /* A name of policies/languages.def: "python" is a plain file, "ipython" a notebook cell. */
    struct cbx_str language;
    struct cbx_str principal;    /* for exceptions; may be empty */
    const struct cbx_past *past; /* of its session; NULL = empty */
    /* Straight absolute paths of folders that it may write to, as to /workspace: mounts that are
     * writable. NULL = none. */
    const struct cbx_strs *folders;
    /* Set: the source is a file for the workspace, of this path there. Its bytes stay as they
     * are. */
    struct cbx_str path;
    /* Or the program that it is a cell of (program.h), or NULL; and which cell, from 0. */
    const struct cbx_program *program;
    size_t cell;
    int64_t now;          /* Unix seconds, for exceptions */
    uint32_t budget_ms;   /* parse and walk; 0 = 5,000 */
    enum cbx_build build; /* where it runs: where a project is built, or in a sandbox (build.h) */
    bool no_hints;        /* only the verdict is of interest: findings have their rule's hint */
};

/* The cap of the arena of one analysis, for cbx_arena_init. */
enum { CBX_ANALYSIS_ARENA_MAX = 512 * 1024 * 1024, CBX_FINDINGS_MAX = 1000 };

/* Judges one source. A source that is too large, badly encoded, malformed or too slow to judge
 * gives a finding and a denial, not an error. Errors: CBX_EINVAL for an unknown language (the text
 * lists the known ones). *out borrows from `policy`, `request` and `arena`. */
int cbx_analyze(const struct cbx_policy *policy, const struct cbx_analysis *request,
                struct cbx_arena *arena, struct cbx_decision *out, struct cbx_err *err);

#endif
