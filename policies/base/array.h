/* SPDX-License-Identifier: MIT
 * Arrays that grow in an arena. The owner keeps three members: items, count (used) and size
 * (allocated). Growth doubles, so n pushes copy at most 2 n items; the old array stays in the arena
 * until the arena is reset. */
#ifndef CBX_POLICIES_BASE_ARRAY_H
#define CBX_POLICIES_BASE_ARRAY_H

#include "policies/base/arena.h"

#include <stdint.h>

/* The growth parameters of an array. */
struct cbx_array_growth {
    size_t item_bytes;
    size_t max; /* maximum number of items; SIZE_MAX = only the arena's cap limits it */
};

/* Allocates space for `more` items after the first `count`, and returns the new address of the
 * items; *size is the number that fits. NULL if that would be more than growth.max items, or if
 * the arena is exhausted: *size and the old items are unchanged then. Items after `count` that
 * were never used are zeroed. */
void *cbx_array_grow(struct cbx_arena *arena, struct cbx_array_growth growth, void *items,
                     size_t count, size_t *size, size_t more);

/* True if `items` (an lvalue pointer) has space for `more` items after `count`, growing if
 * needed; false leaves everything unchanged. */
#define CBX_ARRAY_RESERVE(arena, items, count, size, more, max)                                    \
    __extension__({                                                                                \
        void *grown_ = cbx_array_grow(arena, (struct cbx_array_growth){ sizeof(*(items)), max },   \
                                      items, count, size, more);                                   \
        if (grown_ != NULL) {                                                                      \
            (items) = grown_;                                                                      \
        }                                                                                          \
        grown_ != NULL;                                                                            \
    })

#endif
