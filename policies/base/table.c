/* SPDX-License-Identifier: MIT
 * A hash table with open addressing. */
#include "policies/base/table.h"

enum { FIRST_SIZE = 64 };

static bool is_free(const struct cbx_slot *slot)
{
    return slot->a == NULL && slot->b == 0;
}

static uint64_t kept(const void *a, uint64_t b)
{
    return a == NULL && b == 0 ? 1 : b;
}

/* Returns the slot of (a, b), or the free one where it belongs. All bits of both words must reach
 * the low ones. */
static inline struct cbx_slot *slot_of(const struct cbx_table *table, const void *a, uint64_t b)
{
    uint64_t hash = ((uintptr_t)a ^ b >> 7 ^ b << 25) * 0x9E3779B97F4A7C15u;
    size_t mask = table->size - 1, at = (size_t)(hash ^ hash >> 29) & mask;
    struct cbx_slot *slot = &table->slots[at];
    while ((slot->a != a || slot->b != b) && !is_free(slot)) {
        at = (at + 1) & mask;
        slot = &table->slots[at];
    }
    return slot;
}

static void grow(struct cbx_arena *arena, struct cbx_table *table)
{
    struct cbx_table grown = { .count = table->count,
                               .size = table->size == 0 ? FIRST_SIZE : table->size * 2 };
    grown.slots = cbx_arena_array(arena, grown.size, sizeof(*grown.slots));
    if (grown.slots == NULL) {
        return;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (!is_free(&table->slots[i])) {
            *slot_of(&grown, table->slots[i].a, table->slots[i].b) = table->slots[i];
        }
    }
    *table = grown;
}

void *cbx_table_find(const struct cbx_table *table, const void *a, uint64_t b)
{
    return table->size > 0 ? slot_of(table, a, kept(a, b))->value : NULL;
}

void **cbx_table_slot(struct cbx_arena *arena, struct cbx_table *table, const void *a, uint64_t b)
{
    static _Thread_local void *nowhere;
    if (table->count * 2 >= table->size) {
        grow(arena, table);
    }
    if (table->size == 0 || table->count + 1 >= table->size) {
        nowhere = NULL;
        return &nowhere;
    }
    b = kept(a, b);
    struct cbx_slot *slot = slot_of(table, a, b);
    if (is_free(slot)) {
        slot->a = a;
        slot->b = b;
        table->count++;
    }
    return &slot->value;
}
