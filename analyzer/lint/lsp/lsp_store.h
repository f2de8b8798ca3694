/* SPDX-License-Identifier: MIT
 * The open documents of an editor: their text, their judgement, and what was found. */
#ifndef CBX_ANALYZER_LINT_LSP_LSP_STORE_H
#define CBX_ANALYZER_LINT_LSP_LSP_STORE_H

#include "analyzer/lint/lsp/document.h"
#include "analyzer/lint/lsp/lsp_judge.h"

enum { CBX_LSP_DOCUMENTS_MAX = 1000, CBX_LSP_JUDGEMENTS_MAX = 4 };

struct cbx_lsp_document {
    char *uri, *path;
    const char *language; /* as in cbx_lint_kind; NULL: not judged */
    json_int_t version;
    struct cbx_buf text;
    bool changed;     /* since its last judgement began */
    bool lost;        /* a change did not fit: the text is not that of the editor */
    json_t *findings; /* of this version, as the JSON report has them; NULL: not known */
    struct cbx_lsp_judge judge;
    struct cbx_lsp_document *next;
};

struct cbx_lsp_store {
    struct cbx_lsp_document *first;
    size_t count;
};

/* The document of this URI; NULL when it is not open. */
struct cbx_lsp_document *cbx_lsp_store_find(const struct cbx_lsp_store *store, struct cbx_str uri);

/* Opens a document, or opens it again. `language_id` is the editor's word for its language, for
 * names that say none. NULL, with the error set, when there are too many or it is too large. */
struct cbx_lsp_document *cbx_lsp_store_open(struct cbx_lsp_store *store, struct cbx_str uri,
                                            struct cbx_str language_id, json_int_t version,
                                            struct cbx_str text, struct cbx_err *err);

/* Marks a document as changed: what is known of it and its running judgement are dropped. */
void cbx_lsp_store_touch(struct cbx_lsp_document *document);

void cbx_lsp_store_close(struct cbx_lsp_store *store, struct cbx_lsp_document *document);
void cbx_lsp_store_done(struct cbx_lsp_store *store);
CBX_DEFINE_AUTO_DONE(lsp_store)

/* Starts judgements of changed documents, as many as may run at a time, as `how` says
 * (lsp_judge.h). A document whose judgement cannot be started stays changed. */
void cbx_lsp_store_judge(struct cbx_lsp_store *store, const struct cbx_lint_run *how);

#endif
