/* SPDX-License-Identifier: MIT
 * A hash table from two words to one pointer, in an arena. It grows, so a search is constant on
 * average. Words are addresses, hashes of names (cbx_name_hash) or numbers. A table by names has
 * the chain of the entries with one hash as the value of (NULL, hash): a search compares names. */
#ifndef CBX_POLICIES_BASE_TABLE_H
#define CBX_POLICIES_BASE_TABLE_H

#include "policies/base/arena.h"

#include <stdint.h>

/* One pair; free if a is NULL and b is 0: that pair is kept as (NULL, 1), and equals it. */
struct cbx_slot {
    const void *a;
    uint64_t b;
    void *value;
};

/* Zeroed memory is an empty table. `slots` is for loops over all pairs, in no order. */
struct cbx_table {
    struct cbx_slot *slots;
    size_t count, size;
};

/* Returns the value at (a, b); NULL if there is none. */
void *cbx_table_find(const struct cbx_table *table, const void *a, uint64_t b);

/* Returns the address of the value at (a, b), valid until the next call; the value is NULL until it
 * is set. If the arena is exhausted, the address of a dummy. */
void **cbx_table_slot(struct cbx_arena *arena, struct cbx_table *table, const void *a, uint64_t b);

/* Returns a hash of the name (FNV-1a). */
static inline uint64_t cbx_name_hash(struct cbx_str name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < name.len; i++) {
        hash = (hash ^ (unsigned char)name.p[i]) * 0x100000001b3u;
    }
    return hash;
}

#endif
