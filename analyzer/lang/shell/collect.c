/* SPDX-License-Identifier: MIT
 * Collects the variables and functions of a shell text. A name is certain only when its first
 * definition is at the top level of the text, where it cannot be skipped and does not run in a
 * subshell; anything else that could change it makes it uncertain. */
#include "analyzer/lang/shell/internal.h"

#include <ctype.h>
#include <string.h>

/* Records that an unknown value is assigned to this name. */
static void doubt(struct cbx_shell *s, struct cbx_str name)
{
    struct cbx_shell_name *n = cbx_shell_name_make(s, name);
    if (n != NULL) {
        n->assigned = true;
        n->constant = false;
        n->unset = true;
    }
}

/* NAME, NAME=VALUE, or an option that NAME is joined to (printf -vNAME). */
static void doubt_word(struct cbx_shell *s, struct cbx_str word)
{
    const char *equals = memchr(word.p, '=', word.len);
    doubt(s, cbx_str_sub(word, 0, equals != NULL ? (size_t)(equals - word.p) : word.len));
    for (size_t i = 2; word.len > 0 && word.p[0] == '-' && i < word.len && i < 6; i++) {
        doubt(s, cbx_str_sub(word, i, word.len));
    }
}

struct collector {
    struct cbx_shell *s;
    struct cbx_shell_name *last; /* defined at the top just before */
};

static bool is_operator(TSNode assignment, const struct cbx_shell *s)
{
    TSNode second = ts_node_child(assignment, 1);
    return !ts_node_is_null(second) && cbx_str_is(cbx_shell_source_of(s, second), "=");
}

static void collect_assignment(struct collector *c, TSNode node, bool top)
{
    struct cbx_shell *s = c->s;
    TSNode name = ts_node_child_by_field_name(node, "name", 4);
    TSNode value = ts_node_child_by_field_name(node, "value", 5);
    if (ts_node_is_null(name)) {
        return;
    }
    if (!cbx_shell_type_is(name, "variable_name") || !is_operator(node, s)) {
        TSNode inner = ts_node_named_child(name, 0);
        doubt(s, cbx_shell_source_of(s, ts_node_is_null(inner) ? name : inner));
        return;
    }
    struct cbx_shell_name *n = cbx_shell_name_make(s, cbx_shell_source_of(s, name));
    struct cbx_shell_text text = { .text = CBX_STR(""), .known = true };
    if (!ts_node_is_null(value)) {
        text = cbx_shell_fold_constant(s, value);
    }
    if (n == NULL) {
        return;
    }
    n->constant = n->constant && text.known && (!n->assigned || cbx_str_equal(n->value, text.text));
    n->assigned = true;
    n->value = text.text;
    if (top && n->since == UINT32_MAX) {
        n->since = ts_node_end_byte(node);
        c->last = n;
    }
}

/* Commands that assign the names in their arguments. */
static bool assigns(struct cbx_str word)
{
    static const char *const words[] = { "read",  "mapfile", "readarray", "getopts",
                                         "let",   "unset",   "declare",   "typeset",
                                         "local", "export",  "readonly" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (cbx_str_is(word, words[i])) {
            return true;
        }
    }
    return false;
}

/* Commands that run a text in the same shell. */
static bool runs_unseen(struct cbx_str word)
{
    return cbx_str_is(word, "eval") || cbx_str_is(word, "source") || cbx_str_is(word, ".");
}

/* True when this text, run by trap, may redefine a name. Any sign counts; the functions that it
 * calls are in the program. */
static bool may_assign(struct cbx_str text)
{
    static const char *const others[] = { "for",    "select", "coproc", "function",
                                          "printf", "wait",   "trap" };
    for (size_t i = 0; i < text.len; i++) {
        size_t end = i;
        while (end < text.len && (isalnum((unsigned char)text.p[end]) || text.p[end] == '.')) {
            end++;
        }
        struct cbx_str word = cbx_str_sub(text, i, end);
        bool does = assigns(word) || runs_unseen(word);
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
            does |= cbx_str_is(word, others[k]);
        }
        if (does || (end < text.len && strchr("=(", text.p[end]) != NULL)) {
            return true;
        }
        i = end;
    }
    return false;
}

/* `read X`, in any wrapper. A command that runs unknown code could assign any name; printf assigns
 * with -v only. */
static void collect_command(struct collector *c, TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool names = false, prints = false, traps = false;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        struct cbx_shell_text word =
            cbx_shell_fold_constant(c->s, ts_tree_cursor_current_node(&cursor));
        names |= prints && word.known && cbx_str_starts(word.text, CBX_STR("-v"));
        if (names && word.known) {
            doubt_word(c->s, word.text);
        }
        c->s->names.lost |= word.known ? runs_unseen(word.text) || (traps && may_assign(word.text))
                                       : names || traps;
        traps |= word.known && cbx_str_is(word.text, "trap");
        prints |= word.known && cbx_str_is(word.text, "printf");
        names |= word.known && assigns(word.text);
    }
    ts_tree_cursor_delete(&cursor);
}

