/* SPDX-License-Identifier: MIT
 * The options of codebox-lint, out of one table: lint_options.def. */
#ifndef CBX_ANALYZER_LINT_LINT_OPTIONS_H
#define CBX_ANALYZER_LINT_LINT_OPTIONS_H

#include "policies/base/options/options.h"

/* The options. Borrowed from argv; NULL, false, 0 and none if an option is not given. */
struct cbx_lint_options {
#define CBX_OPTION(member, name, letter, type, value, words, lo, hi, help) CBX_MEMBER_##type member;
#include "analyzer/lint/lint_options.def"
#undef CBX_OPTION
    struct cbx_words paths;
    struct cbx_arena arena; /* memory of the lists */
};

/* Reads the command line (cbx_options_read). The caller calls cbx_lint_options_done, also after
 * a failure. */
int cbx_lint_options_parse(int argc, char **argv, struct cbx_lint_options *out,
                           struct cbx_err *err);
void cbx_lint_options_done(struct cbx_lint_options *options);
CBX_DEFINE_AUTO_DONE(lint_options)

/* Appends the output of --help. */
void cbx_lint_help(struct cbx_buf *out);

/* Appends the output of --completion; `shell` is one of its words. */
void cbx_lint_completion(const char *shell, struct cbx_buf *out);

#endif
