/* SPDX-License-Identifier: MIT
 * The processes that check files, one per CPU: a file that crashes or hangs the analyzer ends one
 * of them, and its parent knows the file. Each takes ranges of paths from a socket and answers
 * with their results in order. */
#ifndef CBX_ANALYZER_LINT_CHILD_H
#define CBX_ANALYZER_LINT_CHILD_H

#include "analyzer/lint/lint_run.h"

#include <stdatomic.h>
#include <sys/types.h>

/* Paths [from, to). */
struct cbx_lint_range {
    size_t from, to;
    bool careful; /* true: send each result at once */
};

struct cbx_lint_child {
    pid_t pid; /* 0: not started */
    int fd;
    struct cbx_lint_range range; /* `from` is the next path whose result has not arrived */
    size_t rest; /* paths [range.to + 1, rest) follow; none when it is at most range.to */
    struct cbx_buf in;
};

/* Starts a process. *current, shared memory, is set to the path that the process checks.
 * `others` are the running children. False if no process can be started. */
bool cbx_lint_child_start(struct cbx_lint_child *child, const struct cbx_lint_run *run,
                          atomic_size_t *current, const struct cbx_lint_child *others,
                          size_t other_count);

/* Assigns child->range to the process; false if it has ended. */
bool cbx_lint_child_send(struct cbx_lint_child *child);

/* Waits for bytes and reads them. False if the process has ended. */
bool cbx_lint_child_read(struct cbx_lint_child *child);

/* Takes one result out of the received bytes: 1 and *out, which the caller owns; 0 if none is
 * complete; -1 if the bytes are no result of child->range.from. */
int cbx_lint_child_take(struct cbx_lint_child *child, struct cbx_lint_result *out);

/* Waits for the end of a process that ends, or that has no work, and writes the reason. */
void cbx_lint_child_end(struct cbx_lint_child *child, char *why, size_t size);

#endif
