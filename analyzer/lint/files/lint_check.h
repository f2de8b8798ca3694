/* SPDX-License-Identifier: MIT
 * The state of the check of one file, for file.c, check_notebook.c and check_manifest.c only. */
#ifndef CBX_ANALYZER_LINT_FILES_LINT_CHECK_H
#define CBX_ANALYZER_LINT_FILES_LINT_CHECK_H

#include "analyzer/build.h"
#include "analyzer/lang/python/notebook/ipynb.h"
#include "analyzer/lint/files/file.h"
#include "analyzer/lint/paths/skips.h"
#include "analyzer/manifest/manifest.h"

struct cbx_past;
struct cbx_program;

struct cbx_lint_check {
    const struct cbx_lint *lint;
    struct cbx_lint_worker *worker;
    struct cbx_report_file file;
    struct cbx_report_finding *findings; /* findings of all cells so far */
    size_t count, size;
    enum cbx_verdict floor; /* verdict of decisions that are stricter than their findings */
    /* of the code that is being judged: where it runs, the files that earlier code of the same
     * build downloaded, its working folder, its kind in the manifest */
    enum cbx_build build;
    struct cbx_downloads *downloads;
    struct cbx_str folder;
    enum cbx_manifest_code code;
    bool unreadable; /* true if the code that was judged last cannot be read */
    bool foreign;    /* true if the whole file is code without an analyzer */
    /* past of the earlier cells, in a language whose cells share names; or NULL */
    struct cbx_past *past;
    json_t **skipped; /* `skipped` of the result */
    struct cbx_buf *output;
    struct cbx_err *err;
};

/* Notes code of the file that is not judged. */
void cbx_lint_check_skip(struct cbx_lint_check *c, enum cbx_lint_skip reason,
                         struct cbx_str language);

/* Makes room for `more` findings; CBX_ETOOBIG if there is none. */
int cbx_lint_check_reserve(struct cbx_lint_check *c, size_t more);

/* Keeps a finding, for which there is room. Copies the texts that it borrows: the memory of a
 * cell's analysis is reused for the next cell. */
void cbx_lint_check_keep(struct cbx_lint_check *c, const struct cbx_finding *finding,
                         const struct cbx_cell *cell, struct cbx_str source);

/* Notes the verdict of a decision. A denial that is stricter than its findings (unreadable
 * source under a log-only policy; findings over the cap) stays a denial, whatever is suppressed. */
void cbx_lint_check_verdict(struct cbx_lint_check *c, const struct cbx_decision *decision);

/* Appends a decision, or its findings, to the output: --dump. */
int cbx_lint_check_dump(struct cbx_lint_check *c, const struct cbx_decision *decision);

/* Judges one cell, alone and as number `index` of its program, which may be NULL, and keeps its
 * findings; adds it to the past if there is one. */
int cbx_lint_check_cell(struct cbx_lint_check *c, const struct cbx_cell *cell,
                        const struct cbx_program *program, size_t index);

/* Judges a notebook, in the language of its kernel. */
int cbx_lint_check_notebook(struct cbx_lint_check *c, struct cbx_str text);

/* Judges a file that a manifest reader splits: its packages and its pieces of code. */
int cbx_lint_check_manifest(struct cbx_lint_check *c, const struct cbx_manifest_reader *reader,
                            struct cbx_str text);

#endif
