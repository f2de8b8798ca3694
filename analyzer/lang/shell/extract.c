/* SPDX-License-Identifier: MIT
 * Facts about shell: every command word at any depth, every redirection and assignment, installs;
 * code for an interpreter is judged in its language. The walk keeps the source of standard input
 * for each level of the tree; what needs no level is in extract_node.c. */
#include "analyzer/lang/shell/arithmetic.h"

#include "analyzer/syntax/tree_memory.h"
#include "policies/base/array.h"

struct level {
    TSNode node, previous; /* previous: in a pipeline the statement before this one */
    bool has_previous;
    struct cbx_shell_input input;
    struct cbx_shell_input redirected;
    uint32_t stream; /* cbx_fact.stream of a command that is this node */
    size_t depth;
    struct cbx_shell_name *function; /* function around the node's children */
    enum cbx_shell_context context;  /* context of the node */
    enum cbx_shell_scope scope;
    struct cbx_places places; /* the working folder before the node */
};

struct walk {
    struct cbx_shell shell;
    struct level *levels;
    size_t size, open; /* open: number of levels of the current node and the nodes around it */
};

static bool type_is(TSNode node, const char *type)
{
    return cbx_shell_type_is(node, type);
}

/* --- standard input --------------------------------------------------------------------------- */

/* Reads the source of standard input that a redirection sets; false if it sets none. */
static bool read_input(const struct cbx_shell *s, TSNode redirect, struct cbx_shell_input *out)
{
    bool heredoc = type_is(redirect, "heredoc_redirect");
    bool herestring = cbx_shell_is_string(s, redirect);
    struct cbx_str text = cbx_shell_source_of(s, redirect);
    bool file = type_is(redirect, "file_redirect") &&
                (cbx_str_starts(text, CBX_STR("<")) || cbx_str_starts(text, CBX_STR("0<")));
    if (heredoc || herestring || file) {
        *out = (struct cbx_shell_input){ heredoc      ? CBX_SHELL_HEREDOC
                                         : herestring ? CBX_SHELL_HERESTRING
                                                      : CBX_SHELL_OTHER,
                                         redirect };
    }
    return heredoc || herestring || file;
}

/* Reads the redirections of a node: the last one of standard input counts. */
static void read_redirects(const struct cbx_shell *s, TSNode node, struct level *level)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        read_input(s, child, &level->redirected);
        if (type_is(child, "heredoc_redirect") && cbx_shell_reads_more(s, child)) {
            level->redirected =
                (struct cbx_shell_input){ .source = CBX_SHELL_OTHER }; /* cat <<X < file */
        }
    }
    ts_tree_cursor_delete(&cursor);
}

static bool is_redirect(TSNode node)
{
    return type_is(node, "heredoc_redirect") || type_is(node, "herestring_redirect") ||
           type_is(node, "file_redirect");
}

/* Returns the source of standard input of `node`, a child of `up`, which is a child of `above`. */
static struct cbx_shell_input input_of(const struct cbx_shell *s, const struct level *above,
                                       const struct level *up, TSNode node)
{
    const struct cbx_shell_input other = { .source = CBX_SHELL_OTHER };
    if (type_is(up->node, "pipeline") && up->has_previous) {
        return (struct cbx_shell_input){ CBX_SHELL_OUTPUT, up->previous };
    }
    if (type_is(up->node, "heredoc_redirect") && type_is(node, "pipeline") && above != NULL) {
        /* cat <<X | sh: the pipeline is inside the redirection of its first command */
        return (struct cbx_shell_input){ CBX_SHELL_OUTPUT, above->node };
    }
    if (type_is(up->node, "redirected_statement") && !is_redirect(node) &&
        up->redirected.source != CBX_SHELL_INHERITED) {
        return up->redirected;
    }
    bool writes_to = type_is(up->node, "process_substitution") &&
                     cbx_str_starts(cbx_shell_source_of(s, up->node), CBX_STR(">"));
    return writes_to || type_is(up->node, "function_definition") ? other : up->input;
}

/* Returns the start of the command to which the redirection of a statement belongs: the last one of
 * a list. */
static uint32_t start_of_last(TSNode statement)
{
    TSNode node = ts_node_named_child(statement, 0);
    while (type_is(node, "list")) {
        node = ts_node_named_child(node, ts_node_named_child_count(node) - 1);
    }
    return ts_node_start_byte(node);
}

