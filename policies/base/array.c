/* SPDX-License-Identifier: MIT
 * Arrays that grow in an arena. */
#include "policies/base/array.h"

enum { FIRST_ITEMS = 16 };

void *cbx_array_grow(struct cbx_arena *arena, struct cbx_array_growth growth, void *items,
                     size_t count, size_t *size, size_t more)
{
    if (count > growth.max || more > growth.max - count) {
        return NULL;
    }
    if (items != NULL && count + more <= *size) {
        return items;
    }
    size_t larger = *size < FIRST_ITEMS / 2 ? FIRST_ITEMS
                    : *size > SIZE_MAX / 2  ? SIZE_MAX
                                            : *size * 2;
    larger = larger < count + more ? count + more : larger;
    larger = larger > growth.max ? growth.max : larger;
    void *moved = cbx_arena_array(arena, larger, growth.item_bytes);
    if (moved != NULL) {
        if (count > 0) {
            memcpy(moved, items, count * growth.item_bytes);
        }
        *size = larger;
    }
    return moved;
}
