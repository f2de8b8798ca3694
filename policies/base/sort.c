/* SPDX-License-Identifier: MIT
 * Merge sort from the bottom up: not recursive. */
#include "policies/base/sort.h"

#include <stdio.h>
#include <stdlib.h>

struct sorting {
    char *items, *scratch;
    size_t bytes; /* size of one item */
    cbx_compare *compare;
};

static char *item_at(const struct sorting *s, size_t i)
{
    return s->items + i * s->bytes;
}

/* Merges the runs [from, middle) and [middle, end), using the scratch memory. */
static void merge(const struct sorting *s, size_t from, size_t middle, size_t end)
{
    size_t left = from, right = middle, n = 0;
    if (s->compare(item_at(s, middle - 1), item_at(s, middle)) <= 0) {
        return;
    }
    while (left < middle) {
        bool take_right = right < end && s->compare(item_at(s, left), item_at(s, right)) > 0;
        size_t *taken = take_right ? &right : &left;
        memcpy(s->scratch + n++ * s->bytes, item_at(s, (*taken)++), s->bytes);
    }
    /* the rest of the right run is in its place already */
    memcpy(item_at(s, from), s->scratch, n * s->bytes);
}

void cbx_sort(void *items, size_t count, size_t item_bytes, cbx_compare *compare, void *scratch)
{
    struct sorting s = {
        .items = items, .scratch = scratch, .bytes = item_bytes, .compare = compare
    };
    for (size_t run = 1; run<count; run = run> count / 2 ? count : run * 2) {
        for (size_t from = 0; from + run < count; from += 2 * run) {
            merge(&s, from, from + run, count - from > 2 * run ? from + 2 * run : count);
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
