/* SPDX-License-Identifier: MIT
 * The lines of IPython in a cell: magics and shell. */
#ifndef CBX_ANALYZER_LANG_PYTHON_MAGICS_H
#define CBX_ANALYZER_LANG_PYTHON_MAGICS_H

#include "analyzer/notebook.h"
#include "analyzer/parse.h"

/* Finds the Python inside a notebook line (%time f(), %%capture). Returns the number of pieces, at
 * most CBX_MAGIC_CODES. */
enum { CBX_MAGIC_CODES = 2 };
uint32_t cbx_magic_code(const struct cbx_magic *magic, struct cbx_str out[CBX_MAGIC_CODES]);

/* The line with the constants that IPython substitutes for {name} and $name. Borrows from the line,
 * or from the arena. */
struct cbx_str cbx_fill_in(const struct cbx_parsed *parsed, struct cbx_str line);

#endif
