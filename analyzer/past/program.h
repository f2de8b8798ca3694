/* SPDX-License-Identifier: MIT
 * Cells as one program: the cells in order, each with the code inside its notebook lines (%time
 * f()). Every cell can use the names that any cell binds. The program is parsed once, and each cell
 * gets the facts whose places lie in it. */
#ifndef CBX_ANALYZER_PAST_PROGRAM_H
#define CBX_ANALYZER_PAST_PROGRAM_H

#include "analyzer/lang/python/notebook/notebook.h"
#include "analyzer/parse.h"

struct cbx_past;
struct cbx_program;

/* Reads the cells of a notebook as a program, in one pass, for the analyses of its cells (struct
 * cbx_analysis refers to the program and the cell's index). Linear in the cells. When the program
 * cannot be read within the budget (0 = 5,000 ms), the arena or 64 MiB, the call succeeds and each
 * cell is denied as too complex. *out borrows from `cells` and lies in `arena`; CBX_ETOOBIG when
 * the program object does not fit there. */
int cbx_program_read(const struct cbx_policy *policy, const struct cbx_str *cells, size_t count,
                     uint32_t budget_ms, struct cbx_arena *arena, const struct cbx_program **out);

/* Adds the facts of the program's cell with this index, at their places in the cell. Each cell is
 * also analysed alone; these facts only add to that, so no other cell can hide what this one does.
 * Adds nothing when the arena is exhausted; the arena's flag denies then. */
void cbx_program_facts(const struct cbx_program *program, size_t cell, struct cbx_facts *facts);

/* The program's cell with this index, rewritten. Its expansions are resolved. NULL when the program
 * could not be read. */
const struct cbx_notebook *cbx_program_notebook(const struct cbx_program *program, size_t cell);

/* The program of the next cell of a session, in a language whose cells share names
 * (cbx_lang_code.between): `past` is that of the session, NULL when it is empty, and the cell of
 * `parsed` is the last one, at *cell; `is_file`: it is a file, whose names are its own. Resolves
 * the expansions of `notebook` (the other cells may bind their names), so it comes before the
 * cell's own analysis. NULL when the arena is exhausted. */
const struct cbx_program *cbx_program_of_cell(const struct cbx_parsed *parsed,
                                              const struct cbx_lang *lang,
                                              const struct cbx_past *past,
                                              const struct cbx_notebook *notebook, bool is_file,
                                              size_t *cell);

/* The summary of that cell (lang/summary.h), in the arena; empty when it has none. */
struct cbx_str cbx_program_summary(const struct cbx_program *program);

#endif
