/* SPDX-License-Identifier: MIT
 * The names that commands change: read X, printf -v X, and commands that run text which could
 * assign any name; and the arguments of functions. */
#include "analyzer/lang/shell/collect.h"

#include <ctype.h>
#include <string.h>

/* Records an assignment to NAME, NAME=VALUE, or an option that is joined to NAME (printf
 * -vNAME). `data`: the value may be any. */
static void doubt_word(struct cbx_shell_collector *c, struct cbx_str word, bool data, uint32_t at)
{
    const TSNode any = { 0 };
    size_t end = 0;
    while (end < word.len && memchr("=[", word.p[end], 2) == NULL) {
        end++;
    }
    struct cbx_shell_name *n = cbx_shell_name_doubt(c->s, cbx_str_sub(word, 0, end));
    if (n != NULL) {
        n->unset |= !data;
    }
    if (end < word.len && word.p[end] == '=') {
        cbx_shell_name_give(n, at);
    }
    if (data) {
        cbx_shell_name_flow(c, n, any, at);
    }
    for (size_t i = 2; word.len > 0 && word.p[0] == '-' && i < word.len && i < 6; i++) {
        n = cbx_shell_name_doubt(c->s, cbx_str_sub(word, i, word.len));
        if (data) {
            cbx_shell_name_flow(c, n, any, at);
        }
    }
}

/* Returns true for commands that assign the names in their arguments. */
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

/* Returns true for commands that run a text in the same shell. */
static bool runs_unseen(struct cbx_str word)
{
    return cbx_str_is(word, "eval") || cbx_str_is(word, "source") || cbx_str_is(word, ".");
}

/* Returns true for a word before a command that runs in the same shell. */
static bool passes_on(struct cbx_str word)
{
    return cbx_str_is(word, "builtin") || cbx_str_is(word, "command") || cbx_str_is(word, "time") ||
           cbx_str_starts(word, CBX_STR("-"));
}

/* Returns true if this text, which trap runs, may redefine a name. Any sign counts; functions
 * that the text calls are collected themselves. */
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

/* Returns true if the command may be a function, or run one. */
static bool may_call(const struct cbx_shell *s, const struct cbx_shell_text *word)
{
    static const char *const callers[] = { "time", "trap", "builtin", "command" };
    bool calls = !word->known || !cbx_shell_is_allowed(s, word->text) ||
                 cbx_shell_may_be_function(s, word->text);
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
        calls |= cbx_str_is(word->text, callers[i]);
    }
    return calls;
}

/* Records the words of a command as arguments of a function with its name, or as the program's
 * or function's own parameters (set -- WORD...). */
static void collect_arguments(struct cbx_shell_collector *c, TSNode command)
{
    struct cbx_shell_name *function = NULL;
    unsigned char *slot = NULL;
    bool set = false, operands = false, value = false;
    TSTreeCursor cursor = ts_tree_cursor_new(command);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (!cbx_shell_is_word(child, false)) {
            continue;
        }
        struct cbx_shell_text word = cbx_shell_fold_constant(c->s, child);
        if (slot == NULL) {
            set = word.known && cbx_str_is(word.text, "set");
            if (c->function == NULL && ts_node_start_byte(command) >= c->s->fresh &&
                may_call(c->s, &word)) {
                uint32_t at = ts_node_start_byte(command), *first = &c->s->names.first_call;
                *first = at < *first ? at : *first;
                c->s->names.last_call = at;
            }
            function = word.known ? cbx_shell_name_make(c->s, word.text) : NULL;
            if (set) {
                slot = c->function != NULL ? &c->function->args : &c->s->names.args;
            } else {
                slot = function != NULL ? &function->args : NULL;
            }
            if (slot == NULL) {
                break;
            }
            continue;
        }
        bool option = set && !operands && word.known && word.text.len > 0 &&
                      memchr("-+", word.text.p[0], 2) != NULL;
        if (!option && !value) {
            operands = true;
            cbx_shell_traits_flow(
                c->s, &(struct cbx_shell_flow){
                          .slot = slot, .node = child, .function = c->function, .fields = true });
        }
        operands |= option && cbx_str_is(word.text, "--");
        value = option && word.text.p[word.text.len - 1] == 'o';
    }
    ts_tree_cursor_delete(&cursor);
}

