/* SPDX-License-Identifier: MIT
 * Documents that are open in an editor: their text, and positions in it as the Language Server
 * Protocol counts them. */
#ifndef CBX_ANALYZER_LINT_LSP_DOCUMENT_H
#define CBX_ANALYZER_LINT_LSP_DOCUMENT_H

#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/base/text/json.h"

enum { CBX_LSP_TEXT_MAX = 64 * 1024 * 1024 };

/* Lines and characters from 0. Lines end with "\n", "\r\n" or "\r". */
struct cbx_lsp_position {
    uint32_t line, character;
};

/* The unit in which characters of a line are counted. */
enum cbx_lsp_encoding { CBX_LSP_UTF16 = 0, CBX_LSP_UTF8 };

/* Returns the byte at a position; for a position behind the end of its line, or of the text,
 * that end. */
size_t cbx_lsp_offset(struct cbx_str text, struct cbx_lsp_position position,
                      enum cbx_lsp_encoding encoding);

/* Converts the line and column of a finding: from 1, in code points. */
struct cbx_lsp_position cbx_lsp_position_of(struct cbx_str text, uint32_t line, uint32_t column,
                                            enum cbx_lsp_encoding encoding);

/* Returns the position of a byte. */
struct cbx_lsp_position cbx_lsp_position_at(struct cbx_str text, size_t offset,
                                            enum cbx_lsp_encoding encoding);

/* Returns the bytes of a line, from 0, without its end; empty behind the last line. */
struct cbx_str cbx_lsp_line(struct cbx_str text, uint32_t line);

/* Applies a TextDocumentContentChangeEvent. CBX_EINVAL if it is malformed or its range ends
 * before it begins, CBX_ETOOBIG if the text gets too large. */
int cbx_lsp_apply(struct cbx_buf *text, const json_t *change, enum cbx_lsp_encoding encoding,
                  struct cbx_err *err);

/* Make {line, character}, and {start, end}; new references. */
json_t *cbx_lsp_position_json(struct cbx_lsp_position position);
json_t *cbx_lsp_range_json(struct cbx_lsp_position start, struct cbx_lsp_position end);

/* Reads a position. False if it is malformed. */
bool cbx_lsp_position_read(const json_t *json, struct cbx_lsp_position *out);

#endif
