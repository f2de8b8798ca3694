/* SPDX-License-Identifier: MIT
 * Cells as one program: the cells in order, each with the code inside of its notebook lines (%time
 * f()). Every cell can use the names that any cell binds. The program is parsed once, and each
 * cell gets the facts at its places. */
#ifndef CBX_ANALYZER_PAST_PROGRAM_H
#define CBX_ANALYZER_PAST_PROGRAM_H

#include "analyzer/lang/python/notebook/notebook.h"
#include "analyzer/parse.h"

struct cbx_past;
struct cbx_program;

/* Reads the cells of a notebook as a program, in one pass, for the analyses of its cells (struct
 * cbx_analysis refers to the program and the cell's index). Linear in the cells. If the program
 * does not fit in the budget (0 = 5,000 ms), the arena or 64 MiB, the call succeeds and each
 * cell is denied as too complex. *out borrows from `cells` and is allocated in `arena`;
 * CBX_ETOOBIG if the arena has no room for it. */
int cbx_program_read(const struct cbx_policy *policy, const struct cbx_str *cells, size_t count,
                     uint32_t budget_ms, struct cbx_arena *arena, const struct cbx_program **out);

/* Adds the facts of the program's cell with this index, at their places in the cell. Each cell
 * is also analysed alone; these facts only add to that analysis, so no other cell can hide a
 * fact of this one. Adds nothing if the arena is exhausted; the arena's flag denies then. */
void cbx_program_facts(const struct cbx_program *program, size_t cell, struct cbx_facts *facts);

/* Returns the program's cell with this index, rewritten and with resolved expansions; NULL if
 * the program could not be read. */
const struct cbx_notebook *cbx_program_notebook(const struct cbx_program *program, size_t cell);

/* Reads the program of the next cell of a session, in a language whose cells share names
 * (cbx_lang_code.between). `past`: the past of the session, NULL if it is empty. The cell of
 * `parsed` is the last cell of the program, at index *cell. `is_file`: the cell is a file, whose
 * names are its own. Resolves the expansions of `notebook` (the other cells may bind their
 * names), so call it before the cell's own analysis. Returns NULL if the arena is exhausted. */
const struct cbx_program *cbx_program_of_cell(const struct cbx_parsed *parsed,
                                              const struct cbx_lang *lang,
                                              const struct cbx_past *past,
                                              const struct cbx_notebook *notebook, bool is_file,
                                              size_t *cell);

/* Returns the summary of that cell (lang/summary.h), in the arena; empty if it has none. */
struct cbx_str cbx_program_summary(const struct cbx_program *program);

#endif
