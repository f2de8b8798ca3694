/* SPDX-License-Identifier: MIT
 * Which files codebox-lint checks: those that are named, and in folders those of a known language
 * that neither .gitignore nor --exclude leaves out. Links are not followed below a folder, so a
 * loop of them ends. */
#ifndef CBX_ANALYZER_LINT_PATHS_H
#define CBX_ANALYZER_LINT_PATHS_H

#include "analyzer/lint/ignore.h"
#include "policies/base/buf.h"

/* What is looked for in folders. */
struct cbx_lint_filter {
    const char *language;   /* every file is of it; NULL: by the files' names */
    const char *input_name; /* what standard input is called, NULL: '-' */
    bool no_ignore;
    const struct cbx_ignore *include, *exclude; /* NULL: no such option */
};

struct cbx_lint_path {
    bool input;            /* standard input, whatever it is called */
    struct cbx_str path;   /* as it was found; terminated */
    struct cbx_str normal; /* what cbx_lint_path_normal makes of it */
    const char *language;  /* a language, or "notebook" */
    struct cbx_str error;  /* not empty: why it cannot be checked */
};

struct cbx_lint_paths {
    struct cbx_arena arena;
    struct cbx_str folder; /* the working directory */
    struct cbx_lint_path *items;
    size_t count, size;
    size_t ignored; /* files and folders that were left out by a pattern */
};

/* CBX_EIO when there is no working directory. */
int cbx_lint_paths_init(struct cbx_lint_paths *paths, struct cbx_err *err);
void cbx_lint_paths_done(struct cbx_lint_paths *paths);
CBX_DEFINE_AUTO_DONE(lint_paths)

/* Adds a file, all of a folder, or '-'. What cannot be read is added with its error, so it is told
 * in its place. CBX_ETOOBIG when the list takes too much memory. */
int cbx_lint_paths_add(struct cbx_lint_paths *paths, const struct cbx_lint_filter *filter,
                       const char *argument, struct cbx_err *err);

/* In order of the normal paths, each once. */
void cbx_lint_paths_sort(struct cbx_lint_paths *paths);

/* Appends a path without "." and ".." and doubled slashes: relative to `folder` (absolute, without
 * a slash at its end) when it is below it, "." for the folder itself, else absolute. By its letters
 * alone. */
void cbx_lint_path_normal(struct cbx_str path, struct cbx_str folder, struct cbx_buf *out);

#endif
