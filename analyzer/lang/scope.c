/* SPDX-License-Identifier: MIT
 * Scopes and bindings. */
#include "analyzer/lang/scope.h"

uint64_t cbx_name_hash(struct cbx_str text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.p[i]) * 0x100000001b3u;
    }
    return hash;
}

static void grow(struct cbx_walk *walk, struct cbx_table *table)
{
    size_t size = table->size == 0 ? 256 : table->size * 2;
    struct cbx_slot *slots = cbx_arena_array(walk->arena, size, sizeof(*slots));
    if (slots == NULL) {
        return;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->slots[i].value != NULL) {
            size_t at = (((uintptr_t)table->slots[i].a >> 3) * 0x9E3779B97F4A7C15u ^ table->slots[i].b) & (size - 1);
            while (slots[at].value != NULL) {
                at = (at + 1) & (size - 1);
            }
            slots[at] = table->slots[i];
        }
    }
    table->slots = slots;
    table->size = size;
}

void **cbx_table_slot(struct cbx_walk *walk, struct cbx_table *table, const void *a, uint64_t b)
{
    static void *nowhere;
    if (table->count * 2 >= table->size) {
        grow(walk, table);
    }
    if (table->size == 0 || table->count + 1 >= table->size) {
        nowhere = NULL;
        return &nowhere;
    }
    size_t at = (((uintptr_t)a >> 3) * 0x9E3779B97F4A7C15u ^ b) & (table->size - 1);
    while (table->slots[at].value != NULL && (table->slots[at].a != a || table->slots[at].b != b)) {
        at = (at + 1) & (table->size - 1);
    }
    if (table->slots[at].value == NULL) {
        table->slots[at].a = a;
        table->slots[at].b = b;
        table->count++;
    }
    return &table->slots[at].value;
}

struct cbx_binding *cbx_scope_bind(struct cbx_walk *walk, struct cbx_scope *scope, struct cbx_scope *where, struct cbx_str name,
                                   enum cbx_bind kind, TSNode node)
{
    struct cbx_binding *binding = cbx_arena_alloc(walk->arena, sizeof(*binding));
    if (binding == NULL) {
        return NULL;
    }
    *binding = (struct cbx_binding){ .kind = kind, .name = name, .scope = scope, .where = where, .node = node };
    void **slot = cbx_table_slot(walk, &walk->bindings, scope, cbx_name_hash(name));
    binding->next = *slot;
    *slot = binding;
    return binding;
}

struct cbx_scope *cbx_scope_open(struct cbx_walk *walk, struct cbx_scope *parent, TSNode node, int kind)
{
    struct cbx_scope *scope = cbx_arena_alloc(walk->arena, sizeof(*scope));
    if (scope == NULL) {
        return parent;
    }
    *scope = (struct cbx_scope){ .parent = parent, .node = node.id };
    scope->kind = kind;
    *cbx_table_slot(walk, &walk->scopes, node.id, 0) = scope;
    return scope;
}

struct cbx_scope *cbx_scope_of(struct cbx_walk *walk, TSNode node, struct cbx_scope *otherwise)
{
    struct cbx_scope *scope = *cbx_table_slot(walk, &walk->scopes, node.id, 0);
    return scope != NULL ? scope : otherwise;
}

void cbx_scope_return(struct cbx_walk *walk, struct cbx_scope *scope, TSNode node)
{
    struct cbx_return *ret = cbx_arena_alloc(walk->arena, sizeof(*ret));
    if (ret != NULL && !ts_node_is_null(node)) {
        *ret = (struct cbx_return){ .node = node, .next = scope->returns };
        scope->returns = ret;
    }
}

struct cbx_str cbx_walk_text(const struct cbx_walk *walk, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return (struct cbx_str){ .p = walk->src + start, .len = end - start };
}
