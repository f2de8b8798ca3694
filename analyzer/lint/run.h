/* SPDX-License-Identifier: MIT
 * Checks files in parallel and reports them in order. */
#ifndef CBX_ANALYZER_LINT_RUN_H
#define CBX_ANALYZER_LINT_RUN_H

#include "analyzer/lint/file.h"

enum { CBX_LINT_JOBS_MAX = 256 };

/* The number of CPUs that this process may use. */
unsigned cbx_lint_cpus(void);

/* Called with each result in the order of the paths, in the thread that called cbx_lint_run. `done`
 * of `all` files are finished. */
struct cbx_lint_sink {
    void (*take)(void *context, struct cbx_lint_result *result, size_t done, size_t all);
    void *context;
};

/* Checks all paths with `jobs` threads (1: in the calling thread). The number of results that wait
 * for an earlier file is bounded: a thread that is far ahead waits. */
void cbx_lint_run(const struct cbx_lint *lint, const struct cbx_lint_paths *paths, unsigned jobs,
                  const struct cbx_lint_sink *sink);

#endif
