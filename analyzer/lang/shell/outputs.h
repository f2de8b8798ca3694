/* SPDX-License-Identifier: MIT
 * Traits (traits.h) of commands' standard output. Private to analyzer/lang/shell/. */
#ifndef CBX_ANALYZER_LANG_SHELL_OUTPUTS_H
#define CBX_ANALYZER_LANG_SHELL_OUTPUTS_H

#include "analyzer/lang/shell/traits.h"

/* As cbx_shell_output_traits and cbx_shell_traits, at this depth of the recursion: beyond a
 * fixed depth the value counts as unknown. */
unsigned cbx_shell_outputs(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                           int depth);
unsigned cbx_shell_traits_at(struct cbx_shell *s, TSNode node, struct cbx_shell_name *function,
                             int depth);

#endif
