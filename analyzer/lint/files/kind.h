/* SPDX-License-Identifier: MIT
 * How codebox-lint treats a file: by its name, else by its first bytes. */
#ifndef CBX_ANALYZER_LINT_FILES_KIND_H
#define CBX_ANALYZER_LINT_FILES_KIND_H

#include "analyzer/filetype.h"

#define CBX_LINT_NOTEBOOK "notebook"

struct cbx_lint_kind {
    /* a language of policies/languages.def, CBX_LINT_NOTEBOOK, or a reader of
     * manifest/manifest.def; NULL: the file is not judged */
    const char *language;
    /* the language, if there is no analyzer for it; may point into `head` */
    struct cbx_str foreign;
    /* true if its code is examples: in folders it is judged on request, and it does not count as
     * code */
    bool document;
    bool binary;
    int error; /* errno if the first bytes could not be read */
    char head[CBX_FILETYPE_HEAD_BYTES];
};

/* Determines the kind by the name; for Markdown also by whether its folder is a skill's. */
void cbx_lint_kind_of_name(const char *path, struct cbx_lint_kind *out);

/* Determines the kind by the name, else by the file's first bytes. `flags` are more flags for
 * open(2). Anything but a regular file counts as empty. */
void cbx_lint_kind_of_file(const char *path, int flags, struct cbx_lint_kind *out);

/* Returns true if it is code, with or without an analyzer, or if the file is not readable. */
bool cbx_lint_kind_is_code(const struct cbx_lint_kind *kind);

/* Writes why a file that was given by name is not judged: at most `size` bytes, terminated. */
void cbx_lint_kind_describe(const struct cbx_lint_kind *kind, char *out, size_t size);

#endif
