/* SPDX-License-Identifier: MIT
 * Files and folders that were found in folders and not judged: their number, the reasons, and a
 * few names. */
#ifndef CBX_ANALYZER_LINT_PATHS_SKIPS_H
#define CBX_ANALYZER_LINT_PATHS_SKIPS_H

#include "policies/base/arena.h"
#include "policies/base/buf.h"
#include "policies/base/text/json.h"

enum cbx_lint_skip {
#define CBX_SKIP(id, ...) CBX_LINT_SKIP_##id,
#include "analyzer/lint/paths/skips.def"
#undef CBX_SKIP
    CBX_LINT_SKIPS
};

enum { CBX_LINT_SKIP_NAMES = 3 };

/* The importance of a name for the summary. */
enum cbx_lint_skip_rank {
    CBX_LINT_RANK_OTHER = 0, /* named in JSON and SARIF only */
    CBX_LINT_RANK_CODE,      /* a file that looks like code */
    CBX_LINT_RANK_LISTED,    /* a name of hidden.def */
};

struct cbx_lint_skipped {
    size_t count; /* number of files and folders */
    size_t code;  /* number of files among them that look like code */
    struct cbx_lint_skip_name {
        enum cbx_lint_skip_rank rank;
        struct cbx_str path, foreign; /* foreign: its language, for which there is no analyzer */
    } names[CBX_LINT_SKIP_NAMES];     /* the most important names; equal ones by their bytes */
    size_t name_count;
};

struct cbx_lint_skips {
    struct cbx_lint_skipped reasons[CBX_LINT_SKIPS];
};

/* Counts a file or a folder. Texts are copied into `arena`; `counted` false: it lies in a folder
 * that was counted. */
void cbx_lint_skips_add(struct cbx_lint_skips *skips, enum cbx_lint_skip reason,
                        const struct cbx_lint_skip_name *name, bool counted,
                        struct cbx_arena *arena);

/* Counts the parts of a file that were not judged: [{"reason", "path", "language"}], from
 * cbx_lint_file. Other values in the list are ignored. Returns the number of whole files in it. */
size_t cbx_lint_skips_take(struct cbx_lint_skips *skips, const json_t *skipped,
                           struct cbx_arena *arena);

/* Returns the word of a reason in such a list. */
const char *cbx_lint_skip_word(enum cbx_lint_skip reason);

/* Returns the number of files that look like code and were skipped for a reason that the caller
 * did not choose. */
size_t cbx_lint_skips_code(const struct cbx_lint_skips *skips);

/* Appends "; 12 skipped: 2 files of code without an analyzer (a.rb: Ruby), 10 of no known
 * language", or nothing if nothing was skipped. */
void cbx_lint_skips_text(const struct cbx_lint_skips *skips, struct cbx_buf *out);

/* Returns {count, code, reasons: [{reason, count, code, names}]} (new reference). */
json_t *cbx_lint_skips_json(const struct cbx_lint_skips *skips);

#endif
