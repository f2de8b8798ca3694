/* SPDX-License-Identifier: MIT
 * Functions shared by reading options and completing them. Private to options*.c. */
#ifndef CBX_POLICIES_BASE_OPTIONS_OPTIONS_WORDS_H
#define CBX_POLICIES_BASE_OPTIONS_OPTIONS_WORDS_H

#include "policies/base/options/options.h"

enum { CBX_OPTION_WORDS_MAX_BYTES = 16384 };

/* Returns the kind that the row's words name; NULL if they are the words themselves, or there
 * are none. */
const struct cbx_option_kind *cbx_option_kind(const struct cbx_option_table *table,
                                              const struct cbx_option *row);

/* Appends the permitted values, separated by blanks; nothing if any text is permitted. */
void cbx_option_words(const struct cbx_option_table *table, const struct cbx_option *row,
                      struct cbx_buf *out);

#endif
