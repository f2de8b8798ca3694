/* SPDX-License-Identifier: MIT
 * Notebook syntax: a cell is rewritten into plain Python on the same lines, the way IPython's own
 * transformer does it (automagic and prompts off). The kernel runs exactly the rewritten text and
 * transforms nothing. */
#ifndef CBX_ANALYZER_NOTEBOOK_H
#define CBX_ANALYZER_NOTEBOOK_H

#include "analyzer/facts.h"

enum cbx_magic_kind {
    CBX_MAGIC_SHELL = 1, /* !cmd, !!cmd, x = !cmd: body is shell */
    CBX_MAGIC_LINE,      /* %name rest */
    CBX_MAGIC_CELL,      /* %%name rest, body */
    CBX_MAGIC_HELP,      /* obj?, ?obj */
};

/* One piece of notebook syntax: its place in the cell, and the place of its replacement in the text
 * that runs. */
struct cbx_magic {
    enum cbx_magic_kind kind;
    uint32_t start, end;             /* in the cell */
    uint32_t text_start, text_end;   /* in the rewritten text */
    struct cbx_str name, rest, body; /* slices of the cell */
};

struct cbx_notebook {
    struct cbx_str text; /* plain Python */
    const struct cbx_magic *magics;
    size_t magic_count;
};

/* CBX_ETOOBIG when the arena is exhausted. A cell without notebook syntax is returned as it is. */
int cbx_notebook_rewrite(struct cbx_str cell, struct cbx_arena *arena, struct cbx_notebook *out);

/* True when one replacement covers [start, end) of the rewritten text. */
bool cbx_notebook_covers(const struct cbx_magic *magics, size_t count, uint32_t start,
                         uint32_t end);

/* The place in the cell of a place in the rewritten text. */
uint32_t cbx_notebook_place(const struct cbx_magic *magics, size_t count, uint32_t byte);

#endif
