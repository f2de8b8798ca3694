/* SPDX-License-Identifier: MIT
 * Baselines: lists of old findings, so that old code can be checked for new ones. A finding is
 * identified by its rule, its file, the text of its line and its number among equal ones, so its
 * line may move. */
#ifndef CBX_ANALYZER_LINT_FILES_BASELINE_H
#define CBX_ANALYZER_LINT_FILES_BASELINE_H

#include "analyzer/report/report.h"

enum {
    CBX_FINGERPRINT_HEX = 32,
    CBX_BASELINE_MAX_BYTES = 64 * 1024 * 1024,
    CBX_BASELINE_ENTRIES_MAX = 500000,
};

/* Computes the fingerprint of each finding of a file; texts lie in the arena. CBX_ETOOBIG when it
 * is exhausted. */
int cbx_lint_fingerprint(struct cbx_str uri, struct cbx_report_finding *findings, size_t count,
                         struct cbx_arena *arena, struct cbx_err *err);

struct cbx_baseline;

/* Reads {"version": 1, "tool": "codebox-lint", "findings": [{rule, path, fingerprint}]}.
 * Anything else is an error that names what was found: CBX_EINVAL, CBX_ETOOBIG, CBX_EIO. The
 * caller owns *out. */
int cbx_baseline_load(const char *path, struct cbx_baseline **out, struct cbx_err *err);
int cbx_baseline_parse(struct cbx_str json, struct cbx_baseline **out, struct cbx_err *err);
void cbx_baseline_free(struct cbx_baseline *baseline);
CBX_DEFINE_AUTO(baseline)

/* Suppresses the findings of a file that are in the baseline, except findings of built-in rules,
 * and marks their entries as seen. A process that was forked after the baseline was read may do
 * so too. */
void cbx_baseline_suppress(struct cbx_baseline *baseline, struct cbx_str uri,
                           struct cbx_report_finding *findings, size_t count);

/* Returns the number of entries without a mark, among those whose path `covers` accepts. */
size_t cbx_baseline_gone(const struct cbx_baseline *baseline,
                         bool (*covers)(const void *context, struct cbx_str path),
                         const void *context);

/* Appends the entry of a finding to `entries`, an array. */
void cbx_baseline_record(json_t *entries, struct cbx_str uri,
                         const struct cbx_report_finding *finding);

/* Writes a baseline of these entries, sorted, atomically. CBX_EIO. */
int cbx_baseline_write(const char *path, const json_t *entries, struct cbx_err *err);

#endif
