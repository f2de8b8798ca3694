/* SPDX-License-Identifier: MIT
 * Shell cells in the program of their session: the facts of the new cell that depend on earlier
 * ones, and its summary: the source of the statements that bind names. If a later cell has one of
 * the names, program.c puts them before it, and the values in them are possible values. */
#include "analyzer/lang/summary.h"
#include "analyzer/lang/shell/traits.h"
#include "policies/base/array.h"

/* --- a cell in a program ---------------------------------------------------------------------- */

void cbx_shell_note_functions(struct cbx_parsed *parsed)
{
    struct cbx_ranges *out = parsed->functions;
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(parsed->tree));
    int depth = 0;
    for (bool more = true, function; more; more = cbx_shell_next_node(&cursor, !function, &depth)) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        function = cbx_shell_type_is(node, "function_definition");
        if (function &&
            CBX_ARRAY_RESERVE(parsed->arena, out->items, out->count, &out->size, 1, SIZE_MAX)) {
            out->items[out->count++] =
                (struct cbx_range){ ts_node_start_byte(node), ts_node_end_byte(node) };
        }
    }
    ts_tree_cursor_delete(&cursor);
}

bool cbx_shell_begins_alone(const struct cbx_parsed *parsed)
{
    uint32_t start = parsed->fresh.start;
    bool alone = true;
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(parsed->tree));
    for (bool more = start > 0 && ts_tree_cursor_goto_first_child(&cursor); more && alone;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode statement = ts_tree_cursor_current_node(&cursor);
        /* some statements include the line ends after them */
        uint32_t end = ts_node_end_byte(statement);
        while (end > start && memchr(" \t\r\n", parsed->text.p[end - 1], 4) != NULL) {
            end--;
        }
        alone = ts_node_start_byte(statement) >= start || end <= start;
    }
    ts_tree_cursor_delete(&cursor);
    return alone;
}

void cbx_shell_mark_alone(struct cbx_facts *facts, size_t from)
{
    for (size_t i = from; i < facts->count; i++) {
        struct cbx_fact *fact = &facts->items[i];
        fact->alone |=
            fact->kind == CBX_IS_SPECIAL &&
            (fact->special == CBX_FACT_SHELL_NOT_LISTED ||
             fact->special == CBX_FACT_SHELL_EVALUATED || fact->special == CBX_FACT_SHELL_SCRIPT ||
             fact->special == CBX_FACT_SHELL_UNRESOLVED || fact->special == CBX_FACT_SHELL_OPTION);
    }
}

/* --- summaries -------------------------------------------------------------------------------- */

/* Adds the spellings of a variable: x, ${x} or $x; words of the shell contain the dollar sign
 * (lang/summary.c). */
static void add_name(struct cbx_str name, struct cbx_buf *names)
{
    cbx_buf_add(names, name);
    cbx_buf_add_cstr(names, "\n$");
    cbx_buf_add(names, name);
    cbx_buf_add_cstr(names, "\n");
}

static bool is_bound(const struct cbx_shell_name *n)
{
    return n->assigned || n->given || n->function || n->unset || n->unset_names || n->integer ||
           n->keyed || n->indexed;
}

/* Returns true if the statement changes the meaning of statements without its names: a trap runs
 * between them, the fields of words depend on IFS, relative paths on the working folder. If the
 * text merely contains such a word, it is read once more, which changes nothing. */
static bool is_always_needed(const struct cbx_shell_names *names, struct cbx_str text)
{
    static const char *const words[] = { "trap", "set", "shift", "cd", "pushd", "popd" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (memmem(text.p, text.len, words[i], strlen(words[i])) != NULL) {
            return true;
        }
    }
    return names->lost || names->splits || names->sources || names->args != CBX_SHELL_ARGS;
}

static void add_statement(struct cbx_shell *s, TSNode statement, struct cbx_buf *names,
                          struct cbx_buf *out)
{
    struct cbx_str text = cbx_shell_source_of(s, statement);
    cbx_buf_reset(names);
    cbx_shell_names_collect_of(s, statement);
    for (size_t i = 0; i < s->names.table.size; i++) {
        for (const struct cbx_shell_name *n = s->names.table.slots[i].value; n != NULL;
             n = n->next) {
            if (is_bound(n)) {
                add_name(n->name, names);
            }
        }
    }
    if (s->parsed->recall != NULL && (s->names.lost || s->names.splits)) {
        cbx_recall_need_all(s->parsed->recall);
    }
    if (is_always_needed(&s->names, text) || names->overflow) {
        cbx_summary_add_statement(CBX_STR(CBX_NAMES_ALWAYS), text, out);
    } else if (names->len > 0) {
        cbx_summary_add_statement(cbx_buf_str(names), text, out);
    }
}

void cbx_shell_summarise(const struct cbx_shell *program)
{
    enum { NAMES_BYTES_MAX = 16 * 1024 };
    const struct cbx_range *fresh = &program->parsed->fresh;
    struct cbx_shell s = *program;
    struct cbx_buf *out = program->parsed->summary;
    CBX_AUTO_DONE(buf) names;
    cbx_buf_init(&names, NAMES_BYTES_MAX);
    cbx_buf_reset(out);
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(program->parsed->tree));
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode statement = ts_tree_cursor_current_node(&cursor);
        uint32_t at = ts_node_start_byte(statement);
        if (ts_node_is_named(statement) && at >= fresh->start && at < fresh->end) {
            add_statement(&s, statement, &names, out);
        }
    }
    ts_tree_cursor_delete(&cursor);
    /* A cell that binds nothing also has a summary: without a summary the session keeps the
     * whole cell. */
    cbx_record_write(&(struct cbx_record){ .kind = CBX_RECORD_WALK }, out);
}
