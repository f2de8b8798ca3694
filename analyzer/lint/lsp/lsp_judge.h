/* SPDX-License-Identifier: MIT
 * Judgements of documents, each in a process of its own: a crash or hang affects only its
 * document. */
#ifndef CBX_ANALYZER_LINT_LSP_LSP_JUDGE_H
#define CBX_ANALYZER_LINT_LSP_LSP_JUDGE_H

#include "analyzer/lint/child.h"

enum { CBX_LSP_LIMIT_MS = 10 * 1000 }; /* for each MiB; short, because an editor waits for it */

struct cbx_lsp_judge {
    struct cbx_lint_path path; /* the document, with its text */
    struct cbx_lint_paths paths;
    struct cbx_lint_run run;
    struct cbx_lint_child child;
    atomic_size_t current;
};

/* Judges the text of a path (cbx_lint_path.held) as `how` specifies: its `lint`, `limit_ms` and
 * `check`. The text may change after the call. False if no process can be started. `others` are
 * the processes of other judgements. */
bool cbx_lsp_judge_start(struct cbx_lsp_judge *judge, const struct cbx_lint_run *how,
                         const struct cbx_lint_path *path, const struct cbx_lint_child *others,
                         size_t other_count);

static inline bool cbx_lsp_judge_runs(const struct cbx_lsp_judge *judge)
{
    return judge->child.pid != 0;
}

/* Reads from the process after its descriptor became readable: 1 with the result, which the
 * caller owns; 0 if it is incomplete; -1 if the process ended, with the reason. The judgement is
 * over unless the result is 0. */
int cbx_lsp_judge_read(struct cbx_lsp_judge *judge, struct cbx_lint_result *out, char *why,
                       size_t size);

/* Ends a judgement without a result. */
void cbx_lsp_judge_stop(struct cbx_lsp_judge *judge);

#endif
