/* SPDX-License-Identifier: MIT
 * The table of macros of a source in C. */
#include "analyzer/lang/c/macros.h"

static struct cbx_c_macro **bucket_of(struct cbx_c_reader *r, struct cbx_str name)
{
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < name.len; i++) {
        hash = (hash ^ (unsigned char)name.p[i]) * 16777619u;
    }
    return &r->buckets[(hash ^ hash >> 15) % CBX_C_BUCKETS];
}

struct cbx_c_macro *cbx_c_macro(struct cbx_c_reader *r, struct cbx_str name)
{
    struct cbx_c_macro *macro = *bucket_of(r, name);
    while (macro != NULL && !cbx_str_equal(macro->name, name)) {
        macro = macro->next;
    }
    return macro;
}

struct cbx_c_macro *cbx_c_macro_add(struct cbx_c_reader *r, struct cbx_str name)
{
    struct cbx_c_macro *macro = cbx_c_macro(r, name), **bucket = bucket_of(r, name);
    if (macro == NULL) {
        macro = cbx_arena_alloc(r->arena, sizeof(*macro));
        if (macro != NULL) {
            macro->name = name;
            macro->next = *bucket;
            *bucket = macro;
        }
    }
    return macro;
}
