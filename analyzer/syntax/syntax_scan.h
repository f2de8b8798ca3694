/* SPDX-License-Identifier: MIT
 * Reads a source byte by byte: strings, comments and brackets, and nothing else of its grammar. */
#ifndef CBX_ANALYZER_SYNTAX_SYNTAX_SCAN_H
#define CBX_ANALYZER_SYNTAX_SYNTAX_SCAN_H

#include "policies/base/str.h"
#include "policies/language.h"

#include <stdio.h>

enum cbx_scan_problem {
    CBX_SCAN_NONE,
    CBX_SCAN_STRING, /* a string that begins at `at` is not closed */
    /* the same, and a string before it ends in a word: 'it's'; begins at `opener` */
    CBX_SCAN_APOSTROPHE,
    CBX_SCAN_COMMENT,  /* a comment that begins at `at` is not closed */
    CBX_SCAN_CLOSER,   /* the bracket at `at` closes nothing */
    CBX_SCAN_MISMATCH, /* the bracket at `at` does not close the one at `opener` */
    CBX_SCAN_BRACKET,  /* opened at `at`, never closed */
};

enum { CBX_SCAN_DEPTH_MAX = 200 };

struct cbx_scan {
    enum cbx_scan_problem problem;
    bool whole; /* true if the scan reached the end of the source */
    /* true if a character of formatted text (syntax_pasted.def) stands outside of strings and
     * comments */
    bool has_pasted;
    uint32_t pasted; /* place of the first one */
    uint32_t at, opener;
    char quote[4]; /* the text that closes the string or comment */
    /* CBX_SCAN_BRACKET: the closing brackets of all open ones, innermost first */
    char closers[CBX_SCAN_DEPTH_MAX + 1];
};

/* Called for each logical line, outside of strings and brackets: [start, end) without its
 * comment; `colon`: it has a ':' outside of brackets. Returns true to stop. */
typedef bool cbx_scan_line(void *context, struct cbx_str text, uint32_t start, uint32_t end,
                           bool colon);

/* Scans to the first problem. `line` may be NULL; it is called for the lines before the problem,
 * and the scan has no problem if it stops the scan. Shell has strings and comments only. A
 * source that is nested deeper than CBX_SCAN_DEPTH_MAX has no problem. */
void cbx_scan_source(enum cbx_language language, struct cbx_str text, cbx_scan_line *line,
                     void *context, struct cbx_scan *out);

/* Returns true if the text begins with a character of syntax_pasted.def. */
bool cbx_syntax_is_pasted(struct cbx_str text);

#endif
