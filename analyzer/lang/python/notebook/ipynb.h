/* SPDX-License-Identifier: MIT
 * Notebook files (.ipynb, nbformat 3 and 4): JSON in, the source of each code cell out. */
#ifndef CBX_ANALYZER_LANG_PYTHON_NOTEBOOK_IPYNB_H
#define CBX_ANALYZER_LANG_PYTHON_NOTEBOOK_IPYNB_H

#include "policies/base/arena.h"
#include "policies/base/err.h"

enum { CBX_IPYNB_MAX_BYTES = 64 * 1024 * 1024, CBX_IPYNB_CELLS_MAX = 10000 };

struct cbx_cell {
    struct cbx_str source;
    uint32_t number; /* 1-based; notebooks count cells of all kinds */
    /* The line of the file with the cell's first line, if each line of the cell is on a line of
     * its own; else 0. */
    uint32_t line;
};

struct cbx_ipynb {
    const struct cbx_cell *cells; /* code cells only, in order */
    size_t count;
    struct cbx_str language; /* language of the kernel; "python" if the file has none */
};

/* Reads a notebook file. CBX_EINVAL if the text is not a notebook, CBX_ETOOBIG over the caps.
 * *out borrows from the arena. */
int cbx_ipynb_read(struct cbx_str json, struct cbx_arena *arena, struct cbx_ipynb *out,
                   struct cbx_err *err);

#endif
