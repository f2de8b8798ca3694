/* SPDX-License-Identifier: MIT
 * Functions that run their arguments: retry() { until "$@"; do sleep 1; done; }. What such a
 * function runs stands at its calls, so the calls are judged, and the word "$@" in it is none of
 * its own. That holds only while "$@" is the arguments of the call, without the first N: a shift in
 * another place than a plain statement, set, and code that is not read make it an unknown word
 * again. */
#include "analyzer/lang/shell/command.h"
#include "policies/base/array.h"

#include <string.h>

/* A command of a function whose last word is "$@": the function runs its arguments if this command
 * does. */
enum { WORDS_MAX = 8 };
struct use {
    struct cbx_shell_name *function;
    struct cbx_str words[WORDS_MAX]; /* as they stand in the text, without "$@" */
    size_t count;
    int from; /* number of arguments that were shifted before */
    struct use *next;
};

struct search {
    struct cbx_shell *s;
    struct use *uses;
};

static bool is_arguments(struct cbx_str word)
{
    return cbx_str_is(word, "\"$@\"") || cbx_str_is(word, "\"${@}\"");
}

/* The words of a `command` as they stand in the text, the first WORDS_MAX + 1 of them. */
struct words {
    struct cbx_str items[WORDS_MAX + 1];
    size_t count;
    bool behind; /* others stand behind a redirection */
};

static void read_words(const struct cbx_shell *s, TSNode command, struct words *out)
{
    TSTreeCursor cursor = ts_tree_cursor_new(command);
    *out = (struct words){ 0 };
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (!cbx_shell_is_word(child, false)) {
            out->behind |=
                cbx_shell_type_is(child, "file_redirect") && cbx_shell_has_words_behind(child);
        } else if (out->count++ <= WORDS_MAX) {
            out->items[out->count - 1] = cbx_shell_source_of(s, child);
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* Returns the number of arguments that a statement of the function's body shifts; 0 for another
 * statement, and -1 for a number that is not constant. */
static int shifted_by(const struct cbx_shell *s, TSNode statement)
{
    struct words words = { 0 };
    if (cbx_shell_type_is(statement, "command")) {
        read_words(s, statement, &words);
    }
    if (words.count == 0 || !cbx_str_is(words.items[0], "shift")) {
        return 0;
    }
    struct cbx_str by = words.items[1];
    bool digit = words.count == 2 && by.len == 1 && by.p[0] >= '0' && by.p[0] <= '9';
    if (words.count > 1 && !digit) {
        return -1;
    }
    return digit ? by.p[0] - '0' : 1;
}

/* The body of a function while it is read. */
enum { SHIFTS_MAX = 16, ROUNDS_MAX = 16 };
struct body {
    TSNode node;
    struct cbx_shell_name *function;
    struct {
        uint32_t start;
        unsigned by;
    } shifts[SHIFTS_MAX]; /* plain statements of the body */
    size_t shift_count;
    bool lost; /* "$@" may be other words than the arguments of the call */
};

static void read_shifts(const struct cbx_shell *s, struct body *body)
{
    TSTreeCursor cursor = ts_tree_cursor_new(body->node);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode statement = ts_tree_cursor_current_node(&cursor);
        int by = shifted_by(s, statement);
        body->lost |= by < 0 || (by > 0 && body->shift_count == SHIFTS_MAX);
        if (by > 0 && body->shift_count < SHIFTS_MAX) {
            body->shifts[body->shift_count].start = ts_node_start_byte(statement);
            body->shifts[body->shift_count++].by = (unsigned)by;
        }
    }
    ts_tree_cursor_delete(&cursor);
}

/* Returns the number of arguments that the body shifts before this place. */
static unsigned shifted_before(const struct body *body, uint32_t at)
{
    unsigned by = 0;
    for (size_t i = 0; i < body->shift_count; i++) {
        by += body->shifts[i].start < at ? body->shifts[i].by : 0;
    }
    return by;
}

/* Returns true if the command may change the function's arguments in a way that is not followed. */
static bool changes_arguments(const struct body *body, TSNode command, struct cbx_str word)
{
    static const char *const others[] = {
        "set", "eval", "source", ".", "builtin", "command", "trap"
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (cbx_str_is(word, others[i])) {
            return true;
        }
    }
    bool plain = false;
    for (size_t i = 0; i < body->shift_count; i++) {
        plain |= body->shifts[i].start == ts_node_start_byte(command);
    }
    return cbx_str_is(word, "shift") && !plain;
}

static void read_command(struct search *search, struct body *body, TSNode command)
{
    struct words words;
    read_words(search->s, command, &words);
    body->lost |= words.count > 0 && changes_arguments(body, command, words.items[0]);
    if (words.count == 0 || words.count > WORDS_MAX + 1 || words.behind ||
        !is_arguments(words.items[words.count - 1])) {
        return;
    }
    struct use *use = cbx_arena_alloc(search->s->parsed->arena, sizeof(*use));
    if (use != NULL) {
        *use = (struct use){ .function = body->function,
                             .count = words.count - 1,
                             .from = (int)shifted_before(body, ts_node_start_byte(command)),
                             .next = search->uses };
        memcpy(use->words, words.items, use->count * sizeof(use->words[0]));
        search->uses = use;
    }
}

/* Reads the commands of a function. Functions inside the function are read by themselves. */
static void read_function(struct search *search, TSNode definition)
{
    TSNode name = ts_node_child_by_field_name(definition, "name", 4);
    struct body body = { .node = ts_node_child_by_field_name(definition, "body", 4) };
    if (ts_node_is_null(name) || ts_node_is_null(body.node)) {
        return;
    }
    body.function = cbx_shell_name_make(search->s, cbx_shell_source_of(search->s, name));
    if (body.function == NULL) {
        return;
    }
    read_shifts(search->s, &body);
    TSTreeCursor cursor = ts_tree_cursor_new(body.node);
    int depth = 0;
    for (bool more = true; more;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        bool inner = cbx_shell_type_is(node, "function_definition");
        if (cbx_shell_type_is(node, "command")) {
            read_command(search, &body, node);
        }
        more = cbx_shell_next_node(&cursor, !inner, &depth);
    }
    ts_tree_cursor_delete(&cursor);
    body.function->passes = body.lost ? CBX_SHELL_PASSES_UNKNOWN : body.function->passes;
}

/* Returns true for a word that is one word whatever the program does. */
static bool is_one_word(struct cbx_str word)
{
    return word.len > 0 && !cbx_shell_has_any(word, "$`*?[]{}~\\()<>");
}

/* Returns what a use says of its function, as `passes`: a word before "$@" may be a function that
 * takes arguments itself. */
static int passes_of(const struct cbx_shell *s, const struct use *use)
{
    size_t at = 0;
    while (at < use->count) {
        const struct cbx_shell_name *n = cbx_shell_name_find(s, use->words[at]);
        bool function = n != NULL && n->passes >= CBX_SHELL_PASSES_ALL;
        if (!function) {
            bool runs = cbx_shell_is_runner(use->words[at]);
            return runs ? CBX_SHELL_PASSES_ALL + use->from : CBX_SHELL_PASSES_NONE;
        }
        size_t own = (size_t)(n->passes - CBX_SHELL_PASSES_ALL), between = use->count - at - 1;
        for (size_t i = 1; i <= between && i <= own; i++) {
            if (!is_one_word(use->words[at + i])) {
                return CBX_SHELL_PASSES_UNKNOWN;
            }
        }
        if (own > between) {
            return CBX_SHELL_PASSES_ALL + use->from + (int)(own - between);
        }
        at += 1 + own;
    }
    return CBX_SHELL_PASSES_ALL + use->from;
}

/* Returns true if the use changes what is known of its function. */
static bool mark(const struct cbx_shell *s, const struct use *use)
{
    int *passes = &use->function->passes, now = passes_of(s, use);
    if (*passes == CBX_SHELL_PASSES_UNKNOWN || now == CBX_SHELL_PASSES_NONE || now == *passes) {
        return false;
    }
    *passes = *passes == CBX_SHELL_PASSES_NONE ? now : CBX_SHELL_PASSES_UNKNOWN;
    return true;
}

void cbx_shell_wrappers_find(struct cbx_shell *s)
{
    struct cbx_str text = s->parsed->text;
    bool has = text.len > 0 && (memmem(text.p, text.len, "\"$@\"", 4) != NULL ||
                                memmem(text.p, text.len, "\"${@}\"", 6) != NULL);
    if (!has) {
        return;
    }
    struct search search = { .s = s };
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(s->parsed->tree));
    int depth = 0;
    for (bool more = true; more;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (cbx_shell_type_is(node, "function_definition")) {
            read_function(&search, node);
        }
        more = cbx_shell_next_node(&cursor, true, &depth);
    }
    ts_tree_cursor_delete(&cursor);
    bool changed = true; /* functions that pass their arguments on to such functions */
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = false;
        for (struct use *use = search.uses; use != NULL; use = use->next) {
            changed |= mark(s, use);
        }
    }
    for (struct use *use = changed ? search.uses : NULL; use != NULL; use = use->next) {
        use->function->passes = CBX_SHELL_PASSES_UNKNOWN;
    }
}

