/* SPDX-License-Identifier: MIT
 * The open documents of an editor: their text, their judgement, and their findings. */
#ifndef CBX_ANALYZER_LINT_LSP_LSP_STORE_H
#define CBX_ANALYZER_LINT_LSP_LSP_STORE_H

#include "analyzer/lint/lsp/document.h"
#include "analyzer/lint/lsp/lsp_judge.h"

enum { CBX_LSP_DOCUMENTS_MAX = 1000, CBX_LSP_JUDGEMENTS_MAX = 4 };

struct cbx_lsp_document {
    char *uri, *path;
    const char *language; /* as in cbx_lint_kind; NULL: the document is not judged */
    json_int_t version;
    struct cbx_buf text;
    bool changed;     /* true if the text changed since its last judgement began */
    bool lost;        /* true if a change did not fit: the text differs from the editor's */
    json_t *findings; /* findings of this version, as in the JSON report; NULL: not known */
    struct cbx_lsp_judge judge;
    struct cbx_lsp_document *next;
};

struct cbx_lsp_store {
    struct cbx_lsp_document *first;
    size_t count;
};

/* Returns the document of this URI; NULL if it is not open. */
struct cbx_lsp_document *cbx_lsp_store_find(const struct cbx_lsp_store *store, struct cbx_str uri);

/* Opens a document, or opens it again. `language_id` is the editor's word for its language, for
 * names that give none. NULL, with the error set, if there are too many documents or it is too
 * large. */
struct cbx_lsp_document *cbx_lsp_store_open(struct cbx_lsp_store *store, struct cbx_str uri,
                                            struct cbx_str language_id, json_int_t version,
                                            struct cbx_str text, struct cbx_err *err);

/* Marks a document as changed: its findings and its running judgement are dropped. */
void cbx_lsp_store_touch(struct cbx_lsp_document *document);

void cbx_lsp_store_close(struct cbx_lsp_store *store, struct cbx_lsp_document *document);
void cbx_lsp_store_done(struct cbx_lsp_store *store);
CBX_DEFINE_AUTO_DONE(lsp_store)

/* Starts judgements of changed documents, up to the allowed number at a time, as `how` specifies
 * (lsp_judge.h). A document whose judgement cannot be started stays changed. */
void cbx_lsp_store_judge(struct cbx_lsp_store *store, const struct cbx_lint_run *how);

#endif
