/* SPDX-License-Identifier: MIT
 * Format specifications of f-strings that begin with an equals sign (`f"{title:=^40}"`). In a
 * replacement field a colon outside of brackets begins the specification (Python's reference,
 * "Formatted string literals"); the grammar reads `:=` as an assignment. */
#include "analyzer/lang/python/internal.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 16 /* strings within fields of strings */ };

/* The scan; `copy` is NULL until something is to be changed. */
struct scan {
    struct cbx_arena *arena;
    struct cbx_str text;
    char *copy;
    int depth;
};

struct literal {
    bool formatted, raw;
    char quote;
    int quotes; /* 1 or 3 */
};

static char byte_at(const struct scan *s, size_t at)
{
    return at < s->text.len ? s->text.p[at] : '\0';
}

/* Reads the quotes at `at`, and the prefix before them. */
static struct literal literal_at(const struct scan *s, size_t at)
{
    struct literal l = { .quote = byte_at(s, at), .quotes = 1 };
    size_t from = at;
    while (from > 0 && at - from < 2 && strchr("rRbBfFuUtT", s->text.p[from - 1]) != NULL) {
        from--;
    }
    if (from > 0 && (isalnum((unsigned char)s->text.p[from - 1]) || s->text.p[from - 1] == '_')) {
        from = at; /* the end of a name */
    }
    for (size_t i = from; i < at; i++) {
        l.formatted |= strchr("fFtT", s->text.p[i]) != NULL;
        l.raw |= strchr("rR", s->text.p[i]) != NULL;
    }
    if (byte_at(s, at + 1) == l.quote && byte_at(s, at + 2) == l.quote) {
        l.quotes = 3;
    }
    return l;
}

static bool ends(const struct scan *s, const struct literal *l, size_t at)
{
    bool same = byte_at(s, at) == l->quote;
    return l->quotes == 1
               ? same
               : same && byte_at(s, at + 1) == l->quote && byte_at(s, at + 2) == l->quote;
}

static size_t skip_field(struct scan *s, size_t at);

/* Returns the offset behind the string whose quotes begin at `at`. */
static size_t skip_string(struct scan *s, size_t at)
{
    struct literal l = literal_at(s, at);
    at += (size_t)l.quotes;
    if (++s->depth > DEPTH_MAX) {
        at = s->text.len;
    }
    while (at < s->text.len && !ends(s, &l, at)) {
        char c = s->text.p[at];
        if (c == '\n' && l.quotes == 1) {
            break;
        }
        if (c == '\\') {
            at += 2;
        } else if (l.formatted && c == '{' && byte_at(s, at + 1) == '{') {
            at += 2;
        } else if (l.formatted && c == '{') {
            at = skip_field(s, at + 1);
        } else {
            at++;
        }
    }
    s->depth--;
    return at < s->text.len && ends(s, &l, at) ? at + (size_t)l.quotes : at;
}

/* Returns the offset of the brace that ends a specification; it may have fields itself. */
static size_t skip_specification(struct scan *s, size_t at)
{
    while (at < s->text.len && s->text.p[at] != '}' && s->text.p[at] != '\n') {
        at = s->text.p[at] == '{' ? skip_field(s, at + 1) : at + 1;
    }
    return at;
}

static void hide_equals(struct scan *s, size_t at)
{
    if (s->copy == NULL) {
        s->copy = cbx_arena_alloc(s->arena, s->text.len + 1);
        if (s->copy == NULL) {
            return;
        }
        memcpy(s->copy, s->text.p, s->text.len);
    }
    s->copy[at] = ' ';
}

/* Returns the offset behind the brace that ends the field whose expression begins at `at`. */
static size_t skip_field(struct scan *s, size_t at)
{
    int brackets = 0;
    if (++s->depth > DEPTH_MAX) {
        at = s->text.len;
    }
    while (at < s->text.len) {
        char c = s->text.p[at];
        if (c == '"' || c == '\'') {
            at = skip_string(s, at);
            continue;
        }
        if (brackets == 0 && c == ':') {
            if (byte_at(s, at + 1) == '=') {
                hide_equals(s, at + 1);
            }
            at = skip_specification(s, at + 1);
            continue;
        }
        if (brackets == 0 && c == '}') {
            at++;
            break;
        }
        brackets += strchr("([{", c) != NULL;
        brackets -= strchr(")]}", c) != NULL;
        at++;
    }
    s->depth--;
    return at;
}

struct cbx_str cbx_py_correct(const struct cbx_parsed *parsed, struct cbx_str text, TSTree *tree)
{
    struct scan s = { .arena = parsed->arena, .text = text };
    (void)tree;
    if (text.len == 0 || memmem(text.p, text.len, ":=", 2) == NULL) {
        return (struct cbx_str){ 0 };
    }
    for (size_t at = 0; at < text.len;) {
        char c = text.p[at];
        if (c == '#') {
            const char *end = memchr(text.p + at, '\n', text.len - at);
            at = end != NULL ? (size_t)(end - text.p) : text.len;
        } else {
            at = c == '"' || c == '\'' ? skip_string(&s, at) : at + 1;
        }
    }
    return (struct cbx_str){ .p = s.copy, .len = s.copy != NULL ? text.len : 0 };
}
