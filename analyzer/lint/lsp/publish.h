/* SPDX-License-Identifier: MIT
 * Findings as diagnostics of the Language Server Protocol, and their hints as code actions. */
#ifndef CBX_ANALYZER_LINT_LSP_PUBLISH_H
#define CBX_ANALYZER_LINT_LSP_PUBLISH_H

#include "analyzer/lint/lsp/lsp_store.h"

/* The parameters of textDocument/publishDiagnostics, for the findings of the document. A new
 * reference. */
json_t *cbx_lsp_diagnostics(const struct cbx_lsp_document *document,
                            enum cbx_lsp_encoding encoding);

/* The same with one diagnostic: the document was not judged, for this reason. */
json_t *cbx_lsp_diagnostics_failed(const struct cbx_lsp_document *document, const char *why);

/* The quick fixes for the findings that overlap the range. `versioned`: the client reads
 * documentChanges. A new reference. */
json_t *cbx_lsp_actions(const struct cbx_lsp_document *document, struct cbx_lsp_position start,
                        struct cbx_lsp_position end, enum cbx_lsp_encoding encoding,
                        bool versioned);

#endif
