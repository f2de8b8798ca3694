/* SPDX-License-Identifier: MIT
 * Substitutions of IPython in a notebook line: {expr} and $name, split as IPython's
 * DollarFormatter splits them. The expressions become Python of the rewritten cell, so they are
 * judged, and the kernel gets their values instead of a text to evaluate. */
#ifndef CBX_ANALYZER_LANG_PYTHON_NOTEBOOK_EXPANSION_H
#define CBX_ANALYZER_LANG_PYTHON_NOTEBOOK_EXPANSION_H

#include "policies/base/arena.h"
#include "policies/base/str.h"

/* The quoting of a value in the line. A known value is inserted unchanged. */
enum cbx_quoting {
    CBX_QUOTING_TEXT,   /* none: the line is not shell */
    CBX_QUOTING_WORD,   /* in single quotes: one word, or a part of one */
    CBX_QUOTING_SINGLE, /* inside single quotes of the line */
    CBX_QUOTING_DOUBLE, /* inside double quotes of the line */
    /* inside a substitution or a here-document, or after a backslash, where no quoting is
     * certain */
    CBX_QUOTING_REFUSED,
};

struct cbx_placeholder {
    struct cbx_str before; /* the text before the field, without escapes */
    struct cbx_str code;   /* one Python expression; a slice of the line */
    char conversion;       /* 'r', 's', 'a', or 0 */
    /* range of the code with parentheses, from the start of the line's replacement */
    uint32_t start, end;
    uint32_t place; /* offset of the code in the cell */
    bool known;     /* `value` is the only possible value */
    bool fixed;     /* the program has `value` instead of the expression */
    struct cbx_str value;
};

enum cbx_expansion_state {
    CBX_EXPANSION_OPEN, /* unknown whether all names in the fields exist */
    CBX_EXPANSION_DONE, /* the fields are evaluated */
    CBX_EXPANSION_NONE, /* a name does not exist: the line is unchanged, as in IPython */
};

struct cbx_expansion {
    enum cbx_expansion_state state;
    bool shell;
    struct cbx_placeholder *fields;
    size_t count;
    struct cbx_str after; /* the text after the last field */
};

enum { CBX_FIELDS_MAX = 64 }; /* limit of one line */

/* Splits a line into fields. Returns NULL if IPython does not change the line: it has no field
 * and no escape, its braces do not match, or a field is not an expression; also if the arena is
 * exhausted. */
struct cbx_expansion *cbx_expansion_split(struct cbx_str line, bool shell, struct cbx_arena *arena);

/* Returns true if the text is one Python expression, also in parentheses. */
bool cbx_expansion_is_expression(struct cbx_str code, struct cbx_arena *arena);

/* Returns the quoting of each field, an array of `count`; known values must be set. NULL if the
 * arena is exhausted. */
enum cbx_quoting *cbx_expansion_quoting(const struct cbx_expansion *x, struct cbx_arena *arena);

/* Returns the line for the shell's analysis, with an unknown word for an unknown value. Returns
 * {NULL, 0} if a value cannot be quoted, with the code of its field in *refused; or if the arena
 * is exhausted. */
struct cbx_str cbx_expansion_shell(const struct cbx_expansion *x, struct cbx_arena *arena,
                                   struct cbx_str *refused);

/* Returns the line if all values are known; else {NULL, 0}. */
struct cbx_str cbx_expansion_text(const struct cbx_expansion *x, struct cbx_arena *arena);

#endif
