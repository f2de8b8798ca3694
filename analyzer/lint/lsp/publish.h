/* SPDX-License-Identifier: MIT
 * Findings as diagnostics of the Language Server Protocol, and their hints as code actions. */
#ifndef CBX_ANALYZER_LINT_LSP_PUBLISH_H
#define CBX_ANALYZER_LINT_LSP_PUBLISH_H

#include "analyzer/lint/lsp/lsp_store.h"

/* Returns the parameters of textDocument/publishDiagnostics, for the findings of the document
 * (new reference). */
json_t *cbx_lsp_diagnostics(const struct cbx_lsp_document *document,
                            enum cbx_lsp_encoding encoding);

/* Returns the same with one diagnostic: the reason why the document was not judged. */
json_t *cbx_lsp_diagnostics_failed(const struct cbx_lsp_document *document, const char *why);

/* Returns the quick fixes for the findings that overlap the range (new reference). `versioned`:
 * the client supports documentChanges. */
json_t *cbx_lsp_actions(const struct cbx_lsp_document *document, struct cbx_lsp_position start,
                        struct cbx_lsp_position end, enum cbx_lsp_encoding encoding,
                        bool versioned);

#endif
