/* SPDX-License-Identifier: MIT
 * What a file is to codebox-lint: by its name, else by its first bytes. */
#ifndef CBX_ANALYZER_LINT_KIND_H
#define CBX_ANALYZER_LINT_KIND_H

#include "analyzer/filetype.h"

#define CBX_LINT_NOTEBOOK "notebook"

struct cbx_lint_kind {
    const char *language;   /* of policies/languages.def, CBX_LINT_NOTEBOOK, or a reader of
                               manifest/manifest.def; NULL: not judged */
    struct cbx_str foreign; /* the language without an analyzer; may lie in `head` */
    /* its code is examples: in folders it is judged on request, and it does not count as code */
    bool document;
    bool binary;
    int error; /* errno: the first bytes could not be read */
    char head[CBX_FILETYPE_HEAD_BYTES];
};

/* By the name; of Markdown also by whether its folder is that of a skill. */
void cbx_lint_kind_of_name(const char *path, struct cbx_lint_kind *out);

/* By the name; when that says nothing the file's first bytes are read. `flags` are more flags for
 * open(2). Anything but a regular file is read as an empty one. */
void cbx_lint_kind_of_file(const char *path, int flags, struct cbx_lint_kind *out);

/* True when it is code, with an analyzer or without, or when that cannot be told: it is not
 * readable. */
bool cbx_lint_kind_is_code(const struct cbx_lint_kind *kind);

/* Writes why a file that is given by name is not judged: at most `size` bytes, terminated. */
void cbx_lint_kind_describe(const struct cbx_lint_kind *kind, char *out, size_t size);

#endif
