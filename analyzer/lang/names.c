/* SPDX-License-Identifier: MIT
 * Tables of names. */
#include "analyzer/lang/names.h"

#include "policies/base/table.h"

static size_t slot_of(uint8_t what, struct cbx_str name)
{
    uint64_t hash = cbx_name_hash(name) + what * 0x9E3779B97F4A7C15u;
    return (hash ^ hash >> 32) & (CBX_NAMES_SLOTS - 1);
}

void cbx_names_fill(struct cbx_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        size_t at = slot_of(names->rows[i].what, names->rows[i].name);
        while (names->slots[at] != 0) {
            at = (at + 1) & (CBX_NAMES_SLOTS - 1);
        }
        names->slots[at] = (uint16_t)(i + 1);
    }
}

const struct cbx_name_row *cbx_names_find(const struct cbx_names *names, uint8_t what,
                                          struct cbx_str name)
{
    for (size_t at = slot_of(what, name); names->slots[at] != 0;
         at = (at + 1) & (CBX_NAMES_SLOTS - 1)) {
        const struct cbx_name_row *row = &names->rows[names->slots[at] - 1];
        if (row->what == what && cbx_str_equal(row->name, name)) {
            return row;
        }
    }
    return NULL;
}
