/* SPDX-License-Identifier: MIT
 * Merge sort from the bottom up: not recursive. */
#include "policies/base/sort.h"

#include <stdio.h>
#include <stdlib.h>

/* Merges the runs [from, middle) and [middle, end) of `items`, through `scratch`. */
static void merge(char *items, size_t from, size_t middle, size_t end, size_t bytes,
                  cbx_compare *compare, char *scratch)
{
    size_t left = from, right = middle, n = 0;
    if (compare(items + (middle - 1) * bytes, items + middle * bytes) <= 0) {
        return;
    }
    while (left < middle) {
        bool take_right = right < end && compare(items + left * bytes, items + right * bytes) > 0;
        size_t *taken = take_right ? &right : &left;
        memcpy(scratch + n++ * bytes, items + (*taken)++ * bytes, bytes);
    }
    /* what is left of the right run stands in its place already */
    memcpy(items + from * bytes, scratch, n * bytes);
}

void cbx_sort(void *items, size_t count, size_t item_bytes, cbx_compare *compare, void *scratch)
{
    for (size_t run = 1; run<count; run = run> count / 2 ? count : run * 2) {
        for (size_t from = 0; from + run < count; from += 2 * run) {
            size_t end = count - from > 2 * run ? from + 2 * run : count;
            merge(items, from, from + run, end, item_bytes, compare, scratch);
        }
    }
}

bool cbx_sort_in(struct cbx_arena *arena, void *items, size_t count, size_t item_bytes,
                 cbx_compare *compare)
{
    void *scratch = count > 1 ? cbx_arena_array(arena, count, item_bytes) : NULL;
    if (scratch != NULL) {
        cbx_sort(items, count, item_bytes, compare, scratch);
    }
    return count < 2 || scratch != NULL;
}

void cbx_sort_heap(void *items, size_t count, size_t item_bytes, cbx_compare *compare)
{
    void *scratch = count > 1 ? calloc(count, item_bytes) : NULL;
    if (count > 1 && scratch == NULL) {
        fputs("codebox: out of memory\n", stderr);
        abort();
    }
    cbx_sort(items, count, item_bytes, compare, scratch);
    free(scratch);
}
