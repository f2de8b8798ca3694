/* SPDX-License-Identifier: MIT
 * The names that declare, local, export, readonly and unset change, and their attributes. */
#include "analyzer/lang/shell/collect.h"

#include <string.h>

/* Handles one word after declare, local, export or unset that is not an assignment. */
static void collect_declared(struct cbx_shell_collector *c, TSNode child, bool keeps, bool unsets)
{
    /* a name that is declared in a function is a new variable */
    struct cbx_str text = cbx_shell_source_of(c->s, child);
    if (!cbx_shell_type_is(child, "variable_name") && !cbx_shell_type_is(child, "word")) {
        c->s->names.lost = true; /* a computed name */
        return;
    }
    /* -n makes a name refer to another one */
    c->s->names.lost |= text.len > 1 && text.p[0] == '-' && !keeps && !unsets &&
                        memchr(text.p, 'n', text.len) != NULL;
    struct cbx_shell_name *entry = keeps ? NULL : cbx_shell_name_make(c->s, text);
    if (entry != NULL) {
        entry->constant = false;
        cbx_shell_name_assign(c->s, entry);
        entry->unset |= unsets;
        if (unsets) {
            uint32_t at = c->top ? ts_node_start_byte(child) : 0;
            entry->unset_at = entry->unset_names && entry->unset_at < at ? entry->unset_at : at;
            entry->unset_names = true;
        }
        if (c->function != NULL && !unsets) {
            cbx_shell_name_give(entry, ts_node_start_byte(child));
        }
    }
}

/* Records declare -i, -A and -a of these names. */
static void collect_attributes(struct cbx_shell_collector *c, TSNode node)
{
    bool integer = false, keyed = false;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        struct cbx_str text = cbx_shell_source_of(c->s, child);
        bool option = cbx_shell_type_is(child, "word") && text.len > 1 && text.p[0] == '-';
        integer |= option && memchr(text.p, 'i', text.len) != NULL;
        keyed |= option && memchr(text.p, 'A', text.len) != NULL;
        bool assignment = cbx_shell_type_is(child, "variable_assignment");
        if (!assignment && !cbx_shell_type_is(child, "variable_name") &&
            !(cbx_shell_type_is(child, "word") && !option)) {
            continue;
        }
        TSNode name = assignment ? ts_node_child_by_field_name(child, "name", 4) : child;
        struct cbx_shell_name *n = ts_node_is_null(name)
                                       ? NULL
                                       : cbx_shell_name_make(c->s, cbx_shell_source_of(c->s, name));
        if (n == NULL) {
            continue;
        }
        n->integer |= integer;
        if (keyed && (!n->keyed || c->function == NULL)) {
            bool certain = c->function != NULL || ts_node_start_byte(child) >= c->s->fresh;
            /* includes the keys of this very assignment */
            n->keyed_since = certain    ? ts_node_start_byte(child)
                             : n->keyed ? n->keyed_since
                                        : UINT32_MAX;
            n->keyed_in = c->function;
        }
        n->indexed |= !keyed && n->keyed;
        n->keyed |= keyed;
    }
    ts_tree_cursor_delete(&cursor);
}

void cbx_shell_collect_declaration(struct cbx_shell_collector *c, TSNode node)
{
    struct cbx_str word = cbx_shell_source_of(c->s, node);
    bool unsets = cbx_shell_type_is(node, "unset_command");
    if (!unsets) {
        collect_attributes(c, node);
    }
    bool keeps =
        cbx_str_starts(word, CBX_STR("export")) || cbx_str_starts(word, CBX_STR("readonly"));
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(child) && !cbx_shell_type_is(child, "variable_assignment")) {
            collect_declared(c, child, keeps, unsets);
        }
    }
    ts_tree_cursor_delete(&cursor);
}
