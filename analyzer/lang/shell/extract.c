/* SPDX-License-Identifier: MIT
 * Facts about shell: every command word at any depth, every redirection and assignment, installs;
 * code for an interpreter is judged in its language. The walk keeps the source of standard input
 * for each level of the tree. */
#include "analyzer/lang/shell/arithmetic.h"

#include "analyzer/syntax/tree_memory.h"
#include "policies/base/array.h"

#include <ctype.h>

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

static void add_fact(struct cbx_shell *s, enum cbx_fact_id id, struct cbx_str name, TSNode node)
{
    cbx_facts_add_special(s->parsed->facts, id, name, ts_node_start_byte(node),
                          ts_node_end_byte(node));
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
                add_fact(s, CBX_FACT_TOO_COMPLEX, CBX_STR("redirections"), above);
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

static void extract_command(struct cbx_shell *s, TSNode node, const struct level *level)
{
    enum { STATEMENTS_MAX = 16 };
    TSNode statements[STATEMENTS_MAX];
    struct level own = { .redirected = level->input };
    read_redirects(s, node, &own); /* a here-string is inside the command */
    s->input = own.redirected;
    size_t count = find_statements(s, level, statements, STATEMENTS_MAX);
    struct cbx_shell_line line = cbx_shell_read(s, node, statements, count);
    cbx_shell_judge(s, &line);
}

static void extract_assignment(struct cbx_shell *s, TSNode node)
{
    TSNode name = ts_node_child_by_field_name(node, "name", 4);
    TSNode value = ts_node_child_by_field_name(node, "value", 5);
    if (!ts_node_is_null(value)) {
        struct cbx_shell_text text = cbx_shell_fold_constant(s, value);
        if (text.known && cbx_shell_substitutes(text.text)) {
            add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), value);
        }
    }
    if (type_is(name, "subscript")) {
        name = ts_node_named_child(name, 0);
    }
    if (!ts_node_is_null(name)) {
        cbx_shell_check_variable(s, cbx_shell_source_of(s, name), ts_node_start_byte(node),
                                 ts_node_end_byte(node));
    }
}

/* Handles declare -n NAME=OTHER: assignments to NAME assign to OTHER. */
static void extract_reference(struct cbx_shell *s, TSNode assignment)
{
    TSNode value = ts_node_child_by_field_name(assignment, "value", 5);
    if (ts_node_is_null(value)) {
        return;
    }
    struct cbx_shell_text text = cbx_shell_fold(s, value);
    if (!text.known) {
        add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("variable"), value);
    } else {
        cbx_shell_check_variable(s, text.text, ts_node_start_byte(value), ts_node_end_byte(value));
    }
}

/* Handles export $x, declare "$x=1": the name itself is computed. */
static void extract_declaration(struct cbx_shell *s, TSNode node)
{
    bool references = false, arrays = false, names = false;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        names |= type_is(child, "variable_assignment") || type_is(child, "variable_name");
        if (references && type_is(child, "variable_assignment")) {
            extract_reference(s, child);
        }
        TSNode value = arrays && type_is(child, "variable_assignment")
                           ? ts_node_child_by_field_name(child, "value", 5)
                           : (TSNode){ 0 };
        if (!ts_node_is_null(value) && !type_is(value, "array") &&
            !cbx_shell_fold(s, value).known) {
            /* declare -a x="($y)": the shell splits the text into words */
            add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), value);
        }
        if (!ts_node_is_named(child) || type_is(child, "variable_assignment") ||
            type_is(child, "variable_name")) {
            continue;
        }
        struct cbx_shell_text text = cbx_shell_fold(s, child);
        const char *equals = memchr(text.text.p, '=', text.text.len);
        bool option = text.known && text.text.len > 1 && text.text.p[0] == '-';
        names |= !option || cbx_shell_has_any(text.text, "fF");
        references |= option && memchr(text.text.p, 'n', text.text.len) != NULL;
        arrays |= option && cbx_shell_has_any(text.text, "aA");
        if (!text.known) {
            add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("variable"), child);
        } else if (equals != NULL) {
            cbx_shell_check_variable(s, cbx_str_sub(text.text, 0, (size_t)(equals - text.text.p)),
                                     ts_node_start_byte(child), ts_node_end_byte(child));
        }
    }
    ts_tree_cursor_delete(&cursor);
    if (!names) { /* declare -p, export: prints all variables */
        add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("environment"), node);
    }
}

