/* SPDX-License-Identifier: MIT
 * Baselines: findings that were there before, so that old code can be checked for new ones. A
 * finding is known again by its rule, its file, the text of its line and its number among those
 * that are the same, so it may be moved. */
#ifndef CBX_ANALYZER_LINT_BASELINE_H
#define CBX_ANALYZER_LINT_BASELINE_H

#include "analyzer/report/report.h"

enum {
    CBX_FINGERPRINT_HEX = 32,
    CBX_BASELINE_MAX_BYTES = 64 * 1024 * 1024,
    CBX_BASELINE_ENTRIES_MAX = 500000,
};

/* Gives each finding of a file its fingerprint; texts live in the arena. CBX_ETOOBIG when that
 * is exhausted. */
int cbx_lint_fingerprint(struct cbx_str uri, struct cbx_report_finding *findings, size_t count,
                         struct cbx_arena *arena, struct cbx_err *err);

struct cbx_baseline;

/* Reads {"version": 1, "tool": "codebox-lint", "findings": [{rule, path, fingerprint}]}. Whatever
 * else the file holds is refused: CBX_EINVAL, CBX_ETOOBIG, CBX_EIO; the text says what was found.
 * *out is the caller's. */
int cbx_baseline_load(const char *path, struct cbx_baseline **out, struct cbx_err *err);
int cbx_baseline_parse(struct cbx_str json, struct cbx_baseline **out, struct cbx_err *err);
void cbx_baseline_free(struct cbx_baseline *baseline);
CBX_DEFINE_AUTO(baseline)

/* Marks the findings of a file that it holds, but none of a built-in rule, and remembers that they
 * were seen. Thread-safe. */
void cbx_baseline_suppress(struct cbx_baseline *baseline, struct cbx_str uri,
                           struct cbx_report_finding *findings, size_t count);

/* How many entries nothing was seen of, among those whose path `covers` says yes to. */
size_t cbx_baseline_gone(const struct cbx_baseline *baseline,
                         bool (*covers)(const void *context, struct cbx_str path),
                         const void *context);

/* Adds what a baseline keeps of a finding to `entries`, an array. */
void cbx_baseline_record(json_t *entries, struct cbx_str uri,
                         const struct cbx_report_finding *finding);

/* Writes a baseline of these entries, sorted, in one step: the file is the old one or the new
 * one. CBX_EIO. */
int cbx_baseline_write(const char *path, const json_t *entries, struct cbx_err *err);

#endif
