/* SPDX-License-Identifier: MIT
 * Guesses the language of a source with a syntax error: by signs, then by the grammar of the best
 * guess. */
#include "analyzer/syntax/syntax_error.h"

#include "analyzer/parse.h"
#include "policies/language.h"

enum { TEXT_MAX = 64 * 1024, COUNTED_MAX = 3, POINTS_MIN = 3 };

enum place { AT_START, AT_END, ANYWHERE };

/* The rows of all languages in one list: a row with a display name begins a language. */
static const struct sign {
    const char *word, *display;
    enum place place;
    int weight;
    const char *text;
} signs[] = {
#define CBX_LOOKS(word, display)      { word, display, ANYWHERE, 0, "" },
#define CBX_SIGN(place, weight, text) { NULL, NULL, place, weight, text },
#include "analyzer/syntax/syntax_error.def"
};
enum { SIGNS = sizeof(signs) / sizeof(signs[0]) };

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool has_sign(struct cbx_str line, const struct sign *sign)
{
    struct cbx_str text = cbx_str_of(sign->text);
    switch (sign->place) {
    case AT_START:
        return cbx_str_starts(line, text);
    case AT_END:
        return cbx_str_ends(line, text);
    case ANYWHERE:
        break;
    }
    return line.len > 0 && memmem(line.p, line.len, text.p, text.len) != NULL;
}

static void count_line(struct cbx_str line, int counts[SIGNS])
{
    while (line.len > 0 && is_space(line.p[0])) {
        line = cbx_str_sub(line, 1, line.len);
    }
    while (line.len > 0 && is_space(line.p[line.len - 1])) {
        line.len--;
    }
    for (size_t i = 0; i < SIGNS; i++) {
        if (signs[i].weight > 0 && counts[i] < COUNTED_MAX && has_sign(line, &signs[i])) {
            counts[i]++;
        }
    }
}

static void count_signs(struct cbx_str text, int counts[SIGNS])
{
    text = cbx_str_sub(text, 0, TEXT_MAX);
    for (size_t from = 0; from < text.len;) {
        const char *end = memchr(text.p + from, '\n', text.len - from);
        size_t to = end != NULL ? (size_t)(end - text.p) : text.len;
        count_line(cbx_str_sub(text, from, to), counts);
        from = to + 1;
    }
}

/* Returns the points of the language whose row is at `at`. */
static int points_of(const int counts[SIGNS], size_t at)
{
    int points = 0;
    for (size_t i = at + 1; i < SIGNS && signs[i].weight > 0; i++) {
        points += counts[i] * signs[i].weight;
    }
    return points;
}

/* Returns true if the first line that is not blank has a sign of that language. For a language
 * without a grammar, signs in the strings of a program must not suffice. */
static bool begins_like(struct cbx_str text, size_t at)
{
    size_t from = 0;
    while (from < text.len && (is_space(text.p[from]) || text.p[from] == '\n')) {
        from++;
    }
    const char *end = from < text.len ? memchr(text.p + from, '\n', text.len - from) : NULL;
    struct cbx_str line = cbx_str_sub(text, from, end != NULL ? (size_t)(end - text.p) : text.len);
    for (size_t i = at + 1; i < SIGNS && signs[i].weight > 0; i++) {
        if (has_sign(line, &signs[i])) {
            return true;
        }
    }
    return false;
}

/* Returns true if the grammar of that language, if there is one, reads the text. */
static bool reads(const struct cbx_syntax_source *source, const struct cbx_lang *lang)
{
    if (lang == NULL) {
        return true;
    }
    TSTree *tree = cbx_parse_tree(lang->code->grammar(), source->text, source->deadline_ms);
    bool clean = tree != NULL && !ts_node_has_error(ts_tree_root_node(tree));
    if (tree != NULL) {
        ts_tree_delete(tree);
    }
    return clean;
}

bool cbx_syntax_looks_like(const struct cbx_syntax_source *source, struct cbx_str *display,
                           struct cbx_str *word)
{
    int counts[SIGNS] = { 0 }, best = 0, own = 0;
    size_t at = SIGNS;
    count_signs(source->text, counts);
    for (size_t i = 0; i < SIGNS; i++) {
        int points = signs[i].weight == 0 ? points_of(counts, i) : 0;
        const struct cbx_lang *lang = points > 0 ? cbx_lang_find(cbx_str_of(signs[i].word)) : NULL;
        if (lang != NULL && lang->policy == source->lang->policy) {
            own = points;
        } else if (points > best) {
            best = points;
            at = i;
        }
    }
    if (at == SIGNS || best < POINTS_MIN || best <= own ||
        (signs[at].word[0] == '\0' && !begins_like(source->text, at)) ||
        !reads(source, cbx_lang_find(cbx_str_of(signs[at].word)))) {
        return false;
    }
    *display = cbx_str_of(signs[at].display);
    *word = cbx_str_of(signs[at].word);
    return true;
}
