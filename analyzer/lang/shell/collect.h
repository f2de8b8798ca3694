/* SPDX-License-Identifier: MIT
 * The collector of names, for the files that collect them. Private to analyzer/lang/shell/. */
#ifndef CBX_ANALYZER_LANG_SHELL_COLLECT_H
#define CBX_ANALYZER_LANG_SHELL_COLLECT_H

#include "analyzer/lang/shell/traits.h"

struct cbx_shell_collector {
    struct cbx_shell *s;
    /* the name that the last top-level statement defines, or NULL */
    struct cbx_shell_name *last;
    struct cbx_shell_name *function; /* the function around the current node, or NULL */
    bool apart;                      /* the current node runs in a process of its own */
    bool moved; /* a command before the current node may have changed the working folder */
    bool top;   /* the current node is a top-level statement of the new cell */
};

/* --- collect.c: values ----------------------------------------------------------------------- */

/* Records that an unknown value is assigned to this name, and returns the name; NULL if the arena
 * is exhausted. The caller records its traits. */
struct cbx_shell_name *cbx_shell_name_doubt(struct cbx_shell *s, struct cbx_str name);

/* Records that the current node assigns the variable. */
void cbx_shell_name_assign(struct cbx_shell *s, struct cbx_shell_name *n);

/* Records that the text gives the variable a value at this place. NULL is allowed. */
void cbx_shell_name_give(struct cbx_shell_name *n, uint32_t at);

/* Records that the value of `node`, any value if it is null, is assigned to the variable at this
 * place. NULL is allowed. */
void cbx_shell_name_flow(struct cbx_shell_collector *c, struct cbx_shell_name *variable,
                         TSNode node, uint32_t at);

/* --- collect_command.c ----------------------------------------------------------------------- */

/* Records what a `command` node assigns, in any wrapper, and its words as arguments of a function
 * with its name. If it may run unknown code, all names are lost. */
void cbx_shell_collect_command(struct cbx_shell_collector *c, TSNode node);

/* Records the words after a `file_redirect`: they may belong to a `read` before it. */
void cbx_shell_collect_redirect(struct cbx_shell_collector *c, TSNode redirect);

/* --- collect_declare.c ----------------------------------------------------------------------- */

/* Records the names and attributes of a `declaration_command` or an `unset_command`; assignments in
 * it are nodes of their own. */
void cbx_shell_collect_declaration(struct cbx_shell_collector *c, TSNode node);

#endif
