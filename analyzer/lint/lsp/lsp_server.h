/* SPDX-License-Identifier: MIT
 * codebox-lint --lsp: a language server (LSP 3.17) on standard input and output. Publishes the
 * findings of open documents, and offers the edits that their hints describe. */
#ifndef CBX_ANALYZER_LINT_LSP_LSP_SERVER_H
#define CBX_ANALYZER_LINT_LSP_LSP_SERVER_H

#include "analyzer/lint/lint_run.h"

/* Serves until the client ends. The format of `lint` must give JSON. Returns the exit status: 0
 * after shutdown and exit, 1 without shutdown, 2 if the input is no LSP, with the reason on
 * standard error. */
int cbx_lsp_serve(const struct cbx_lint *lint);

#endif
