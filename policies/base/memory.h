/* SPDX-License-Identifier: MIT
 * Memory of the heap. A process without memory cannot keep its guarantees, so these functions
 * end it (abort(3)) and never return NULL. For sizes that a hostile input chooses, use an arena
 * with a cap (arena.h). */
#ifndef CBX_POLICIES_BASE_MEMORY_H
#define CBX_POLICIES_BASE_MEMORY_H

#include "policies/base/str.h"

#include <stddef.h>

/* Return zeroed memory for one object, and for an array; a product that overflows counts as out
 * of memory. The caller frees it. */
void *cbx_new(size_t bytes) __attribute__((malloc, returns_nonnull));
void *cbx_new_array(size_t count, size_t bytes) __attribute__((malloc, returns_nonnull));

/* Resizes an array (NULL = none yet) to `count` items, as realloc(3); new items are not zeroed. */
void *cbx_renew(void *array, size_t count, size_t bytes) __attribute__((returns_nonnull));

/* Returns the array (NULL = none yet) with space for at least one item after the first `count`. It
 * is resized when `count` is a power of two, so n items are copied at most twice; only cbx_grow may
 * resize it. */
void *cbx_grow(void *array, size_t count, size_t bytes) __attribute__((returns_nonnull));

/* Returns a copy of the bytes with a NUL after them. */
char *cbx_str_copy(struct cbx_str text) __attribute__((malloc, returns_nonnull));

#endif
