/* SPDX-License-Identifier: MIT
 * The working folder, and the files that come through a pipe: they give relative words their
 * meaning. */
#include "analyzer/lang/shell/command.h"

enum { FED_MAX = 64 };

/* --- cd --------------------------------------------------------------------------------------- */

void cbx_shell_follow_place(const struct cbx_shell_command *c, struct cbx_str name)
{
    struct cbx_shell *s = c->s;
    bool push = cbx_str_is(name, "pushd"), pop = cbx_str_is(name, "popd");
    if (!push && !pop && !cbx_str_is(name, "cd")) {
        return;
    }
    size_t w = 1;
    while (w < c->count && cbx_shell_is_option(&c->words[w])) {
        w++;
    }
    struct cbx_places now = s->places;
    bool back = pop || (push && w >= c->count) ||
                (w < c->count && c->words[w].known && cbx_str_is(c->words[w].text, "-"));
    if (back) {
        s->places = s->before;
    } else if (w >= c->count) {
        s->places = cbx_places_home;
    } else {
        bool known = c->words[w].known && !c->patterns[w] && !c->fed;
        cbx_places_enter(&s->places, known ? c->words[w].text : (struct cbx_str){ 0 },
                         s->parsed->arena);
    }
    s->before = now;
}

enum cbx_shell_scope cbx_shell_scope_of(TSNode up, TSNode node)
{
    static const char *const processes[] = { "subshell", "command_substitution",
                                             "process_substitution" };
    static const char *const branches[] = { "if_statement",   "while_statement",
                                            "for_statement",  "c_style_for_statement",
                                            "case_statement", "function_definition",
                                            "elif_clause",    "else_clause",
                                            "case_item" };
    if (!ts_node_is_null(up) && cbx_shell_type_is(up, "pipeline")) {
        return CBX_SHELL_SCOPE_KEEPS;
    }
    for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
        if (cbx_shell_type_is(node, processes[i])) {
            return CBX_SHELL_SCOPE_KEEPS;
        }
    }
    for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
        if (cbx_shell_type_is(node, branches[i])) {
            return CBX_SHELL_SCOPE_MAY_CHANGE;
        }
    }
    return CBX_SHELL_SCOPE_PASSES;
}

/* --- pipes ------------------------------------------------------------------------------------ */

static void add_word(struct cbx_shell_command *c, struct cbx_str *words, struct cbx_str word)
{
    if (c->fed_count < FED_MAX && word.len > 0) {
        words[c->fed_count++] = word;
    }
}

/* Splits constant output as xargs splits it: into lines, or (without options) into words. */
static void add_output(struct cbx_shell_command *c, struct cbx_str *words, struct cbx_str text,
                       bool lines)
{
    const char *separators = lines ? "\n\0" : "\n \t";
    size_t count = lines ? 2 : 3;
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && memchr(separators, text.p[end], count) == NULL) {
            end++;
        }
        add_word(c, words, cbx_str_sub(text, at, end));
        at = end + 1;
    }
    c->fed_all = c->fed_count < FED_MAX;
}

/* Adds the folders among the words of a command in the pipe that lists files: the files are in
 * these folders. */
static void add_listed(struct cbx_shell_command *c, struct cbx_str *words, TSNode node)
{
    static const char *const listing[] = { "find",     "ls",       "grep", "egrep",  "fgrep", "rg",
                                           "realpath", "readlink", "echo", "printf", "du" };
    bool lists = false;
    TSNode command =
        cbx_shell_type_is(node, "redirected_statement") ? ts_node_named_child(node, 0) : node;
    if (!cbx_shell_type_is(command, "command")) {
        return;
    }
    struct cbx_shell_line line = cbx_shell_read(c->s, command, NULL, 0);
    for (size_t i = 0; line.count > 0 && i < CBX_SHELL_COUNT(listing); i++) {
        lists |= line.words[0].known && cbx_str_is(line.words[0].text, listing[i]);
    }
    /* ls of a folder prints bare names */
    bool names = lists && cbx_str_is(line.words[0].text, "ls");
    for (size_t w = 1; lists && w < line.count; w++) {
        struct cbx_str word = line.words[w].text;
        bool place = line.words[w].known && !cbx_shell_is_option(&line.words[w]) &&
                     (memchr(word.p, '/', word.len) != NULL ||
                      cbx_str_starts(word, CBX_STR("..")) || cbx_str_starts(word, CBX_STR("~")));
        if (place && (!names || line.patterns[w])) {
            add_word(c, words, word);
        }
    }
}

