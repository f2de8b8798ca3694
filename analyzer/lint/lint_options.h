/* SPDX-License-Identifier: MIT
 * The options of codebox-lint, out of one table: lint_options.def. */
#ifndef CBX_ANALYZER_LINT_LINT_OPTIONS_H
#define CBX_ANALYZER_LINT_LINT_OPTIONS_H

#include "policies/base/options.h"

/* Borrowed from argv; NULL, false, 0 and none when an option is not given. */
struct cbx_lint_options {
#define CBX_OPTION(member, name, letter, type, value, words, lo, hi, help) CBX_MEMBER_##type member;
#include "analyzer/lint/lint_options.def"
#undef CBX_OPTION
    struct cbx_words paths;
    struct cbx_arena arena; /* that the lists lie in */
};

/* Reads the command line (cbx_options_read). The options are the caller's also when it
 * fails: cbx_lint_options_done. */
int cbx_lint_options_parse(int argc, char **argv, struct cbx_lint_options *out,
                           struct cbx_err *err);
void cbx_lint_options_done(struct cbx_lint_options *options);
CBX_DEFINE_AUTO_DONE(lint_options)

/* Appends what --help prints. */
void cbx_lint_help(struct cbx_buf *out);

/* Appends what --completion prints; `shell` is one of its words. */
void cbx_lint_completion(const char *shell, struct cbx_buf *out);

#endif
