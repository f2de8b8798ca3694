/* SPDX-License-Identifier: MIT
 * Words that are not constant, as paths: wildcards, braces, variables in the middle. Rules match
 * their known parts. */
#include "analyzer/lang/shell/internal.h"

#include <ctype.h>

enum { ALTERNATIVES_MAX = 16, WORD_MAX_BYTES = 1024 };

size_t cbx_shell_end_of_expansion(struct cbx_str word, size_t at)
{
    char open = at + 1 < word.len ? word.p[at + 1] : '\0', close = '\0';
    if (word.p[at] == '`') {
        close = '`';
    } else if (open == '{') {
        close = '}';
    } else if (open == '(') {
        close = ')';
    }
    size_t end = at + 1, level = 0;
    if (close == '\0') {
        while (end < word.len && (word.p[end] == '_' || isalnum((unsigned char)word.p[end]))) {
            end++;
        }
        return end;
    }
    for (; end < word.len; end++) {
        level += word.p[end] == open && close != '`';
        if (word.p[end] == close && (level == 0 || --level == 0)) {
            return end + 1;
        }
    }
    return end;
}

/* Finds the first {a,b} of a word that has no braces inside. */
static bool find_braces(struct cbx_str word, size_t *open, size_t *close)
{
    bool comma = false, found = false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.p[i];
        if (c == '\\') {
            i++;
        } else if (c == '$') {
            i = cbx_shell_end_of_expansion(word, i) - 1;
        } else if (c == '{') {
            *open = i;
            found = true;
            comma = false;
        } else if (c == '}' && found && comma) {
            *close = i;
            return true;
        }
        comma |= c == ',';
    }
    return false;
}

/* Appends the expansions of the braces to the list. */
static void expand_braces(struct cbx_shell *s, struct cbx_str *words, size_t *count,
                          struct cbx_str word, size_t open, size_t close)
{
    for (size_t at = open + 1; at <= close && *count < ALTERNATIVES_MAX; at++) {
        size_t end = at;
        while (end < close && word.p[end] != ',') {
            end++;
        }
        words[(*count)++] =
            CBX_JOIN(s->parsed->arena, cbx_str_sub(word, 0, open), cbx_str_sub(word, at, end),
                     cbx_str_sub(word, close + 1, word.len));
        at = end;
    }
}

/* Returns a word without its quotes, with '*' for each unknown part. *gaps: it has such parts;
 * *files: the shell expands wildcards in it. */
static struct cbx_str without_quotes(struct cbx_shell *s, struct cbx_str word, bool *gaps,
                                     bool *files)
{
    char *out = cbx_arena_alloc(s->parsed->arena, word.len + 1), quote = '\0';
    size_t n = 0;
    *gaps = *files = false;
    for (size_t i = 0; out != NULL && i < word.len; i++) {
        char c = word.p[i];
        if ((c == '$' || c == '`') && quote != '\'') {
            i = cbx_shell_end_of_expansion(word, i) - 1;
            *gaps = true;
            c = '*';
        } else if (c == quote || (quote == '\0' && (c == '\'' || c == '"'))) {
            quote = c == quote ? '\0' : c;
            continue;
        } else if (c == '\\' && quote != '\'' && i + 1 < word.len) {
            c = word.p[++i];
        } else {
            *files |= quote == '\0' && (c == '*' || c == '?' || c == '[');
        }
        out[n++] = c;
    }
    return (struct cbx_str){ .p = out, .len = out != NULL ? n : 0 };
}

/* Adds one word as a text to match and, if the shell expands it, as a pattern. */
static void add_path(struct cbx_shell *s, struct cbx_str word, TSNode node)
{
    bool gaps, files;
    struct cbx_str path = without_quotes(s, word, &gaps, &files);
    if (path.len == 0 || memchr(path.p, '/', path.len) == NULL) {
        return;
    }
    bool somewhere = path.p[0] == '/' || path.p[0] == '~';
    enum cbx_fact_kind kind = files && !gaps && somewhere ? CBX_IS_FILES : CBX_IS_LITERAL;
    cbx_facts_add(s->parsed->facts, kind, path, ts_node_start_byte(node), ts_node_end_byte(node));
}

bool cbx_shell_is_in_unknown_folder(struct cbx_shell *s, TSNode node)
{
    static const char any_file[] = { '/', '*', '\0' };
    TSNode parent = ts_node_parent(node), before = ts_node_prev_sibling(node);
    return cbx_str_starts(cbx_shell_source_of(s, node), cbx_str_of(any_file)) &&
           !ts_node_is_null(parent) && cbx_shell_type_is(parent, "concatenation") &&
           !ts_node_is_null(before) && !cbx_shell_fold(s, before).known;
}

/* Expands the braces of a word that may be a path; returns the number of words that result. */
static size_t expand(struct cbx_shell *s, struct cbx_str word, struct cbx_str *words)
{
    size_t count = 1, results = 0, open, close;
    if (word.len > WORD_MAX_BYTES || word.len == 0 || memchr(word.p, '/', word.len) == NULL) {
        return 0;
    }
    words[0] = word;
    for (size_t i = 0; i < count; i++) {
        struct cbx_str next = words[i];
        if (count < ALTERNATIVES_MAX && find_braces(next, &open, &close)) {
            expand_braces(s, words, &count, next, open, close);
        } else {
            words[results++] = next;
        }
    }
    return results;
}

void cbx_shell_extract_path(struct cbx_shell *s, TSNode node)
{
    struct cbx_str words[ALTERNATIVES_MAX];
    size_t count = cbx_shell_is_in_unknown_folder(s, node)
                       ? 0
                       : expand(s, cbx_shell_source_of(s, node), words);
    for (size_t i = 0; i < count; i++) {
        add_path(s, words[i], node);
    }
}

void cbx_shell_read_partial(struct cbx_shell *s, const struct cbx_word *word, struct cbx_arg *arg)
{
    struct cbx_str words[ALTERNATIVES_MAX];
    size_t count = expand(s, cbx_str_sub(s->parsed->text, word->start, word->end), words);
    struct cbx_str *texts =
        count > 0 ? cbx_arena_array(s->parsed->arena, count, sizeof(*texts)) : NULL;
    uint32_t whole = 0, partial = 0;
    for (size_t i = 0; texts != NULL && i < count; i++) {
        bool gaps, files;
        struct cbx_str path = without_quotes(s, words[i], &gaps, &files);
        if (path.len > 0 && !gaps && !files) {
            texts[whole++] = path;
        } else if (path.len > 0) {
            texts[count - ++partial] = path;
        }
    }
    arg->texts = texts;
    arg->text_count = whole;
    arg->partials = partial > 0 ? texts + count - partial : NULL;
    arg->partial_count = partial;
}
