/* SPDX-License-Identifier: MIT
 * The options of codebox-lint, out of one table: options.def. */
#ifndef CBX_ANALYZER_LINT_OPTIONS_H
#define CBX_ANALYZER_LINT_OPTIONS_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

/* The values of an option that may be given more than once. */
struct cbx_words {
    const char **items;
    size_t count;
};

#define CBX_OPTION_FLAG bool
#define CBX_OPTION_TEXT const char *
#define CBX_OPTION_WORD const char *
#define CBX_OPTION_LIST struct cbx_words

/* Borrowed from argv; NULL, false and none when an option is not given. */
struct cbx_lint_options {
#define CBX_OPTION(member, name, type, value, words, help) CBX_OPTION_##type member;
#include "analyzer/lint/options.def"
#undef CBX_OPTION
    struct cbx_words paths;
    const char **memory; /* that the lists lie in */
};

/* CBX_EINVAL says what is wrong with which option, and what is allowed. --NAME VALUE and
 * --NAME=VALUE are the same; behind "--" everything is a path. */
int cbx_lint_options_parse(int argc, char **argv, struct cbx_lint_options *out,
                           struct cbx_err *err);
void cbx_lint_options_done(struct cbx_lint_options *options);
CBX_DEFINE_AUTO_DONE(lint_options)

/* Appends what --help prints. */
void cbx_lint_help(struct cbx_buf *out);

/* Appends what --completion prints; `shell` is one of its words. */
void cbx_lint_completion(const char *shell, struct cbx_buf *out);

#endif
