/* SPDX-License-Identifier: MIT
 * Tables of names: fixed rows with a hash index, filled once. */
#ifndef CBX_ANALYZER_LANG_NAMES_H
#define CBX_ANALYZER_LANG_NAMES_H

#include "policies/base/str.h"

#include <stdint.h>

/* A row of a table of names; `what` is one of the table's own kinds. */
struct cbx_name_row {
    uint8_t what;
    struct cbx_str name, text;
    int number;
    const char *more;
};
#define CBX_LITERAL(literal)                                                                       \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }
enum { CBX_NAMES_SLOTS = 2048 };
struct cbx_names {
    const struct cbx_name_row *rows;
    size_t count;                    /* at most half of the slots */
    uint16_t slots[CBX_NAMES_SLOTS]; /* index of the row + 1 */
};
/* Fills the slots. Call it once, before cbx_names_find. */
void cbx_names_fill(struct cbx_names *names);
/* Returns the row of this kind for the name; NULL if there is none. */
const struct cbx_name_row *cbx_names_find(const struct cbx_names *names, uint8_t what,
                                          struct cbx_str name);

#endif
