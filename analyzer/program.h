/* SPDX-License-Identifier: MIT
 * Cells as one program: each with the code inside its notebook lines (%time f()), in a row. What
 * any of them binds, all of them can use. A program is read once, and gives each of its cells the
 * facts that the cell has as a part of it. */
#ifndef CBX_ANALYZER_PROGRAM_H
#define CBX_ANALYZER_PROGRAM_H

#include "analyzer/notebook.h"
#include "analyzer/parse.h"

struct cbx_program;

/* Reads the cells of a notebook as a program, in one pass, for the analyses of each of them (struct
 * cbx_analysis names it and the cell's index). Linear in the cells. A program that cannot be read
 * within the budget (0 = 5,000 ms), the arena or 64 MiB is one all the same: each of its cells is
 * then denied as too complex. *out borrows from `cells` and lives in `arena`; CBX_ETOOBIG when not
 * even the program itself fits there. */
int cbx_program_read(const struct cbx_policy *policy, const struct cbx_str *cells, size_t count,
                     uint32_t budget_ms, struct cbx_arena *arena, const struct cbx_program **out);

/* Adds to `facts` those that the program's cell with this index has as a part of it, at their
 * places in the cell. The cell and the code inside its lines are read by themselves too; this only
 * ever adds, so nothing that is read along can hide what a cell does. Nothing when the arena is
 * exhausted, which the arena remembers. */
void cbx_program_facts(const struct cbx_program *program, size_t cell, struct cbx_facts *facts);

/* The same for the next cell of a session: `context` is what cbx_context_add made, or empty, and
 * the cell of `parsed` comes last. */
void cbx_program_add_cell(const struct cbx_parsed *parsed, const struct cbx_lang *lang,
                          struct cbx_str context, const struct cbx_notebook *notebook);

#endif
