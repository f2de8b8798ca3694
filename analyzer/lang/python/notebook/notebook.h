/* SPDX-License-Identifier: MIT
 * Notebook syntax: a cell is rewritten into plain Python on the same lines, as IPython's own
 * transformer does it (automagic and prompts off). The rewritten text is sealed, and the kernel
 * runs it: the kernel transforms and expands nothing, so no text of a program becomes code or a
 * command that was not judged. Code inside of a line (%%time, %%capture) is rewritten too, and
 * {expr} and $name become Python expressions in the scope of their line. Tracebacks and `In` show
 * the rewritten text; lines keep their numbers. */
#ifndef CBX_ANALYZER_LANG_PYTHON_NOTEBOOK_NOTEBOOK_H
#define CBX_ANALYZER_LANG_PYTHON_NOTEBOOK_NOTEBOOK_H

#include "analyzer/facts/facts.h"
#include "analyzer/lang/python/notebook/expansion.h"

enum cbx_magic_kind {
    CBX_MAGIC_SHELL = 1, /* !cmd, !!cmd, x = !cmd: body is shell */
    CBX_MAGIC_LINE,      /* %name rest */
    CBX_MAGIC_CELL,      /* %%name rest, body */
    CBX_MAGIC_HELP,      /* obj?, ?obj */
};

struct cbx_notebook;
enum { CBX_MAGIC_CODES = 2 };

/* One piece of notebook syntax: its place in the cell, and the place of its replacement in the text
 * that runs. */
struct cbx_magic {
    enum cbx_magic_kind kind;
    uint32_t start, end;             /* place in the cell */
    uint32_t text_start, text_end;   /* start and end in the rewritten text */
    struct cbx_str name, rest, body; /* slices of the cell */
    /* expansion of `body` of a shell line, else of `rest`; or NULL */
    struct cbx_expansion *expansion;
    bool configures; /* "%config A.b = expression": `rest` is "A.b", its field the expression */
    /* The Python code inside of the magic (magics.h). */
    const struct cbx_notebook *codes[CBX_MAGIC_CODES];
    uint32_t code_count;
};

struct cbx_notebook {
    struct cbx_str text; /* the rewritten text, plain Python */
    const struct cbx_magic *magics;
    size_t magic_count;
    bool expands; /* true if a line, or code inside one, has an expansion */
};

/* Rewrites a cell. A cell without notebook syntax remains unchanged. CBX_ETOOBIG if the arena is
 * exhausted. */
int cbx_notebook_rewrite(struct cbx_str cell, struct cbx_arena *arena, struct cbx_notebook *out);

/* Returns the text that runs: the expansions of `judged` have their values now, and lines with a
 * missing name remain unchanged. Without expansions it is the same text. CBX_ETOOBIG if the
 * arena is exhausted. */
int cbx_notebook_finish(struct cbx_str cell, const struct cbx_notebook *judged,
                        struct cbx_arena *arena, struct cbx_str *out);

enum cbx_notebook_part {
    CBX_PART_PYTHON, /* text of the cell, or of an expression in a line */
    CBX_PART_AROUND, /* text of a replacement, with expressions inside */
    CBX_PART_LINE,   /* text of a replacement */
};
/* Returns the origin of [start, end) of the rewritten text. */
enum cbx_notebook_part cbx_notebook_part(const struct cbx_magic *magics, size_t count,
                                         uint32_t start, uint32_t end);

/* Returns the place in the cell of a place in the rewritten text. */
uint32_t cbx_notebook_place(const struct cbx_magic *magics, size_t count, uint32_t byte);

#endif
