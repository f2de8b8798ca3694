/* SPDX-License-Identifier: MIT
 * Traits of a value: what its text may be if it is not constant, determined by the value's origin.
 * Private to analyzer/lang/shell/. */
#ifndef CBX_ANALYZER_LANG_SHELL_TRAITS_H
#define CBX_ANALYZER_LANG_SHELL_TRAITS_H

#include "analyzer/lang/shell/internal.h"

/* A value may ... Zero: the value is a number and has no effect. */
enum cbx_shell_trait {
    CBX_SHELL_MAY_OPTION = 1 << 0, /* begin like an option that is dangerous for some command */
    CBX_SHELL_MAY_CODE = 1 << 1,   /* have a subscript, in which arithmetic runs $(...) */
    CBX_SHELL_MAY_SPLIT = 1 << 2,  /* give several words if unquoted */
    CBX_SHELL_MAY_LEAVE = 1 << 3,  /* be a path outside the workspace */
    CBX_SHELL_MAY_NAME = 1 << 4,   /* be the name of a variable, whose value arithmetic evaluates */
    CBX_SHELL_MAY_MANY = 1 << 5,   /* word of a command: give several words in spite of quotes */
};
#define CBX_SHELL_MAY_ANY                                                                          \
    (CBX_SHELL_MAY_OPTION | CBX_SHELL_MAY_CODE | CBX_SHELL_MAY_SPLIT | CBX_SHELL_MAY_LEAVE |       \
     CBX_SHELL_MAY_NAME)
/* The traits of a program's own parameters: its caller, who also chooses the program, chooses
 * them. */
#define CBX_SHELL_ARGS         (CBX_SHELL_MAY_SPLIT | CBX_SHELL_MAY_LEAVE)
#define CBX_SHELL_MAY_EVALUATE (CBX_SHELL_MAY_CODE | CBX_SHELL_MAY_NAME)

/* Returns the traits of a constant text; `pattern`: the shell expands it to the names of files. */
unsigned cbx_shell_text_traits(struct cbx_str text, bool pattern);

/* Returns the traits of a word or a part of one. $1 and the like are parameters of `function`,
 * or of the program if it is NULL. Before cbx_shell_traits_solve the result is a lower bound. */
unsigned cbx_shell_traits(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function);

/* Returns the traits of a statement's standard output. */
unsigned cbx_shell_output_traits(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function);

/* Returns the traits of a variable with this name. */
unsigned cbx_shell_variable_traits(struct cbx_shell *s, struct cbx_str name);

/* Notes a value that flows to `*slot`, a field `may`, `args` or `output` of a name. The value is
 * the word `node`, any value if it is null; with `output` it is the standard output of the
 * statement `node`. `variable`: the name that is assigned at the place `at`, or NULL. Call it
 * while names are collected. */
struct cbx_shell_flow {
    unsigned char *slot;
    TSNode node;
    struct cbx_shell_name *function; /* the function around the node */
    struct cbx_shell_name *variable;
    uint32_t at;
    bool output;
    bool fields; /* true if the node is a word whose unquoted value is split */
};
void cbx_shell_traits_flow(struct cbx_shell *s, const struct cbx_shell_flow *flow);

/* Determines the traits of all names. Linear: it follows the flows a fixed number of times; a
 * name whose traits still change then is unknown. */
void cbx_shell_traits_solve(struct cbx_shell *s);

#endif
