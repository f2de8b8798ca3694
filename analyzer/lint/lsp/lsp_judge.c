/* SPDX-License-Identifier: MIT
 * Judges documents. */
#include "analyzer/lint/lsp/lsp_judge.h"

#include <signal.h>

bool cbx_lsp_judge_start(struct cbx_lsp_judge *judge, const struct cbx_lint_run *how,
                         const struct cbx_lint_path *path, const struct cbx_lint_child *others,
                         size_t other_count)
{
    judge->path = *path;
    judge->paths = (struct cbx_lint_paths){ .items = &judge->path, .count = 1 };
    judge->run = *how;
    judge->run.paths = &judge->paths;
    judge->child = (struct cbx_lint_child){ .range = { .from = 0, .to = 1, .careful = true } };
    if (!cbx_lint_child_start(&judge->child, &judge->run, &judge->current, others, other_count)) {
        judge->child.pid = 0;
        return false;
    }
    if (!cbx_lint_child_send(&judge->child)) {
        cbx_lsp_judge_stop(judge);
        return false;
    }
    return true;
}

int cbx_lsp_judge_read(struct cbx_lsp_judge *judge, struct cbx_lint_result *out, char *why,
                       size_t size)
{
    bool alive = cbx_lint_child_read(&judge->child);
    int taken = cbx_lint_child_take(&judge->child, out);
    if (taken > 0) {
        cbx_lsp_judge_stop(judge);
        return 1;
    }
    if (alive && taken == 0) {
        return 0;
    }
    if (alive) {
        kill(judge->child.pid, SIGKILL);
    }
    cbx_lint_child_end(&judge->child, why, size);
    return -1;
}

void cbx_lsp_judge_stop(struct cbx_lsp_judge *judge)
{
    char why[128];
    kill(judge->child.pid, SIGKILL);
    cbx_lint_child_end(&judge->child, why, sizeof(why));
}
