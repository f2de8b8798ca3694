/* SPDX-License-Identifier: MIT
 * Macros of a source in C and their expansion. Private to macros.c, preprocess.c and expand.c. */
#ifndef CBX_ANALYZER_LANG_C_MACROS_H
#define CBX_ANALYZER_LANG_C_MACROS_H

#include "analyzer/lang/c/internal.h"
#include "policies/base/table.h"

enum { CBX_C_PARAMETERS_MAX = 64 };
struct cbx_c_macro {
    struct cbx_c_macro *next; /* next macro with the same hash */
    struct cbx_str name;
    struct cbx_c_tokens body;
    struct cbx_str parameters[CBX_C_PARAMETERS_MAX];
    uint32_t parameter_count;
    bool defined, function, variadic;
    bool doubtful; /* its definition is not certain */
    bool busy;     /* its expansion is in progress */
};

enum { CBX_C_STEPS_MAX = 2000000, CBX_C_EXPAND_DEPTH_MAX = 40 };
struct cbx_c_reader {
    struct cbx_parsed *parsed;
    struct cbx_arena *arena;
    struct cbx_table macros; /* hash of name -> chain */
    void *streams[CBX_C_EXPAND_DEPTH_MAX];
    uint32_t steps; /* tokens that expansion has moved so far */
    int depth;
    bool gave_up;
};

/* Returns the macro of this name, even after #undef; NULL if the source never defined it. */
struct cbx_c_macro *cbx_c_macro(struct cbx_c_reader *r, struct cbx_str name);

/* Returns the macro of this name; if there is none, a new one, zeroed but for its name. NULL if
 * the arena is exhausted. */
struct cbx_c_macro *cbx_c_macro_add(struct cbx_c_reader *r, struct cbx_str name);

/* The source of further tokens for an expansion: the rest of the text. */
struct cbx_c_source {
    bool (*next)(void *context, struct cbx_c_token *out); /* false at the end */
    /* Returns true if the next token is this mark; does not remove it. */
    bool (*is_next)(void *context, const char *text);
    void *context;
};

/* Expands all tokens of `in`; the arguments of its last macro may come from `rest` (may be
 * NULL). Adds a fact for names that are pasted from uncertain parts. */
void cbx_c_expand(struct cbx_c_reader *r, const struct cbx_c_tokens *in,
                  const struct cbx_c_source *rest, struct cbx_c_tokens *out);

#endif
