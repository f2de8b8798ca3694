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

/* What a word of a command does to names. */
enum effect {
    ASSIGNS = 1 << 0, /* assigns the names in its arguments, */
    STORES = 1 << 1,  /* a value that may be any, */
    GIVES = 1 << 2,   /* or a value that code cannot be in */
    RUNS = 1 << 3,    /* runs a text in the same shell, */
    READS = 1 << 4,   /* the text of a file */
    PASSES = 1 << 5,  /* the command behind it runs in the same shell */
    CALLS = 1 << 6,   /* may run a function that an argument names */
    MOVES = 1 << 7,   /* changes the working folder */
    SHIFTS = 1 << 8,  /* changes the parameters */
    PRINTS = 1 << 9,  /* assigns the name after -v */
    TRAPS = 1 << 10,  /* runs its argument later */
    HINTS = 1 << 11,  /* a text with this word may assign a name */
    CHANGES = 1 << 12 /* changes or ends the shell in another way */
};

static unsigned effects_of(struct cbx_str word)
{
    static const struct {
        const char *word;
        unsigned effects;
    } rows[] = {
        { "read", ASSIGNS | STORES },
        { "mapfile", ASSIGNS | STORES },
        { "readarray", ASSIGNS | STORES },
        { "declare", ASSIGNS | STORES },
        { "typeset", ASSIGNS | STORES },
        { "local", ASSIGNS | STORES },
        { "export", ASSIGNS | STORES },
        { "readonly", ASSIGNS | STORES },
        { "getopts", ASSIGNS | GIVES },
        { "let", ASSIGNS },
        { "unset", ASSIGNS },
        { "eval", RUNS },
        { "source", RUNS | READS },
        { ".", RUNS | READS },
        { "builtin", PASSES | CALLS },
        { "command", PASSES | CALLS },
        { "time", PASSES | CALLS },
        { "trap", TRAPS | CALLS | HINTS },
        { "printf", PRINTS | HINTS },
        { "cd", MOVES },
        { "pushd", MOVES },
        { "popd", MOVES },
        { "shift", SHIFTS },
        { "set", SHIFTS },
        { "alias", CHANGES },
        { "unalias", CHANGES },
        { "enable", CHANGES },
        { "exec", CHANGES },
        { "exit", CHANGES },
        { "return", CHANGES },
        { "shopt", CHANGES },
        { "for", HINTS },
        { "select", HINTS },
        { "coproc", HINTS },
        { "function", HINTS },
        { "wait", HINTS },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (cbx_str_is(word, rows[i].word)) {
            return rows[i].effects;
        }
    }
    return 0;
}

bool cbx_shell_changes_shell(struct cbx_str word)
{
    return (effects_of(word) & (ASSIGNS | RUNS | PASSES | MOVES | SHIFTS | TRAPS | CHANGES)) != 0;
}

/* Returns true if this text, which trap runs, may redefine a name. Any sign counts; functions
 * that the text calls are collected themselves. */
static bool may_assign(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        size_t end = i;
        while (end < text.len && (isalnum((unsigned char)text.p[end]) || text.p[end] == '.')) {
            end++;
        }
        unsigned does = effects_of(cbx_str_sub(text, i, end));
        if ((does & (ASSIGNS | RUNS | HINTS)) != 0 ||
            (end < text.len && strchr("=(", text.p[end]) != NULL)) {
            return true;
        }
        i = end;
    }
    return false;
}

/* Returns true if the command may be a function, or run one. */
static bool may_call(const struct cbx_shell *s, const struct cbx_shell_text *word)
{
    return !word->known || !cbx_shell_is_allowed(s, word->text) ||
           cbx_shell_may_be_function(s, word->text) || (effects_of(word->text) & CALLS) != 0;
}

/* Records the words of a command as arguments of a function with its name, or as the program's
 * or function's own parameters (set -- WORD...). */
static void collect_arguments(struct cbx_shell_collector *c, TSNode command)
{
    struct cbx_shell_name *function = NULL;
    unsigned char *slot = NULL;
    bool set = false, operands = false, value = false;
    int passed = -1; /* number of words before the command that the function runs */
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
            passed = function != NULL && function->passes >= CBX_SHELL_PASSES_ALL
                         ? function->passes - CBX_SHELL_PASSES_ALL
                         : -1;
            continue;
        }
        if (passed == 0 && word.known) { /* a function that runs its arguments may call this one */
            struct cbx_shell_name *called = cbx_shell_name_make(c->s, word.text);
            if (called != NULL) {
                called->args |= CBX_SHELL_MAY_ANY;
            }
        }
        passed--;
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

/* Records what one word of a command assigns. `seen`: the effects of the words before it and, for
 * -v of printf, ASSIGNS. `*printed`: the variable that printf assigns. */
static void collect_word(struct cbx_shell_collector *c, TSNode child,
                         const struct cbx_shell_text *word, unsigned *seen,
                         struct cbx_shell_name **printed, uint32_t at)
{
    bool option = (*seen & PRINTS) != 0 && word->known && cbx_str_starts(word->text, CBX_STR("-v"));
    *seen |= option ? ASSIGNS : 0;
    if (*printed != NULL) {
        cbx_shell_name_flow(c, *printed, child, at);
        return;
    }
    if ((*seen & ASSIGNS) == 0 || !word->known) {
        return;
    }
    doubt_word(c, word->text, (*seen & STORES) != 0 || (option && word->text.len > 2), at);
    if ((*seen & GIVES) != 0) {
        cbx_shell_name_give(cbx_shell_name_make(c->s, word->text), at);
    }
    if ((*seen & PRINTS) != 0 && !option) {
        *printed = cbx_shell_name_make(c->s, word->text);
    }
}

void cbx_shell_collect_command(struct cbx_shell_collector *c, TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    unsigned seen = 0;
    bool begins = true; /* the word is the command, or before it */
    struct cbx_shell_name *printed = NULL;
    uint32_t at = ts_node_start_byte(node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_type_is(child, "herestring_redirect")) {
            continue; /* its text holds no name that the command assigns */
        }
        struct cbx_shell_text word = cbx_shell_fold_constant(c->s, child);
        unsigned does = word.known ? effects_of(word.text) : 0;
        collect_word(c, child, &word, &seen, &printed, at);
        bool unseen = begins && (does & RUNS) != 0;
        c->moved |= begins && !c->apart && (!word.known || unseen || (does & MOVES) != 0);
        if (unseen && (does & READS) != 0 && c->s->parsed->past != NULL) {
            c->s->names.sources = true; /* the text contains every file that the command may read */
            unseen = false;
        }
        begins &= cbx_shell_type_is(child, "variable_assignment") || (does & PASSES) != 0 ||
                  (word.known && cbx_str_starts(word.text, CBX_STR("-")));
        bool traps = (seen & TRAPS) != 0;
        if (word.known) {
            c->s->names.lost |= unseen || (traps && may_assign(word.text));
        } else {
            c->s->names.lost |= traps || ((seen & ASSIGNS) != 0 && printed == NULL);
        }
        seen |= does;
        if ((does & SHIFTS) != 0) {
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
            c->s->names.lost |=
                !word.known || (effects_of(word.text) & RUNS) != 0 || may_assign(word.text);
            doubt_word(c, word.text, true, ts_node_start_byte(child));
        }
    }
    ts_tree_cursor_delete(&cursor);
}