/* Returns the stream of a command that is this node, a child of `up` or the root. */
static uint32_t stream_of(const struct level *up, TSNode node)
{
    if (up == NULL) {
        return ts_node_start_byte(node);
    }
    bool reads = up->stream < ts_node_start_byte(up->node);
    if (reads || (type_is(up->node, "pipeline") && up->has_previous)) {
        return up->stream;
    }
    if (!is_redirect(node)) {
        return ts_node_start_byte(node);
    }
    return type_is(up->node, "redirected_statement") ? start_of_last(up->node) : up->stream;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Finds the statements with redirections that a command ends: a redirection after a list or a
 * pipeline belongs to its last command. */
static size_t find_statements(struct cbx_shell *s, const struct level *level, TSNode *out,
                              size_t most)
{
    size_t count = 0;
    for (; level->depth > 0; level--) {
        TSNode above = level[-1].node;
        if (type_is(above, "redirected_statement") && !is_redirect(level->node)) {
            if (count == most) {
                cbx_shell_add_fact(s, CBX_FACT_TOO_COMPLEX, CBX_STR("redirections"), above);
                break;
            }
            out[count++] = above;
        } else if (ts_node_end_byte(level->node) != ts_node_end_byte(above) ||
                   !(type_is(above, "list") || type_is(above, "pipeline") ||
                     type_is(above, "negated_command"))) {
            break;
        }
    }
    return count;
}

/* Judges a command; one with the variable of a loop once for each of its values. */
static void extract_command(struct cbx_shell *s, TSNode node, const struct level *level)
{
    enum { STATEMENTS_MAX = 16 };
    TSNode statements[STATEMENTS_MAX];
    struct level own = { .redirected = level->input };
    read_redirects(s, node, &own); /* a here-string is inside the command */
    s->input = own.redirected;
    size_t count = find_statements(s, level, statements, STATEMENTS_MAX);
    s->needed = NULL;
    struct cbx_shell_line line = cbx_shell_read(s, node, statements, count);
    const struct cbx_shell_loop *loop = s->needed;
    if (loop == NULL) {
        cbx_shell_judge(s, &line);
        return;
    }
    struct cbx_places now = s->places, before = s->before, behind = { 0 };
    for (uint32_t i = 0; i < loop->turn_count; i++) {
        s->places = now;
        s->before = before;
        s->turn = loop;
        s->turn_value = loop->turns[i];
        line = cbx_shell_read(s, node, statements, count);
        cbx_shell_judge(s, &line);
        cbx_places_join(&behind, &s->places);
    }
    s->turn = NULL;
    s->places = behind;
}

static void extract_node(struct cbx_shell *s, TSNode node, const struct level *up,
                         const struct level *level)
{
    if (type_is(node, "command")) {
        extract_command(s, node, level);
    } else if (type_is(node, "heredoc_body") && up != NULL) {
        cbx_shell_extract_heredoc(s, node, up->node);
    } else {
        cbx_shell_extract_node(s, node);
    }
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Makes room for `count` levels: they grow with the depth of the tree, and most lines are a few
 * levels deep. */
static bool reserve(struct walk *w, size_t count)
{
    size_t more = count > w->size ? count - w->size : 0; /* keep the content of every level */
    return CBX_ARRAY_RESERVE(w->shell.parsed->arena, w->levels, w->size, &w->size, more, SIZE_MAX);
}

/* Adds facts for words after redirections that no command takes: words of declarations, tests and
 * groups. */
static void check_words_behind(struct cbx_shell *s, TSNode statement)
{
    TSNode last = ts_node_named_child(statement, 0);
    while (type_is(last, "list") || type_is(last, "pipeline") || type_is(last, "negated_command")) {
        last = ts_node_named_child(last, ts_node_named_child_count(last) - 1);
    }
    bool taken = type_is(last, "command") || type_is(last, "redirected_statement");
    TSTreeCursor cursor = ts_tree_cursor_new(statement);
    for (bool more = !taken && ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (type_is(child, "file_redirect") && cbx_shell_has_words_behind(child)) {
            cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("words behind a redirection"),
                               child);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* Leaves the levels from the innermost one down to this depth, where the next node of the walk
 * is. */
static void leave_levels(struct walk *w, size_t depth)
{
    struct cbx_shell *s = &w->shell;
    for (; w->open > depth; w->open--) {
        const struct level *left = &w->levels[w->open - 1];
        if (left->scope == CBX_SHELL_SCOPE_KEEPS) {
            s->places = left->places;
        } else if (left->scope == CBX_SHELL_SCOPE_MAY_CHANGE) {
            cbx_places_join(&s->places, &left->places);
        }
    }
    w->open = depth + 1;
}

static const TSNode no_node;

static void visit(struct walk *w, TSNode node, size_t depth)
{
    struct cbx_shell *s = &w->shell;
    struct level *level = &w->levels[depth], *up = depth > 0 ? level - 1 : NULL;
    leave_levels(w, depth);
    *level = (struct level){ .node = node,
                             .depth = depth,
                             .scope = cbx_shell_scope_of(up != NULL ? up->node : no_node, node),
                             .places = s->places };
    if (!ts_node_is_named(node)) {
        return;
    }
    level->function = up != NULL ? up->function : NULL;
    s->function = level->function;
    level->stream = stream_of(up, node);
    s->stream = level->stream;
    if (type_is(node, "function_definition")) {
        TSNode name = ts_node_child_by_field_name(node, "name", 4);
        level->function =
            ts_node_is_null(name) ? NULL : cbx_shell_name_find(s, cbx_shell_source_of(s, name));
    }
    if (up != NULL) {
        const struct level *block = up;
        while (block->depth > 0 && type_is(block->node, "redirected_statement")) {
            block--;
        }
        level->context = cbx_shell_context_of(s, depth > 1 ? up[-1].node : up->node, up->node,
                                              up->context, node);
        cbx_shell_check_arithmetic(s, up->node, node, level->context);
        cbx_shell_check_guard(s, block->node, node);
        level->input = input_of(s, depth > 1 ? level - 2 : NULL, up, node);
        up->previous = node;
        up->has_previous = true;
    }
    if (type_is(node, "redirected_statement")) {
        read_redirects(s, node, level);
        check_words_behind(s, node);
    }
    extract_node(s, node, up, level);
}

static void walk_tree(struct walk *w, TSTreeCursor *cursor)
{
    size_t depth = 0;
    while (reserve(w, depth + 2)) {
        TSNode node = ts_tree_cursor_current_node(cursor);
        visit(w, node, depth);
        if (depth >= CBX_TREE_DEPTH_MAX && ts_node_child_count(node) > 0) {
            cbx_shell_add_fact(&w->shell, CBX_FACT_TOO_COMPLEX, CBX_STR("nesting"), node);
        } else if (ts_tree_cursor_goto_first_child(cursor)) {
            depth++;
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(cursor)) {
            if (depth == 0 || !ts_tree_cursor_goto_parent(cursor)) {
                return;
            }
            depth--;
        }
    }
}

const TSLanguage *tree_sitter_bash(void);

static void extract(struct cbx_parsed *parsed)
{
    const struct cbx_places *places = parsed->places != NULL ? parsed->places : &cbx_places_home;
    struct walk w = { .shell = { .parsed = parsed,
                                 .src = parsed->text.p,
                                 .fresh = parsed->fresh.start,
                                 .places = *places,
                                 .before = *places } };
    size_t before = parsed->facts->count;
    if (!cbx_shell_begins_alone(parsed)) {
        cbx_shell_add_fact(&w.shell, CBX_FACT_TOO_COMPLEX, CBX_STR("cells"),
                           ts_tree_root_node(parsed->tree));
    }
    cbx_shell_names_collect(&w.shell);
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(parsed->tree));
    walk_tree(&w, &cursor);
    ts_tree_cursor_delete(&cursor);
    if (parsed->functions != NULL) {
        cbx_shell_note_functions(parsed);
    }
    if (parsed->summary != NULL) {
        cbx_shell_summarise(&w.shell);
    }
    if (parsed->depth == 0 && !parsed->names_only) {
        cbx_shell_mark_alone(parsed->facts, before);
    }
}

const struct cbx_lang_code cbx_lang_code_shell = { .grammar = tree_sitter_bash,
                                                   .extract = extract,
                                                   .mend = cbx_shell_mend,
                                                   .correct = cbx_shell_correct,
                                                   .between = "\n\n" };
