/* SPDX-License-Identifier: MIT
 * The files that codebox-lint checks: files given by name, and in folders the files of a known
 * language, by their names or first lines, that neither .gitignore nor --exclude excludes. Links
 * below a folder are not followed, so loops end. Everything else in a folder is counted. */
#ifndef CBX_ANALYZER_LINT_PATHS_LINT_PATHS_H
#define CBX_ANALYZER_LINT_PATHS_LINT_PATHS_H

#include "analyzer/lint/paths/ignore.h"
#include "analyzer/lint/paths/skips.h"
#include "policies/base/buf.h"

/* The filter for folders. */
struct cbx_lint_filter {
    const char *language;   /* the language of every file; NULL: by the file names */
    const char *input_name; /* the name of standard input in reports, NULL: '-' */
    bool no_ignore;
    bool hidden;     /* dot files and folders too */
    bool markdown;   /* documents too */
    bool count_code; /* search the folders that are left out for code, to count it */
    const struct cbx_ignore *include, *exclude; /* NULL: no such option */
};

struct cbx_lint_path {
    bool input; /* standard input */
    bool held;  /* an editor holds it: `text` is checked, the file is not read */
    struct cbx_str text;
    struct cbx_str path;   /* as it was found; terminated */
    struct cbx_str normal; /* the result of cbx_lint_path_normal */
    const char *language;  /* as in cbx_lint_kind */
    struct cbx_str error;  /* not empty: the reason why it cannot be checked */
};

struct cbx_lint_paths {
    struct cbx_arena arena;
    struct cbx_str folder; /* the working directory */
    struct cbx_lint_path *items;
    size_t count, size;
    struct cbx_lint_skips skips;
};

/* CBX_EIO when there is no working directory. */
int cbx_lint_paths_init(struct cbx_lint_paths *paths, struct cbx_err *err);
void cbx_lint_paths_done(struct cbx_lint_paths *paths);
CBX_DEFINE_AUTO_DONE(lint_paths)

/* Adds a file, the files of a folder, or '-'. A file that cannot be read is added with its error,
 * which is reported in order. CBX_ETOOBIG when the list takes too much memory. */
int cbx_lint_paths_add(struct cbx_lint_paths *paths, const struct cbx_lint_filter *filter,
                       const char *argument, struct cbx_err *err);

/* Sorts by normal path and removes duplicates. */
void cbx_lint_paths_sort(struct cbx_lint_paths *paths);

/* Appends a path without "." and ".." and doubled slashes: relative to `folder` (absolute, without
 * a slash at its end) when it is below it, "." for the folder itself, else absolute. Purely
 * textual. */
void cbx_lint_path_normal(struct cbx_str path, struct cbx_str folder, struct cbx_buf *out);

#endif
