/* SPDX-License-Identifier: MIT
 * What reading options and completing them share. Private to options*.c. */
#ifndef CBX_POLICIES_BASE_OPTIONS_WORDS_H
#define CBX_POLICIES_BASE_OPTIONS_WORDS_H

#include "policies/base/options.h"

enum { CBX_OPTION_WORDS_MAX_BYTES = 16384 };

/* The kind that the row's words name; NULL when they are the words themselves, or none. */
const struct cbx_option_kind *cbx_option_kind(const struct cbx_option_table *table,
                                              const struct cbx_option *row);

/* Appends the values that there are, separated by blanks; nothing when any text is allowed. */
void cbx_option_words(const struct cbx_option_table *table, const struct cbx_option *row,
                      struct cbx_buf *out);

#endif