/* One word after declare, local, export or unset that is not an assignment. */
static void collect_declared(struct collector *c, TSNode child, bool keeps, bool unsets)
{
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
        entry->assigned = true;
        entry->unset |= unsets;
    }
}

static void collect_declaration(struct collector *c, TSNode node)
{
    struct cbx_str word = cbx_shell_source_of(c->s, node);
    bool keeps =
        cbx_str_starts(word, CBX_STR("export")) || cbx_str_starts(word, CBX_STR("readonly"));
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(child) && !cbx_shell_type_is(child, "variable_assignment")) {
            collect_declared(c, child, keeps, cbx_shell_type_is(node, "unset_command"));
        }
    }
    ts_tree_cursor_delete(&cursor);
}

static void collect_function(struct collector *c, TSNode node, bool top)
{
    TSNode name = ts_node_child_by_field_name(node, "name", 4);
    struct cbx_shell_name *n =
        ts_node_is_null(name) ? NULL : cbx_shell_name_make(c->s, cbx_shell_source_of(c->s, name));
    if (n != NULL) {
        n->function = true;
        if (top && n->function_since == UINT32_MAX) {
            n->function_since = ts_node_end_byte(node);
            c->last = n;
        }
    }
}

/* Words after a redirection may belong to a `read` before it. */
static void collect_redirect(struct collector *c, TSNode redirect)
{
    TSTreeCursor cursor = ts_tree_cursor_new(redirect);
    for (bool more =
             cbx_shell_has_words_behind(redirect) && ts_tree_cursor_goto_first_child(&cursor);
         more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(child)) {
            struct cbx_shell_text word = cbx_shell_fold_constant(c->s, child);
            c->s->names.lost |= !word.known || runs_unseen(word.text) || may_assign(word.text);
            doubt_word(c->s, word.text);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

enum parent { OTHER, DECLARES, COMPUTES };

/* The context of a node: arithmetic may assign the names in it. */
static enum parent parent_of(TSNode node)
{
    static const char *const places[] = { "binary_expression",  "postfix_expression",
                                          "unary_expression",   "parenthesized_expression",
                                          "for_statement",      "c_style_for_statement",
                                          "ternary_expression", "subscript" };
    const char *type = ts_node_type(node);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (strcmp(type, places[i]) == 0) {
            return COMPUTES;
        }
    }
    return strcmp(type, "declaration_command") == 0 ? DECLARES : OTHER;
}

static void collect_node(struct collector *c, TSNode node, enum parent parent, int depth)
{
    const char *type = ts_node_type(node);
    bool top = depth == 1 || (depth == 2 && parent == DECLARES);
    if (depth == 1 && strcmp(type, "&") != 0) {
        c->last = NULL;
    }
    if (strcmp(type, "variable_assignment") == 0) {
        collect_assignment(c, node, top);
    } else if (strcmp(type, "declaration_command") == 0 || strcmp(type, "unset_command") == 0) {
        collect_declaration(c, node);
    } else if (strcmp(type, "function_definition") == 0) {
        collect_function(c, node, top);
    } else if (strcmp(type, "command") == 0) {
        collect_command(c, node);
    } else if (strcmp(type, "file_redirect") == 0) {
        collect_redirect(c, node);
    } else if (strcmp(type, "variable_name") == 0 && parent == COMPUTES) {
        doubt(c->s, cbx_shell_source_of(c->s, node));
    } else if (strcmp(type, "expansion") == 0) {
        struct cbx_str text = cbx_shell_source_of(c->s, node);
        TSNode name = ts_node_named_child(node, 0);
        if (memchr(text.p, '=', text.len) != NULL && !ts_node_is_null(name)) {
            doubt(c->s, cbx_shell_source_of(c->s, name)); /* ${X:=...} */
        }
    } else if (depth == 1 && strcmp(type, "&") == 0 && c->last != NULL) {
        /* `X=1 &` happens in another process */
        c->last->since = c->last->function_since = UINT32_MAX;
        c->last->constant = false;
        c->last->unset = true;
    }
}

/* Most lines have no name at all. */
static bool may_have_names(struct cbx_str text)
{
    static const char *const signs[] = { "=", "(", "function" };
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (memmem(text.p, text.len, signs[i], strlen(signs[i])) != NULL) {
            return true;
        }
    }
    return false;
}

void cbx_shell_names_collect(struct cbx_shell *s)
{
    struct collector c = { .s = s };
    if (!may_have_names(s->parsed->text)) {
        return;
    }
    unsigned char parents[CBX_TREE_DEPTH_MAX + 1] = { OTHER };
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(s->parsed->tree));
    int depth = 0;
    for (;;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        collect_node(&c, node, parents[depth], depth);
        if (depth < CBX_TREE_DEPTH_MAX && ts_tree_cursor_goto_first_child(&cursor)) {
            parents[++depth] = (unsigned char)parent_of(node);
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (depth == 0 || !ts_tree_cursor_goto_parent(&cursor)) {
                ts_tree_cursor_delete(&cursor);
                return;
            }
            depth--;
        }
    }
}
