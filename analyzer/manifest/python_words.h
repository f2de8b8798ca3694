/* SPDX-License-Identifier: MIT
 * Packages and commands as Python tools write them in tables: for pyproject.toml and Pipfile. */
#ifndef CBX_ANALYZER_MANIFEST_PYTHON_WORDS_H
#define CBX_ANALYZER_MANIFEST_PYTHON_WORDS_H

#include "analyzer/manifest/documents/doc.h"

struct cbx_python_words {
    const struct cbx_doc *doc;
    struct cbx_arena *arena;
    struct cbx_manifest *out;
    struct cbx_err *err;
    struct cbx_str own; /* the name of the project, which may require itself; may be empty */
};

/* Read one node, whose meaning pyproject.def gives, and add words and pieces. `context` is a
 * struct cbx_python_words. CBX_EINVAL with the place if the node has another form. */
int cbx_python_read_pep508(void *context, const struct cbx_doc_node *node);
int cbx_python_read_group(void *context, const struct cbx_doc_node *node);
int cbx_python_read_poetry(void *context, const struct cbx_doc_node *node);
int cbx_python_read_uv_source(void *context, const struct cbx_doc_node *node);
int cbx_python_read_index(void *context, const struct cbx_doc_node *node);
int cbx_python_read_indexes(void *context, const struct cbx_doc_node *node);
int cbx_python_read_script(void *context, const struct cbx_doc_node *node);

#endif