/* --- judging ---------------------------------------------------------------------------------- */

bool cbx_shell_is_passed(const struct cbx_shell_command *c)
{
    const struct cbx_shell_name *f = c->s->function;
    struct cbx_str text = c->s->parsed->text, word = { 0 };
    if (c->words[0].end <= text.len && c->words[0].start < c->words[0].end) {
        word = cbx_str_sub(text, c->words[0].start, c->words[0].end);
    }
    return c->count == 1 && !c->fed && f != NULL && f->passes >= CBX_SHELL_PASSES_ALL &&
           is_arguments(word);
}

void cbx_shell_judge_passed(const struct cbx_shell_command *c)
{
    const struct cbx_shell_name *f = cbx_shell_name_find(c->s, c->words[0].text);
    if (f == NULL || !f->function || f->passes < CBX_SHELL_PASSES_ALL) {
        return;
    }
    size_t from = 1 + (size_t)(f->passes - CBX_SHELL_PASSES_ALL);
    for (size_t w = 1; w < c->count && w <= from; w++) {
        bool many =
            c->patterns[w] || (!c->words[w].known && (c->may[w] & CBX_SHELL_MAY_SPLIT) != 0);
        if (many) { /* the words behind it have other places */
            cbx_shell_unresolved(c->s, "argument", &c->words[w]);
            return;
        }
    }
    if (from >= c->count) {
        return;
    }
    const struct cbx_word *word = &c->words[from];
    bool prints =
        word->known && cbx_str_is(word->text, "printf") && from + 1 < c->count &&
        (!c->words[from + 1].known || cbx_str_starts(c->words[from + 1].text, CBX_STR("-")));
    /* what such a builtin does is followed only where it is a command of the text */
    if (word->known && (cbx_shell_changes_shell(word->text) || prints)) {
        cbx_shell_unresolved(c->s, "command word", word);
        return;
    }
    cbx_shell_judge_in_shell(c, from);
}
