/* SPDX-License-Identifier: MIT
 * Nodes of the shell's grammar: their types and texts, and which of them are words. */
#include "analyzer/lang/shell/internal.h"

bool cbx_shell_type_is(TSNode node, const char *type)
{
    return !ts_node_is_null(node) && strcmp(ts_node_type(node), type) == 0;
}

struct cbx_str cbx_shell_source_of(const struct cbx_shell *s, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return (struct cbx_str){ .p = s->src + start, .len = end - start };
}

bool cbx_shell_has_any(struct cbx_str text, const char *bytes)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr(bytes, text.p[i]) != NULL && text.p[i] != '\0') {
            return true;
        }
    }
    return false;
}

bool cbx_shell_next_node(TSTreeCursor *cursor, bool inside, int *depth)
{
    return cbx_tree_move(cursor, inside && *depth < CBX_TREE_DEPTH_MAX, depth);
}

bool cbx_shell_is_word(TSNode child, bool behind)
{
    static const char *const others[] = { "variable_assignment", "file_redirect", "comment",
                                          "herestring_redirect", "heredoc_redirect" };
    static const char *const words[] = { "word",
                                         "string",
                                         "raw_string",
                                         "concatenation",
                                         "number",
                                         "expansion",
                                         "simple_expansion",
                                         "ansi_c_string",
                                         "translated_string",
                                         "command_substitution",
                                         "process_substitution",
                                         "arithmetic_expansion",
                                         "brace_expression" };
    const char *type = ts_node_type(child);
    if (behind) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            if (strcmp(type, words[i]) == 0) {
                return true;
            }
        }
        return false;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(type, others[i]) == 0) {
            return false;
        }
    }
    return true;
}

bool cbx_shell_has_words_behind(TSNode redirect)
{
    TSTreeCursor cursor = ts_tree_cursor_new(redirect);
    int words = 0;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        words += cbx_shell_is_word(ts_tree_cursor_current_node(&cursor), true);
    }
    ts_tree_cursor_delete(&cursor);
    return words > 1;
}

void cbx_shell_add_fact(struct cbx_shell *s, enum cbx_fact_id id, struct cbx_str name, TSNode node)
{
    cbx_facts_add_special(s->parsed->facts, id, name, ts_node_start_byte(node),
                          ts_node_end_byte(node));
}
