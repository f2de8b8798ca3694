/* SPDX-License-Identifier: MIT
 * The lines of IPython in a cell: magics and shell. */
#ifndef CBX_ANALYZER_LANG_PYTHON_NOTEBOOK_MAGICS_H
#define CBX_ANALYZER_LANG_PYTHON_NOTEBOOK_MAGICS_H

#include "analyzer/lang/python/notebook/notebook.h"

struct cbx_walk;

/* Finds the Python inside a notebook line (%time f(), %%capture): the ends of `rest` and of `body`.
 * Returns the number of pieces, at most CBX_MAGIC_CODES. */
uint32_t cbx_magic_code(const struct cbx_magic *magic, struct cbx_str out[CBX_MAGIC_CODES]);

/* Returns true if the magic at the beginning of the line runs nothing but Python. */
bool cbx_magic_is_python(struct cbx_str line);

/* Returns true if IPython expands the argument of this magic; *shell: a shell reads it. */
bool cbx_magic_expands(struct cbx_str name, bool *shell);

/* Returns true for "%config A.b = expression": the name and the expression, slices of the line. */
bool cbx_magic_configures(const struct cbx_magic *magic, struct cbx_str *name,
                          struct cbx_str *expression);

/* Returns true if the magic writes a new file with its body (%%writefile); *path is the path of
 * the file. */
bool cbx_magic_file(const struct cbx_magic *magic, struct cbx_str *path);

/* Determines for the open expansions in the text of this walk whether their names exist, and
 * which values are known. */
void cbx_magic_resolve(struct cbx_walk *py);

#endif
