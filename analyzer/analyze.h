/* SPDX-License-Identifier: MIT
 * Judges a source in one call. Pure: bytes, a policy and a budget in, a decision out; no files, no
 * globals, no clock. Thread-safe if each thread has its own arena. */
#ifndef CBX_ANALYZER_ANALYZE_H
#define CBX_ANALYZER_ANALYZE_H

#include "analyzer/decide.h"
#include "policies/policy.h"

#define CBX_ANALYZER_VERSION "1"

struct cbx_downloads;
struct cbx_past;
struct cbx_program;

/* The place where code runs; build.h has the facts that count there. */
enum cbx_build {
    CBX_BUILD_NONE = 0, /* a sandbox */
    CBX_BUILD_PROJECT,  /* where a project is built: scripts */
    CBX_BUILD_IMAGE,    /* the same, in an image: its file system is not that of the host */
    /* the same, for workflows, whose expressions are replaced before a shell reads the code */
    CBX_BUILD_COMPLETED,
};

struct cbx_analysis {
    struct cbx_str source; /* any bytes */
    /* A name of policies/languages.def: "python" is a plain file, "ipython" a notebook cell. */
    struct cbx_str language;
    struct cbx_str principal;    /* principal, for exceptions; may be empty */
    const struct cbx_past *past; /* past of the session; NULL = empty */
    /* Files that a source in C may name in #include, as entries (policies/ledger.h). Their macros
     * are read, and no other code of theirs. NULL = none. */
    const struct cbx_buf *headers;
    /* Folders besides /workspace that the source may write to, as straight absolute paths:
     * writable mounts. NULL = none. */
    const struct cbx_strs *folders;
    /* If set, the source is a file for the workspace with this path. Its bytes are not
     * rewritten. */
    struct cbx_str path;
    /* The program of which the source is a cell (program.h), and the number of the cell from 0;
     * or NULL. */
    const struct cbx_program *program;
    size_t cell;
    int64_t now;          /* Unix seconds, for exceptions */
    uint32_t budget_ms;   /* budget for parsing and walking; 0 = 5,000 */
    enum cbx_build build; /* place where the code runs */
    /* of a build with several sources: the files that earlier sources downloaded (downloads.h);
     * the files of this source are added. NULL = none */
    struct cbx_downloads *downloads;
    struct cbx_str folder; /* of a build: working folder of shell code; empty: the workspace */
    /* true if only the verdict is used: findings get the hint of their rule */
    bool no_hints;
};

/* Cap of the arena of one analysis, for cbx_arena_init. */
enum { CBX_ANALYSIS_ARENA_MAX = 512 * 1024 * 1024, CBX_FINDINGS_MAX = 1000 };

/* Judges one source. A source that is too large, badly encoded, malformed or too slow to judge
 * gives a finding and a denial, not an error. Errors: CBX_EINVAL for an unknown language (the
 * text lists the known ones). *out borrows from `policy`, `request` and `arena`. */
int cbx_analyze(const struct cbx_policy *policy, const struct cbx_analysis *request,
                struct cbx_arena *arena, struct cbx_decision *out, struct cbx_err *err);

#endif
