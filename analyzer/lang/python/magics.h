/* SPDX-License-Identifier: MIT
 * The lines of IPython: what each magic and each line of shell in a cell does. */
#ifndef CBX_ANALYZER_LANG_PYTHON_MAGICS_H
#define CBX_ANALYZER_LANG_PYTHON_MAGICS_H

#include "analyzer/notebook.h"
#include "analyzer/parse.h"

/* The Python inside a notebook line (%time f(), %%capture): how many pieces, at most
 * CBX_MAGIC_CODES. */
enum { CBX_MAGIC_CODES = 2 };
uint32_t cbx_magic_code(const struct cbx_magic *magic, struct cbx_str out[CBX_MAGIC_CODES]);

/* The line with the constants that IPython puts into it: {name}, $name. Borrows from the line, or
 * the arena. */
struct cbx_str cbx_fill_in(const struct cbx_parsed *parsed, struct cbx_str line);

#endif