void cbx_shell_read_fed(struct cbx_shell_command *c, bool lines)
{
    struct cbx_shell *s = c->s;
    struct cbx_shell_input input = s->input;
    struct cbx_str *words = cbx_arena_array(s->parsed->arena, FED_MAX, sizeof(*words)), text;
    c->fed_words = words;
    c->fed_count = 0;
    c->fed_all = false;
    if (words == NULL) {
        return;
    }
    bool given = input.source == CBX_SHELL_HEREDOC || input.source == CBX_SHELL_HERESTRING;
    if (given && cbx_shell_heredoc(s, input.node, &text)) {
        add_output(c, words, text, lines);
        return;
    }
    if (input.source != CBX_SHELL_OUTPUT) {
        return;
    }
    if (cbx_shell_output(s, input.node, &text)) {
        add_output(c, words, text, lines);
        return;
    }
    for (TSNode node = input.node; !ts_node_is_null(node);
         node = ts_node_prev_named_sibling(node)) {
        add_listed(c, words, node);
    }
}

/* Returns the word with the fed word in place of the hole. */
static struct cbx_str fill(const struct cbx_shell_command *c, struct cbx_str word,
                           struct cbx_str fed)
{
    const char *hole = memmem(word.p, word.len, c->hole.p, c->hole.len);
    size_t at = (size_t)(hole - word.p);
    return CBX_JOIN(c->s->parsed->arena, cbx_str_sub(word, 0, at), fed,
                    cbx_str_sub(word, at + c->hole.len, word.len));
}

void cbx_shell_add_fed(const struct cbx_shell_command *c, struct cbx_fact *fact)
{
    struct cbx_arena *arena = c->s->parsed->arena;
    size_t most = fact->arg_count + (c->count + 1) * c->fed_count, count = fact->arg_count;
    struct cbx_arg *args =
        c->fed && c->fed_count > 0 ? cbx_arena_array(arena, most + 1, sizeof(*args)) : NULL;
    bool holes = false;
    if (args == NULL) {
        return;
    }
    if (count > 0) {
        memcpy(args, fact->args, count * sizeof(*args));
    }
    for (size_t w = 1; w <= c->count; w++) {
        bool hole = w < c->count && cbx_shell_has_hole(c, c->words[w].text);
        for (size_t i = 0; (hole || (w == c->count && !holes)) && i < c->fed_count; i++) {
            struct cbx_str value =
                hole ? fill(c, c->words[w].text, c->fed_words[i]) : c->fed_words[i];
            args[count] = (struct cbx_arg){ .position = (uint32_t)count,
                                            .known = value.p != NULL,
                                            .constant = value.p != NULL,
                                            .value = value };
            count++;
        }
        holes |= hole;
    }
    fact->args = args;
    fact->arg_count = (uint32_t)count;
}

static bool has_hole(const struct cbx_shell_command *c)
{
    for (size_t w = 0; w < c->count; w++) {
        if (cbx_shell_has_hole(c, c->words[w].text)) {
            return true;
        }
    }
    return false;
}

bool cbx_shell_fill_fed(const struct cbx_shell_command *c, size_t at, struct cbx_shell_command *out)
{
    struct cbx_arena *arena = c->s->parsed->arena;
    bool holes = has_hole(c);
    if (!c->fed_all || at >= (holes ? c->fed_count : 1)) {
        return false;
    }
    size_t count = c->count + (holes ? 0 : c->fed_count);
    struct cbx_word *words = cbx_arena_array(arena, count, sizeof(*words));
    bool *patterns = cbx_arena_array(arena, count, sizeof(*patterns));
    unsigned char *may = cbx_arena_array(arena, count, sizeof(*may));
    if (words == NULL || patterns == NULL || may == NULL) {
        return false;
    }
    for (size_t w = 0; w < count; w++) {
        bool given = w < c->count;
        words[w] = c->words[given ? w : 0];
        patterns[w] = given && c->patterns[w];
        may[w] = given ? c->may[w] : 0;
        if (!given) {
            words[w].text = c->fed_words[w - c->count];
            words[w].known = true;
        } else if (cbx_shell_has_hole(c, c->words[w].text)) {
            words[w].text = fill(c, c->words[w].text, c->fed_words[at]);
        }
    }
    *out = *c;
    out->words = words;
    out->patterns = patterns;
    out->may = may;
    out->count = count;
    out->fed_all = false;
    out->filled = true;
    return true;
}
