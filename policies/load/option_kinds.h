/* SPDX-License-Identifier: MIT
 * The kinds of option values shared by programs with policies: "@file", "@policy", "@language". */
#ifndef CBX_POLICIES_LOAD_OPTION_KINDS_H
#define CBX_POLICIES_LOAD_OPTION_KINDS_H

#include "policies/base/options/options.h"

/* Append the names of the presets and of the languages, separated by blanks. */
void cbx_option_add_presets(struct cbx_buf *out);
void cbx_option_add_languages(struct cbx_buf *out);

/* Rows of a table of struct cbx_option_kind. */
#define CBX_OPTION_KINDS                                                                           \
    { .name = "@file", .files = true },                                                            \
        { .name = "@policy", .files = true, .words = cbx_option_add_presets },                     \
    {                                                                                              \
        .name = "@language", .words = cbx_option_add_languages                                     \
    }

#endif