/* Records that shift and set change the parameters. */
static void collect_shift(struct cbx_shell_collector *c, uint32_t at)
{
    static const char *const parameters[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9" };
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        struct cbx_shell_name *n = cbx_shell_name_make(c->s, cbx_str_of(parameters[i]));
        cbx_shell_name_flow(c, n, (TSNode){ 0 }, at);
    }
}

/* Returns true for commands that change the working folder. */
static bool changes_folder(struct cbx_str word)
{
    return cbx_str_is(word, "cd") || cbx_str_is(word, "pushd") || cbx_str_is(word, "popd");
}

void cbx_shell_collect_command(struct cbx_shell_collector *c, TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool names = false, prints = false, traps = false, data = false, given = false, begins = true;
    struct cbx_shell_name *printed = NULL;
    uint32_t at = ts_node_start_byte(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_type_is(child, "herestring_redirect")) {
            continue; /* its text holds no name that the command assigns */
        }
        struct cbx_shell_text word = cbx_shell_fold_constant(c->s, child);
        bool option = prints && word.known && cbx_str_starts(word.text, CBX_STR("-v"));
        names |= option;
        if (printed != NULL) {
            cbx_shell_name_flow(c, printed, child, at);
        } else if (names && word.known) {
            doubt_word(c, word.text, data || (option && word.text.len > 2), at);
            if (given) {
                cbx_shell_name_give(cbx_shell_name_make(c->s, word.text), at);
            }
            printed = prints && !option ? cbx_shell_name_make(c->s, word.text) : NULL;
        }
        bool unseen = begins && word.known && runs_unseen(word.text);
        c->moved |= begins && !c->apart && (!word.known || unseen || changes_folder(word.text));
        if (unseen && !cbx_str_is(word.text, "eval") && c->s->parsed->past != NULL) {
            c->s->names.sources = true; /* the text contains every file that the command may read */
            unseen = false;
        }
        begins &=
            cbx_shell_type_is(child, "variable_assignment") || (word.known && passes_on(word.text));
        c->s->names.lost |= word.known ? unseen || (traps && may_assign(word.text))
                                       : (names && printed == NULL) || traps;
        traps |= word.known && cbx_str_is(word.text, "trap");
        prints |= word.known && cbx_str_is(word.text, "printf");
        names |= word.known && assigns(word.text);
        if (word.known && cbx_str_is(word.text, "getopts")) {
            given = true;
        }
        data |= word.known && assigns(word.text) && !cbx_str_is(word.text, "let") &&
                !cbx_str_is(word.text, "unset") && !cbx_str_is(word.text, "getopts");
        if (word.known && (cbx_str_is(word.text, "shift") || cbx_str_is(word.text, "set"))) {
            collect_shift(c, at);
        }
    }
    ts_tree_cursor_delete(&cursor);
    collect_arguments(c, node);
}

/* Handles the words after a redirection: they may belong to a `read` before it. */
void cbx_shell_collect_redirect(struct cbx_shell_collector *c, TSNode redirect)
{
    TSTreeCursor cursor = ts_tree_cursor_new(redirect);
    for (bool more =
             cbx_shell_has_words_behind(redirect) && ts_tree_cursor_goto_first_child(&cursor);
         more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(child)) {
            struct cbx_shell_text word = cbx_shell_fold_constant(c->s, child);
            c->s->names.lost |= !word.known || runs_unseen(word.text) || may_assign(word.text);
            doubt_word(c, word.text, true, ts_node_start_byte(child));
        }
    }
    ts_tree_cursor_delete(&cursor);
}
