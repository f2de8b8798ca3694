/* SPDX-License-Identifier: MIT
 * A stable sort without system calls. glibc's qsort reads the amount of memory from the host
 * kernel (sysinfo) before it sorts more than a KiB, and the seccomp filter of a worker refuses
 * that call. */
#ifndef CBX_POLICIES_BASE_SORT_H
#define CBX_POLICIES_BASE_SORT_H

#include "policies/base/arena.h"

/* Compares two items: negative, 0 or positive. */
typedef int cbx_compare(const void *a, const void *b);

/* Sorts `count` items; equal items keep their order. `scratch` has space for `count` items and
 * is overwritten. At most count * (log2(count) + 1) comparisons; linear if the items are sorted. */
void cbx_sort(void *items, size_t count, size_t item_bytes, cbx_compare *compare, void *scratch);

/* The same with scratch memory from the arena. False, and nothing is sorted, if the arena is
 * exhausted. */
bool cbx_sort_in(struct cbx_arena *arena, void *items, size_t count, size_t item_bytes,
                 cbx_compare *compare);

/* The same with scratch memory from the heap; aborts if the machine is out of memory. */
void cbx_sort_heap(void *items, size_t count, size_t item_bytes, cbx_compare *compare);

#endif
