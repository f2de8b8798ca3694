/* SPDX-License-Identifier: MIT
 * Checks one file: reads it, splits it into cells, judges them, suppresses and reports findings. */
#ifndef CBX_ANALYZER_LINT_FILES_FILE_H
#define CBX_ANALYZER_LINT_FILES_FILE_H

#include "analyzer/lint/files/baseline.h"
#include "analyzer/lint/paths/lint_paths.h"

enum cbx_lint_stage {
    CBX_STAGE_REPORT = 0,
    CBX_STAGE_TREE,
    CBX_STAGE_FACTS,
    CBX_STAGE_FINDINGS,
    CBX_STAGE_DECISION
};

enum { CBX_LINT_OUTPUT_MAX_BYTES = 256 * 1024 * 1024 };

/* The configuration of all checks; immutable except for the baseline's marks. */
struct cbx_lint {
    struct cbx_report report;
    const struct cbx_report_format *format;
    enum cbx_lint_stage stage;
    struct cbx_baseline *baseline;
    bool record; /* collect findings for a new baseline */
    int64_t now; /* Unix seconds, for exceptions */
};

/* The memory of a process that checks files. */
struct cbx_lint_worker {
    /* SIGALRM is raised if the judgement of a file takes longer than this for each started MiB
     * of the file; 0: no limit */
    unsigned limit_ms;
    struct cbx_arena analysis; /* of one cell */
    struct cbx_arena file;     /* arena of one file: its cells, their program, their findings */
    struct cbx_buf text;
};
void cbx_lint_worker_init(struct cbx_lint_worker *worker);
void cbx_lint_worker_done(struct cbx_lint_worker *worker);
CBX_DEFINE_AUTO_DONE(lint_worker)

/* The result of one file. */
struct cbx_lint_result {
    struct cbx_buf output; /* the file's part of the report */
    int status;            /* 0 allowed, 1 denied or needs approval, 2 not checked */
    size_t findings, suppressed;
    json_t *failure; /* {uri, error, path}, NULL if the file was checked */
    json_t *entries; /* entries for a new baseline, NULL without one */
    json_t *skipped; /* code of the file that was not judged (cbx_lint_skips_take), NULL for none */
};
void cbx_lint_result_done(struct cbx_lint_result *result);

/* Checks one file. The caller owns *out. */
void cbx_lint_file(const struct cbx_lint *lint, struct cbx_lint_worker *worker,
                   const struct cbx_lint_path *path, struct cbx_lint_result *out);

/* Makes the result of a file that could not be checked, with the reason. The caller owns *out. */
void cbx_lint_file_failed(const struct cbx_lint *lint, const struct cbx_lint_path *path,
                          const char *why, struct cbx_lint_result *out);

#endif
