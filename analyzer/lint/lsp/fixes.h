/* SPDX-License-Identifier: MIT
 * Edits of a document made from a hint whose clauses have forms that a program can apply: "instead
 * of `A` write `B`", "remove `A`", "remove line 3", "add the line `A`", "add `)` at the end of
 * line 3". Pure. */
#ifndef CBX_ANALYZER_LINT_LSP_FIXES_H
#define CBX_ANALYZER_LINT_LSP_FIXES_H

#include "policies/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CBX_LSP_EDITS_MAX = 8 };

/* Replaces the bytes [start, end) of the text by `text` and, if `line`, a line end. */
struct cbx_lsp_edit {
    size_t start, end;
    struct cbx_str text;
    bool line;
};

/* Lines of a finding, from 1. */
struct cbx_lsp_lines {
    uint32_t first, last;
};

/* Makes the edits of the hint in `edits`; returns their number, 0 if no clause has one of the
 * forms or the named code does not occur exactly once. *whole: every clause became an edit.
 * Texts are borrowed from the hint. */
size_t cbx_lsp_fixes(struct cbx_str text, struct cbx_lsp_lines lines, struct cbx_str hint,
                     struct cbx_lsp_edit edits[CBX_LSP_EDITS_MAX], bool *whole);

#endif
