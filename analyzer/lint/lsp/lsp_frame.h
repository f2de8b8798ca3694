/* SPDX-License-Identifier: MIT
 * Messages of the Language Server Protocol on a byte stream: headers, an empty line, a body of
 * JSON. Pure. */
#ifndef CBX_ANALYZER_LINT_LSP_LSP_FRAME_H
#define CBX_ANALYZER_LINT_LSP_LSP_FRAME_H

#include "policies/base/err.h"
#include "policies/base/str.h"

enum { CBX_LSP_BODY_MAX = 16 * 1024 * 1024, CBX_LSP_HEADERS_MAX = 4096 };

/* Takes the first message of `in`: 1 and its body, *used bytes in all; 0 if it is incomplete;
 * negative for headers that are malformed, that repeat or lack the length, or whose length or
 * charset is not allowed. No further message can be found after such headers. */
int cbx_lsp_frame_next(struct cbx_str in, struct cbx_str *body, size_t *used, struct cbx_err *err);

#endif
