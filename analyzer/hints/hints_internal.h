/* SPDX-License-Identifier: MIT
 * Shared by the parts of hints.h: choosing (hints.c), judging (hints_allow.c), replacing
 * (hints_replace.c). */
#ifndef CBX_ANALYZER_HINTS_HINTS_INTERNAL_H
#define CBX_ANALYZER_HINTS_HINTS_INTERNAL_H

#include "analyzer/hints/hints.h"
#include "policies/base/buf.h"
#include "policies/language.h"

enum { CBX_HINT_BYTES = 1024, CBX_HINT_CALLS_MAX = 4 /* of one finding */ };

/* True when the policy allows this program; and this piece of code of the request's language, with
 * the modules that it names. */
bool cbx_hints_allow(const struct cbx_hints *hints, struct cbx_str language, struct cbx_str code);
bool cbx_hints_allow_piece(const struct cbx_hints *hints, struct cbx_str code);

/* True when what holds for `language` holds for the source. */
bool cbx_hints_holds(const struct cbx_hints *hints, enum cbx_language language);

/* The row of hints.def for the source's language (static); empty texts when there is none. */
struct cbx_hint_piece {
    enum cbx_language language;
    const char *before, *after, *modules, *none;
};
const struct cbx_hint_piece *cbx_hints_piece(const struct cbx_hints *hints);

/* Appends the statement that imports `module`, in the form of `line`; nothing in a language
 * without one. */
void cbx_hints_add_import(const struct cbx_hints *hints, struct cbx_str line, struct cbx_str module,
                          struct cbx_buf *out);

/* The end of the name that begins at `from`; `from` when there is none. */
size_t cbx_hints_name_end(struct cbx_str text, size_t from);

/* The end of the clause that begins at `from`: a "; " outside backquotes, or the end. */
size_t cbx_hints_clause_end(struct cbx_str hint, size_t from);

/* Appends clauses that replace code of the source by other code: commands that the finding's
 * calls start, constant code and modules in their arguments, paths outside. Nothing when there
 * are none. */
void cbx_hints_replace(const struct cbx_hints *hints, const struct cbx_finding *finding,
                       struct cbx_buf *out);

#endif
