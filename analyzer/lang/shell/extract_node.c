/* SPDX-License-Identifier: MIT
 * Facts about nodes that need no other context than the names: assignments, declarations, words,
 * here-documents, expansions. */
#include "analyzer/lang/shell/arithmetic.h"

#include <string.h>

static bool type_is(TSNode node, const char *type)
{
    return cbx_shell_type_is(node, type);
}

static void extract_assignment(struct cbx_shell *s, TSNode node)
{
    TSNode name = ts_node_child_by_field_name(node, "name", 4);
    TSNode value = ts_node_child_by_field_name(node, "value", 5);
    if (!ts_node_is_null(value)) {
        struct cbx_shell_text text = cbx_shell_fold_constant(s, value);
        if (text.known && cbx_shell_substitutes(text.text)) {
            cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), value);
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
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("variable"), value);
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
            cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), value);
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
            cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("variable"), child);
        } else if (equals != NULL) {
            cbx_shell_check_variable(s, cbx_str_sub(text.text, 0, (size_t)(equals - text.text.p)),
                                     ts_node_start_byte(child), ts_node_end_byte(child));
        }
    }
    ts_tree_cursor_delete(&cursor);
    if (!names) { /* declare -p, export: prints all variables */
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("environment"), node);
    }
}

/* Handles exit() { ...; }: a word of the shell itself has another meaning afterwards. A function
 * with the name of a command is judged as both. */
static void extract_function(struct cbx_shell *s, TSNode node)
{
    TSNode name = ts_node_child_by_field_name(node, "name", 4);
    if (!ts_node_is_null(name) && cbx_shell_is_own_word(cbx_shell_source_of(s, name))) {
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, cbx_shell_source_of(s, name), node);
    }
}

static void extract_literal(struct cbx_shell *s, TSNode node)
{
    struct cbx_shell_text text = cbx_shell_fold(s, node);
    bool somewhere = text.text.len > 1 && (text.text.p[0] == '/' || text.text.p[0] == '~') &&
                     !cbx_shell_is_in_unknown_folder(s, node);
    if (text.known) {
        enum cbx_fact_kind kind = text.pattern && somewhere ? CBX_IS_FILES : CBX_IS_LITERAL;
        cbx_facts_add(s->parsed->facts, kind, text.text, ts_node_start_byte(node),
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
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), node);
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
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), node);
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

void cbx_shell_extract_heredoc(struct cbx_shell *s, TSNode body, TSNode redirect)
{
    struct cbx_str constant;
    if (!has_end(s, redirect)) {
        cbx_shell_add_fact(s, CBX_FACT_SYNTAX, CBX_STR("missing end of the here-document"), body);
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
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), node);
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
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("variable"), operand);
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
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("substitution"), node);
    }
}

static void extract_for(struct cbx_shell *s, TSNode node)
{
    TSNode name = ts_node_child_by_field_name(node, "variable", 8);
    if (!ts_node_is_null(name)) {
        cbx_shell_check_variable(s, cbx_shell_source_of(s, name), ts_node_start_byte(name),
                                 ts_node_end_byte(name));
    }
}

void cbx_shell_extract_node(struct cbx_shell *s, TSNode node)
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
        { "for_statement", extract_for },
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
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(type, kinds[i].type) == 0) {
            kinds[i].extract(s, node);
        }
    }
}