/* Handles exit() { ...; }: a word of the shell itself has another meaning afterwards. A function
 * with the name of a command is judged as both. */
static void extract_function(struct cbx_shell *s, TSNode node)
{
    TSNode name = ts_node_child_by_field_name(node, "name", 4);
    if (!ts_node_is_null(name) && cbx_shell_is_own_word(cbx_shell_source_of(s, name))) {
        add_fact(s, CBX_FACT_SHELL_UNRESOLVED, cbx_shell_source_of(s, name), node);
    }
}

static void extract_literal(struct cbx_shell *s, TSNode node)
{
    struct cbx_shell_text text = cbx_shell_fold(s, node);
    if (text.known) {
        cbx_facts_add(s->parsed->facts, CBX_IS_LITERAL, text.text, ts_node_start_byte(node),
                      ts_node_end_byte(node));
    }
    if (!text.known || text.pattern) {
        cbx_shell_extract_path(s, node);
    }
}

/* Handles text that the grammar does not parse: the shell runs the substitutions in it. */
static void extract_text(struct cbx_shell *s, TSNode node)
{
    if (cbx_shell_substitutes(cbx_shell_source_of(s, node))) {
        add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), node);
    }
}

/* Does the same for the text between the children of a string or here-document: the grammar
 * skips substitutions at the start of a line. */
static void extract_gaps(struct cbx_shell *s, TSNode node)
{
    uint32_t at = ts_node_start_byte(node), end = ts_node_end_byte(node);
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool more = ts_tree_cursor_goto_first_child(&cursor), hidden = false;
    while (at < end && !hidden) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        uint32_t next = more ? ts_node_start_byte(child) : end;
        hidden = next > at &&
                 cbx_shell_substitutes((struct cbx_str){ .p = s->src + at, .len = next - at });
        at = !more                               ? end
             : type_is(child, "heredoc_content") ? next /* its text is checked too */
                                                 : ts_node_end_byte(child);
        more = more && ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
    if (hidden) {
        add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), node);
    }
}

/* Returns true if the here-document ends with its delimiter: if the delimiter is missing, the
 * grammar takes other text for the end. */
static bool has_end(const struct cbx_shell *s, TSNode redirect)
{
    struct cbx_str delimiter = { 0 }, end = { 0 };
    TSTreeCursor cursor = ts_tree_cursor_new(redirect);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (type_is(child, "heredoc_start")) {
            delimiter = cbx_shell_source_of(s, child);
        } else if (type_is(child, "heredoc_end")) {
            end = cbx_shell_source_of(s, child);
        }
    }
    ts_tree_cursor_delete(&cursor);
    while (end.len > 0 && memchr("\n\t", end.p[0], 2) != NULL) {
        end = cbx_str_sub(end, 1, end.len);
    }
    size_t at = 0;
    for (size_t i = 0; i < delimiter.len; i++) {
        if (memchr("'\"\\", delimiter.p[i], 3) == NULL) {
            if (at == end.len || end.p[at++] != delimiter.p[i]) {
                return false;
            }
        }
    }
    return at == end.len && at > 0;
}

static void extract_heredoc(struct cbx_shell *s, TSNode body, TSNode redirect)
{
    struct cbx_str constant;
    if (!has_end(s, redirect)) {
        add_fact(s, CBX_FACT_SYNTAX, CBX_STR("missing end of the here-document"), body);
    }
    if (cbx_shell_heredoc(s, redirect, &constant)) {
        cbx_facts_add(s->parsed->facts, CBX_IS_LITERAL, constant, ts_node_start_byte(body),
                      ts_node_end_byte(body));
    } else {
        extract_gaps(s, body);
    }
}

