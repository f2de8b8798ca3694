/* SPDX-License-Identifier: MIT
 * All files, several at a time, reported in their order. */
#ifndef CBX_ANALYZER_LINT_RUN_H
#define CBX_ANALYZER_LINT_RUN_H

#include "analyzer/lint/file.h"

enum { CBX_LINT_JOBS_MAX = 256 };

/* How many CPUs this process may use. */
unsigned cbx_lint_cpus(void);

/* Gets each result in the order of the paths, in the thread that called cbx_lint_run. `done` of
 * `all` files are through with it. */
struct cbx_lint_sink {
    void (*take)(void *context, struct cbx_lint_result *result, size_t done, size_t all);
    void *context;
};

/* Checks all paths with `jobs` threads (1: in this one). Results that wait for an earlier file are
 * few: a thread that is far ahead waits too. */
void cbx_lint_run(const struct cbx_lint *lint, const struct cbx_lint_paths *paths, unsigned jobs,
                  const struct cbx_lint_sink *sink);

#endif
