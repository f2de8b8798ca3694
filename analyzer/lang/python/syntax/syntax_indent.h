/* SPDX-License-Identifier: MIT
 * Indentation of Python as its tokenizer counts it: tab stops of 8, and no order of tabs and
 * spaces whose meaning depends on their width. Takes logical lines (syntax_scan.h) one after
 * another. */
#ifndef CBX_ANALYZER_LANG_PYTHON_SYNTAX_SYNTAX_INDENT_H
#define CBX_ANALYZER_LANG_PYTHON_SYNTAX_SYNTAX_INDENT_H

#include "analyzer/syntax/syntax_scan.h"

enum cbx_indent_problem {
    CBX_INDENT_NONE = 0,
    CBX_INDENT_UNEXPECTED, /* the line before this one begins no block */
    CBX_INDENT_MISSING,    /* the line before this one begins a block */
    CBX_INDENT_MISMATCH,   /* the line ends blocks, and no enclosing block has its indentation */
    CBX_INDENT_TABS,       /* tabs and spaces are mixed */
};

enum { CBX_INDENT_DEPTH_MAX = 100 };

/* Zeroed memory is the state before the first line. */
struct cbx_indent {
    struct {
        uint32_t column, characters;
    } levels[CBX_INDENT_DEPTH_MAX]; /* columns of the open blocks; the outermost is 0 */
    size_t depth;
    uint32_t before, end; /* start and end of the last line */
    /* kind of the last line, in CPython's words, if it begins a block; else NULL */
    const char *block;
    /* true after a line that this code cannot follow: no further problem is found */
    bool lost;
};

/* Takes the logical line [start, end). After a problem no further line may be taken. */
enum cbx_indent_problem cbx_indent_take(struct cbx_indent *indent, struct cbx_str text,
                                        uint32_t start, uint32_t end);

/* Returns true if the source ends where a block must follow; `scan` is the scan of all its
 * lines. */
bool cbx_indent_lacks_end(const struct cbx_indent *indent, const struct cbx_scan *scan);

/* Finds the first line of a source of Python, without notebook syntax, whose indentation CPython
 * refuses; at the end of the source the line whose block is missing. Returns false if there is
 * none, or if an earlier error, or a line that this code cannot follow, makes the answer
 * uncertain. */
bool cbx_indent_find(struct cbx_str text, uint32_t *start, uint32_t *end);

#endif
