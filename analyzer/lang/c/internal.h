/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the C extractor. C is read as a compiler reads it: tokens,
 * then the source's own macros and conditions (preprocess.c); the result is parsed and judged
 * (extract.c). */
#ifndef CBX_ANALYZER_LANG_C_INTERNAL_H
#define CBX_ANALYZER_LANG_C_INTERNAL_H

#include "analyzer/parse.h"
#include "analyzer/syntax/syntax.h"

enum cbx_c_kind { C_IDENTIFIER = 1, C_NUMBER, C_STRING, C_CHARACTER, C_PUNCTUATION, C_HEADER };

struct cbx_c_token {
    uint8_t kind;
    bool first;          /* first token of its line */
    bool space;          /* white space precedes it */
    bool fixed;          /* a macro's own name in its expansion: never expanded */
    bool maybe;          /* under an unknown condition: the token may be absent */
    struct cbx_str text; /* the text without line continuations */
    /* start and end in the source; in an expansion, the place of the macro's use */
    uint32_t start, end;
};

struct cbx_c_tokens {
    struct cbx_c_token *items;
    size_t count, size;
};

/* Appends a token; false if the arena is exhausted. */
bool cbx_c_push(struct cbx_arena *arena, struct cbx_c_tokens *list, struct cbx_c_token token);

static inline bool cbx_c_is(const struct cbx_c_token *token, const char *text)
{
    return token != NULL && cbx_str_is(token->text, text);
}

/* Splits a text into tokens. Adds facts for texts that compilers may read differently: raw strings,
 * unterminated literals. */
void cbx_c_tokens_read(struct cbx_parsed *parsed, struct cbx_str text, struct cbx_c_tokens *out);

/* Executes the directives of a source, expands its macros, and adds the facts of both: includes,
 * names in macros and in branches that may not be taken. `out` is the text that a compiler
 * parses, without headers, which are not read. */
void cbx_c_preprocess(struct cbx_parsed *parsed, const struct cbx_c_tokens *in,
                      struct cbx_c_tokens *out);

/* Appends the tokens to `out` with uses of unknown macros in a form that the grammar reads; false if
 * there are none. Only for tokens that it cannot read. */
bool cbx_c_mend_macros(struct cbx_arena *arena, const struct cbx_c_tokens *in,
                       struct cbx_c_tokens *out);

/* Removes the attributes that change nothing of what a program does. */
void cbx_c_drop_attributes(struct cbx_c_tokens *tokens);

/* Returns the name of a C library function in rules: without "__builtin_", leading underscores
 * and "64". */
struct cbx_str cbx_c_canonical(struct cbx_str name);

/* Returns the name without underscores at both ends. */
struct cbx_str cbx_c_bare(struct cbx_str name);

/* Returns the content of a string or character literal. */
struct cbx_str cbx_c_unescape(struct cbx_arena *arena, struct cbx_str literal);

/* --- conditions: condition.c ------------------------------------------------------------------ */

/* The value of an expression; `certain`: the value does not depend on the compiler or a header. */
struct cbx_c_value {
    int64_t value;
    bool certain;
};

/* Evaluates the tokens of #if after expansion; `defined X` was replaced by 1 or 0, which is not
 * certain if the token is `maybe`. */
struct cbx_c_value cbx_c_condition(const struct cbx_c_tokens *tokens);

/* Returns 1 for macros that compilers and systems certainly define, 0 for macros that they
 * certainly do not define, else -1. */
int cbx_c_predefined(struct cbx_str name);

#endif
