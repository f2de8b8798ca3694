/* SPDX-License-Identifier: MIT
 * The patterns of a .gitignore file, by gitignore(5): comments, negation, anchoring, folders, sets,
 * "**". Also the globs of --include and --exclude. */
#ifndef CBX_ANALYZER_LINT_PATHS_IGNORE_H
#define CBX_ANALYZER_LINT_PATHS_IGNORE_H

#include "policies/base/arena.h"
#include "policies/base/err.h"

enum { CBX_IGNORE_MAX_BYTES = 1024 * 1024, CBX_IGNORE_PATTERNS_MAX = 20000 };

/* The result of a list of patterns for a path. */
enum cbx_ignored { CBX_IGNORE_SILENT = 0, CBX_IGNORE_OUT, CBX_IGNORE_IN };

struct cbx_ignore;

/* Parses the lines of a file. CBX_ETOOBIG over the limits: then no pattern of the file counts.
 * The caller owns *out. */
int cbx_ignore_new(struct cbx_str text, struct cbx_ignore **out, struct cbx_err *err);
void cbx_ignore_free(struct cbx_ignore *ignore);
CBX_DEFINE_AUTO(ignore)

/* Matches a path; the last pattern that matches decides. `path` is relative to the folder of the
 * patterns, without a leading "./". */
enum cbx_ignored cbx_ignore_match(const struct cbx_ignore *ignore, struct cbx_str path,
                                  bool folder);

/* Returns true if a pattern matches the path of a file, or a folder that contains it. */
bool cbx_ignore_covers(const struct cbx_ignore *ignore, struct cbx_str path);

#endif
