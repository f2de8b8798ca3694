/* SPDX-License-Identifier: MIT
 * The table of macros of a source in C. */
#include "analyzer/lang/c/macros.h"

struct cbx_c_macro *cbx_c_macro(struct cbx_c_reader *r, struct cbx_str name)
{
    struct cbx_c_macro *macro = cbx_table_find(&r->macros, NULL, cbx_name_hash(name));
    while (macro != NULL && !cbx_str_equal(macro->name, name)) {
        macro = macro->next;
    }
    return macro;
}

struct cbx_c_macro *cbx_c_macro_add(struct cbx_c_reader *r, struct cbx_str name)
{
    struct cbx_c_macro *macro = cbx_c_macro(r, name);
    if (macro == NULL) {
        macro = cbx_arena_alloc(r->arena, sizeof(*macro));
        if (macro != NULL) {
            void **chain = cbx_table_slot(r->arena, &r->macros, NULL, cbx_name_hash(name));
            macro->name = name;
            macro->next = *chain;
            *chain = macro;
        }
    }
    return macro;
}
