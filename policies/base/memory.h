/* SPDX-License-Identifier: MIT
 * Memory of the heap. A process without memory cannot keep its promises, so these functions end it (abort(3)) and never return NULL. For sizes that
 * a hostile input chooses, an arena with a cap is the place (arena.h). */
#ifndef CBX_POLICIES_BASE_MEMORY_H
#define CBX_POLICIES_BASE_MEMORY_H

#include "policies/base/str.h"

#include <stddef.h>

/* Zeroed memory for one object, and for an array, of which a product that overflows counts as no memory; the caller frees it. */
void *cbx_new(size_t bytes) __attribute__((malloc, returns_nonnull));
void *cbx_new_array(size_t count, size_t bytes) __attribute__((malloc, returns_nonnull));

/* Gives an array (NULL = none yet) room for `count` items, as realloc(3); what is new is not zeroed. */
void *cbx_renew(void *array, size_t count, size_t bytes) __attribute__((returns_nonnull));

/* A copy of the bytes with a NUL behind them. */
char *cbx_str_copy(struct cbx_str text) __attribute__((malloc, returns_nonnull));

#endif
