/* SPDX-License-Identifier: MIT
 * Declarations shared by the parts of hints.h: choosing (hints.c), judging (hints_allow.c),
 * replacing (hints_replace.c). */
#ifndef CBX_ANALYZER_HINTS_HINTS_INTERNAL_H
#define CBX_ANALYZER_HINTS_HINTS_INTERNAL_H

#include "analyzer/hints/hints.h"
#include "policies/base/buf.h"
#include "policies/language.h"

enum {
    CBX_HINT_BYTES = 1024,
    CBX_HINT_CALLS_MAX = 4 /* longest hint of one finding */,
    CBX_HINT_WORDS_MAX = 8
};

/* Return true if the policy allows this program, and this piece of code of the request's
 * language with the modules that it names. */
bool cbx_hints_allow(const struct cbx_hints *hints, struct cbx_str language, struct cbx_str code);
bool cbx_hints_allow_piece(const struct cbx_hints *hints, struct cbx_str code);

/* Returns true if a row for `language` holds for the source. */
bool cbx_hints_holds(const struct cbx_hints *hints, enum cbx_language language);

/* Returns the row of hints.def for the source's language (static); empty texts if there is none. */
struct cbx_hint_piece {
    enum cbx_language language;
    const char *before, *after, *modules, *none;
};
const struct cbx_hint_piece *cbx_hints_piece(const struct cbx_hints *hints);

/* Appends the statement that imports `module`, in the form of `line`; nothing in a language
 * without imports. */
void cbx_hints_add_import(const struct cbx_hints *hints, struct cbx_str line, struct cbx_str module,
                          struct cbx_buf *out);

/* Returns the end of the name that begins at `from`; `from` if there is none. */
size_t cbx_hints_name_end(struct cbx_str text, size_t from);

/* Returns the end of the clause that begins at `from`: a "; " outside backquotes, or the end. */
size_t cbx_hints_clause_end(struct cbx_str hint, size_t from);

/* Appends clauses that replace code of the source by other code: commands that the finding's
 * calls start, constant code and modules in their arguments, paths outside. Nothing if there are
 * none. */
void cbx_hints_replace(const struct cbx_hints *hints, const struct cbx_finding *finding,
                       struct cbx_buf *out);

#endif