/* Handles constants with subscripts: arithmetic evaluates subscripts in the values of its
 * variables, and ${x@P} the value of x. */
static void extract_constant(struct cbx_shell *s, TSNode node)
{
    struct cbx_str text = cbx_shell_source_of(s, node);
    if (memmem(text.p, text.len, "[$(", 3) != NULL || memmem(text.p, text.len, "[`", 2) != NULL) {
        add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), node);
    }
}

/* Handles [[ -v NAME ]]: a computed name may have a subscript, which the shell evaluates. */
static void extract_test(struct cbx_shell *s, TSNode node)
{
    TSNode operator= ts_node_child_by_field_name(node, "operator", 8);
    uint32_t count = ts_node_named_child_count(node);
    if (ts_node_is_null(operator) || count < 2) {
        return;
    }
    struct cbx_str name = cbx_shell_source_of(s, operator);
    TSNode operand = ts_node_named_child(node, count - 1);
    if ((cbx_str_is(name, "-v") || cbx_str_is(name, "-R")) && !cbx_shell_fold(s, operand).known) {
        add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("variable"), operand);
    }
}

static void extract_expansion(struct cbx_shell *s, TSNode node)
{
    cbx_shell_check_expansion(s, node);
    TSNode name = ts_node_named_child(node, 0);
    struct cbx_str text = cbx_shell_source_of(s, node);
    if (type_is(name, "variable_name") &&
        memchr(text.p, '=', text.len) != NULL) { /* ${PATH:=...} */
        uint32_t end = ts_node_end_byte(name) - ts_node_start_byte(node);
        bool assigns = end + 1 < text.len &&
                       (text.p[end] == '=' || (text.p[end] == ':' && text.p[end + 1] == '='));
        if (assigns) {
            cbx_shell_check_variable(s, cbx_shell_source_of(s, name), ts_node_start_byte(node),
                                     ts_node_end_byte(node));
        }
    }
    if (memmem(cbx_shell_source_of(s, node).p, cbx_shell_source_of(s, node).len, "@P", 2) != NULL) {
        add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), node);
    }
}

static void extract_node(struct cbx_shell *s, TSNode node, const struct level *up,
                         const struct level *level)
{
    static const struct {
        const char *type;
        void (*extract)(struct cbx_shell *s, TSNode node);
    } kinds[] = {
        { "file_redirect", cbx_shell_extract_redirect },
        { "variable_assignment", extract_assignment },
        { "declaration_command", extract_declaration },
        { "unset_command", extract_declaration },
        { "function_definition", extract_function },
        { "word", extract_literal },
        { "string", extract_literal },
        { "raw_string", extract_literal },
        { "ansi_c_string", extract_literal },
        { "concatenation", extract_literal },
        { "word", extract_text },
        { "string_content", extract_text },
        { "string", extract_gaps },
        { "raw_string", extract_constant },
        { "ansi_c_string", extract_constant },
        { "expansion", extract_expansion },
        { "unary_expression", extract_test },
        { "regex", extract_text },
        { "extglob_pattern", extract_text },
    };
    const char *type = ts_node_type(node);
    if (strcmp(type, "command") == 0) {
        extract_command(s, node, level);
        return;
    }
    if (strcmp(type, "heredoc_body") == 0 && up != NULL) {
        extract_heredoc(s, node, up->node);
        return;
    }
    if (strcmp(type, "for_statement") == 0) {
        TSNode name = ts_node_child_by_field_name(node, "variable", 8);
        if (!ts_node_is_null(name)) {
            cbx_shell_check_variable(s, cbx_shell_source_of(s, name), ts_node_start_byte(name),
                                     ts_node_end_byte(name));
        }
        return;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(type, kinds[i].type) == 0) {
            kinds[i].extract(s, node);
        }
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
            add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("words behind a redirection"), child);
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
            add_fact(&w->shell, CBX_FACT_TOO_COMPLEX, CBX_STR("nesting"), node);
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
        add_fact(&w.shell, CBX_FACT_TOO_COMPLEX, CBX_STR("cells"), ts_tree_root_node(parsed->tree));
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
