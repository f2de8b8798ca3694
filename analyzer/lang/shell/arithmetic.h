/* SPDX-License-Identifier: MIT
 * Values that bash evaluates: operands of arithmetic and of [[ -eq ]], subscripts, offsets,
 * names of variables. A value that may hold a subscript runs the commands in it. Private to
 * analyzer/lang/shell/. */
#ifndef CBX_ANALYZER_LANG_SHELL_ARITHMETIC_H
#define CBX_ANALYZER_LANG_SHELL_ARITHMETIC_H

#include "analyzer/lang/shell/traits.h"

/* How the shell evaluates a node. */
enum cbx_shell_context {
    CBX_SHELL_TEXT = 0,
    CBX_SHELL_CONDITION,  /* inside [[ ]] */
    CBX_SHELL_ARITHMETIC, /* evaluated */
};

/* Returns the context of `node`, a child of `parent`, which is in the context `context`;
 * `above`: the parent of `parent`, or null. */
enum cbx_shell_context cbx_shell_context_of(struct cbx_shell *s, TSNode above, TSNode parent,
                                            enum cbx_shell_context context, TSNode node);

/* Adds a fact if an operand of arithmetic may hold code. */
void cbx_shell_check_arithmetic(struct cbx_shell *s, TSNode parent, TSNode node,
                                enum cbx_shell_context context);

/* Does the same for ${x:offset} and ${!x}. */
void cbx_shell_check_expansion(struct cbx_shell *s, TSNode node);

/* Notes tests after which a variable is a number: [[ $x =~ ^[0-9]+$ ]] || continue. `block`: the
 * node that has `node` among its statements, or null. */
void cbx_shell_check_guard(struct cbx_shell *s, TSNode block, TSNode node);

#endif
