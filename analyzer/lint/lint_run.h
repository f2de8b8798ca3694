/* SPDX-License-Identifier: MIT
 * Checks files in parallel and reports them in order. A file that crashes or hangs the analyzer
 * gets a result with the reason, and no other file loses its verdict. */
#ifndef CBX_ANALYZER_LINT_LINT_RUN_H
#define CBX_ANALYZER_LINT_LINT_RUN_H

#include "analyzer/lint/files/file.h"

enum { CBX_LINT_JOBS_MAX = 256 };

/* Returns the number of CPUs that this process may use. */
unsigned cbx_lint_cpus(void);

/* Called with each result in the order of the paths, in the process that called cbx_lint_run.
 * `done` of `all` files are finished. */
struct cbx_lint_sink {
    void (*take)(void *context, struct cbx_lint_result *result, size_t done, size_t all);
    void *context;
};

struct cbx_lint_run {
    const struct cbx_lint *lint;
    const struct cbx_lint_paths *paths;
    unsigned jobs;     /* number of processes that check files at the same time */
    unsigned limit_ms; /* time for the first MiB of a file, and for each further one */
    /* checks one file: cbx_lint_file */
    void (*check)(const struct cbx_lint *lint, struct cbx_lint_worker *worker,
                  const struct cbx_lint_path *path, struct cbx_lint_result *out);
};

/* Well above the analyzer's own budgets: a judgement that takes longer hangs. */
enum { CBX_LINT_LIMIT_MS = 60 * 1000 };

/* Checks all paths. The number of results that wait for an earlier file is bounded. Starts
 * processes; but a single path whose format has no end is checked in this process, because
 * starting a process takes as long as the judgement: a crash ends it with status 2 and the
 * file's name on standard error. */
void cbx_lint_run(const struct cbx_lint_run *run, const struct cbx_lint_sink *sink);

#endif
