/* SPDX-License-Identifier: MIT
 * The list of facts. */
#include "analyzer/facts.h"

struct cbx_fact *cbx_facts_add(struct cbx_facts *facts, enum cbx_fact_kind kind,
                               struct cbx_str name, uint32_t start, uint32_t end)
{
    if (facts->count == facts->size) {
        size_t size = facts->size == 0 ? 256 : facts->size * 2;
        struct cbx_fact *items = cbx_arena_array(facts->arena, size, sizeof(*items));
        if (items == NULL) {
            return NULL;
        }
        if (facts->count > 0) {
            memcpy(items, facts->items, facts->count * sizeof(*items));
        }
        facts->items = items;
        facts->size = size;
    }
    bool inside = facts->base_end != 0;
    struct cbx_fact *fact = &facts->items[facts->count++];
    *fact = (struct cbx_fact){ .kind = kind,
                               .special = CBX_FACTS,
                               .name = name,
                               .language = facts->language,
                               .start = inside ? facts->base : facts->base + start,
                               .end = inside ? facts->base_end : facts->base + end };
    return fact;
}

void cbx_facts_add_special(struct cbx_facts *facts, enum cbx_fact_id id, struct cbx_str name,
                           uint32_t start, uint32_t end)
{
    struct cbx_fact *fact = cbx_facts_add(facts, CBX_IS_SPECIAL, name, start, end);
    if (fact != NULL) {
        fact->special = id;
    }
}
