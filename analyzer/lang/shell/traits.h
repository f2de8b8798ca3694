/* SPDX-License-Identifier: MIT
 * What the text of a value may be, where it is not a constant: decided by where the value comes
 * from. Private to analyzer/lang/shell/. */
#ifndef CBX_ANALYZER_LANG_SHELL_TRAITS_H
#define CBX_ANALYZER_LANG_SHELL_TRAITS_H

#include "analyzer/lang/shell/internal.h"

/* A value may ... Zero: a number, which can do nothing. */
enum cbx_shell_trait {
    CBX_SHELL_MAY_OPTION = 1 << 0, /* begin like an option that is dangerous for some command */
    CBX_SHELL_MAY_CODE = 1 << 1,   /* have a subscript, in which arithmetic runs $(...) */
    CBX_SHELL_MAY_SPLIT = 1 << 2,  /* give several words where it is not quoted */
    CBX_SHELL_MAY_LEAVE = 1 << 3,  /* be a path outside the workspace */
    CBX_SHELL_MAY_NAME = 1 << 4,   /* be the name of a variable, whose value arithmetic evaluates */
    CBX_SHELL_MAY_MANY =
        1 << 5, /* of a word of a command: give several words though it is quoted */
};
#define CBX_SHELL_MAY_ANY                                                                          \
    (CBX_SHELL_MAY_OPTION | CBX_SHELL_MAY_CODE | CBX_SHELL_MAY_SPLIT | CBX_SHELL_MAY_LEAVE |       \
     CBX_SHELL_MAY_NAME)
/* The traits of a program's own parameters, which its caller chooses as it chooses the program. */
#define CBX_SHELL_ARGS         (CBX_SHELL_MAY_SPLIT | CBX_SHELL_MAY_LEAVE)
#define CBX_SHELL_MAY_EVALUATE (CBX_SHELL_MAY_CODE | CBX_SHELL_MAY_NAME)

/* The traits of a constant text; `pattern`: it is expanded to the names of files. */
unsigned cbx_shell_text_traits(struct cbx_str text, bool pattern);

/* The traits of a word or a part of one. $1 and the like are parameters of `function`, or of the
 * program when it is NULL. Before cbx_shell_traits_solve the result is a lower bound. */
unsigned cbx_shell_traits(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function);

/* The traits of what a statement writes to its standard output. */
unsigned cbx_shell_output_traits(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function);

/* The traits of a variable with this name. */
unsigned cbx_shell_variable_traits(struct cbx_shell *s, struct cbx_str name);

/* A value that goes to `*slot`, a field `may`, `args` or `output` of a name: that of `node`, a
 * word; any value when it is null; with `output` what the statement `node` writes. `variable`:
 * the name of which this is an assignment at the place `at`, or NULL. Called while names are
 * collected. */
struct cbx_shell_flow {
    unsigned char *slot;
    TSNode node;
    struct cbx_shell_name *function; /* around the node */
    struct cbx_shell_name *variable;
    uint32_t at;
    bool output;
    bool fields; /* the node is a word, whose value is split when it is not quoted */
};
void cbx_shell_traits_flow(struct cbx_shell *s, const struct cbx_shell_flow *flow);

/* Finds the traits of all names. Linear: the flows are followed a fixed number of times, and
 * what still changes then is unknown. */
void cbx_shell_traits_solve(struct cbx_shell *s);

#endif
