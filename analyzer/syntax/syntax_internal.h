/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of syntax_error.h. */
#ifndef CBX_ANALYZER_SYNTAX_SYNTAX_INTERNAL_H
#define CBX_ANALYZER_SYNTAX_SYNTAX_INTERNAL_H

#include "analyzer/lang/python/syntax/syntax_indent.h"
#include "analyzer/syntax/syntax_error.h"
#include "policies/base/arena.h"

enum { CBX_SYNTAX_SHOWN_MAX = 80 };

/* The state of one explanation. */
struct cbx_explainer {
    const struct cbx_syntax_source *source;
    struct cbx_str text;
    struct cbx_arena *arena;
    struct cbx_syntax_error *out;
    bool found;
    struct cbx_indent indent; /* Python */
};

/* Sets the error to [start, end); false if `hint` or `name` is NULL, because the arena was
 * exhausted. */
bool cbx_syntax_report(struct cbx_explainer *e, size_t start, size_t end, const char *name,
                       struct cbx_note hint);
bool cbx_syntax_report_as(struct cbx_explainer *e, size_t start, size_t end, struct cbx_note name,
                          struct cbx_note hint);

/* Returns the number of the line that has this byte, from 1. */
uint32_t cbx_syntax_line_number(struct cbx_str text, size_t at);

static inline bool cbx_syntax_is_space(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool cbx_syntax_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

/* Returns the first byte from `at` on that is no space. */
size_t cbx_syntax_first_word(struct cbx_str text, size_t at);

/* Returns true if the line begins with the word, and the word ends there. */
bool cbx_syntax_begins_with(struct cbx_str line, const char *word);

/* --- syntax_pasted.c -------------------------------------------------------------------------- */

/* Explains a character of formatted text outside of strings and comments; a prompt of an
 * interactive session on the first line. */
bool cbx_syntax_pasted_character(struct cbx_explainer *e);
bool cbx_syntax_prompt(struct cbx_explainer *e);

/* --- syntax_python.c -------------------------------------------------------------------------- */

/* Explains a logical line of Python; a cbx_scan_line whose context is a struct cbx_explainer. */
bool cbx_syntax_python_line(void *context, struct cbx_str text, uint32_t start, uint32_t end,
                            bool colon);

/* Call it after all lines: true if the last one begins a block that is missing. */
bool cbx_syntax_python_end(struct cbx_explainer *e, const struct cbx_scan *scan);

/* Explains the indentation of a source that has no other error. */
bool cbx_syntax_python_layout(struct cbx_explainer *e);

#endif
