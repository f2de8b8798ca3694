/* SPDX-License-Identifier: MIT
 * Splits C source into tokens, by the first translation phases: line continuations (also with
 * blanks before the end of the line) are removed first, then comments. */
#include "analyzer/lang/c/internal.h"

#include "policies/base/array.h"

struct lexer {
    struct cbx_parsed *parsed;
    struct cbx_str text;
    size_t at;
    bool first, space;
    int directive; /* 1: after '#' at the start of a line, 2: after #include */
};

bool cbx_c_push(struct cbx_arena *arena, struct cbx_c_tokens *list, struct cbx_c_token token)
{
    if (!CBX_ARRAY_RESERVE(arena, list->items, list->count, &list->size, 1, SIZE_MAX)) {
        return false;
    }
    list->items[list->count++] = token;
    return true;
}

/* Returns the length of the line continuation at `at`; 0 if there is none. */
static size_t continuation(struct cbx_str text, size_t at)
{
    if (at >= text.len || text.p[at] != '\\') {
        return 0;
    }
    size_t n = at + 1;
    while (n < text.len && strchr(" \t\v\f\r", text.p[n]) != NULL && text.p[n] != '\0') {
        n++;
    }
    return n < text.len && text.p[n] == '\n' ? n + 1 - at : 0;
}

static void skip_continuations(struct lexer *l)
{
    for (size_t n = continuation(l->text, l->at); n > 0; n = continuation(l->text, l->at)) {
        l->at += n;
    }
}

/* Returns the byte at l->at after any continuations; 0 at the end. */
static unsigned char here(struct lexer *l)
{
    skip_continuations(l);
    return l->at < l->text.len ? (unsigned char)l->text.p[l->at] : 0;
}

static unsigned char after(struct lexer *l, size_t count)
{
    size_t at = l->at;
    for (; count > 0 && l->at < l->text.len; count--) {
        l->at++;
        skip_continuations(l);
    }
    unsigned char c = here(l);
    l->at = at;
    return c;
}

static void step(struct lexer *l, size_t count)
{
    for (; count > 0 && l->at < l->text.len; count--) {
        l->at++;
        skip_continuations(l);
    }
}

static bool is_letter(unsigned char c)
{
    return c == '_' || c == '$' || c >= 0x80 || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct lexer *l)
{
    for (;;) {
        unsigned char c = here(l);
        if (c == '\n') {
            l->first = true;
            l->directive = 0;
            l->at++;
        } else if (c != 0 && strchr(" \t\v\f\r", c) != NULL) {
            l->at++;
        } else if (c == '/' && after(l, 1) == '/') {
            while (here(l) != '\n' && l->at < l->text.len) {
                l->at++;
            }
        } else if (c == '/' && after(l, 1) == '*') {
            step(l, 2);
            while (l->at < l->text.len && !(here(l) == '*' && after(l, 1) == '/')) {
                l->at++;
            }
            step(l, 2);
        } else {
            return;
        }
        l->space = true;
    }
}

static void skip_quoted(struct lexer *l, char quote)
{
    size_t start = l->at;
    step(l, 1);
    while (l->at < l->text.len && here(l) != quote && here(l) != '\n') {
        step(l, here(l) == '\\' ? 2 : 1);
    }
    if (here(l) != quote) {
        cbx_facts_add_special(l->parsed->facts, CBX_FACT_SYNTAX, CBX_STR("a quote without its end"),
                              (uint32_t)start, (uint32_t)l->at);
    }
    step(l, here(l) == quote);
}

static uint8_t read_punctuation(struct lexer *l)
{
    static const char *const marks[] = { "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<",
                                         ">>",   "::",  "<=",  ">=",  "==", "!=", "&&", "||",
                                         "*=",   "/=",  "%=",  "+=",  "-=", "&=", "^=", "|=",
                                         "##",   "<:",  ":>",  "<%",  "%>", "%:" };
    size_t n = 1;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && n == 1; i++) {
        size_t len = strlen(marks[i]), k = 0;
        while (k < len && after(l, k) == (unsigned char)marks[i][k]) {
            k++;
        }
        n = k == len ? len : 1;
    }
    step(l, n);
    return C_PUNCTUATION;
}

static uint8_t read_token(struct lexer *l)
{
    unsigned char c = here(l);
    if (l->directive == 2 && c == '<') {
        while (here(l) != '>' && here(l) != '\n' && l->at < l->text.len) {
            step(l, 1);
        }
        step(l, here(l) == '>');
        return C_HEADER;
    }
    if (is_digit(c) || (c == '.' && is_digit(after(l, 1)))) {
        while (is_digit(here(l)) || is_letter(here(l)) || here(l) == '.') {
            bool sign =
                strchr("eEpP", here(l)) != NULL && (after(l, 1) == '+' || after(l, 1) == '-');
            step(l, sign ? 2 : 1);
        }
        return C_NUMBER;
    }
    size_t start = l->at;
    if (is_letter(c) || (c == '\\' && (after(l, 1) | 32) == 'u')) {
        while (is_letter(here(l)) || is_digit(here(l)) ||
               (here(l) == '\\' && (after(l, 1) | 32) == 'u')) {
            step(l, 1);
        }
        struct cbx_str word = cbx_str_sub(l->text, start, l->at);
        bool prefix = cbx_str_is(word, "L") || cbx_str_is(word, "u") || cbx_str_is(word, "U") ||
                      cbx_str_is(word, "u8");
        bool raw = cbx_str_ends(word, CBX_STR("R")) && word.len <= 3 && here(l) == '"';
        if (raw) {
            cbx_facts_add_special(l->parsed->facts, CBX_FACT_SYNTAX, CBX_STR("a raw string"),
                                  (uint32_t)start, (uint32_t)l->at);
        }
        if (!prefix || (here(l) != '"' && here(l) != '\'')) {
            return C_IDENTIFIER;
        }
        c = here(l);
    }
    if (c == '"' || c == '\'') {
        skip_quoted(l, (char)c);
        return c == '"' ? C_STRING : C_CHARACTER;
    }
    return read_punctuation(l);
}

/* Returns the text of a token without the continuations in it; digraphs by their plain names. */
static struct cbx_str spelling(struct lexer *l, size_t start)
{
    static const char *const digraphs[][2] = { { "<:", "[" }, { ":>", "]" }, { "<%", "{" },
                                               { "%>", "}" }, { "%:", "#" }, { "%:%:", "##" } };
    struct cbx_str raw = cbx_str_sub(l->text, start, l->at);
    if (memchr(raw.p, '\\', raw.len) != NULL) {
        char *out = cbx_arena_alloc(l->parsed->arena, raw.len + 1);
        size_t n = 0;
        for (size_t i = 0; out != NULL && i < raw.len;) {
            size_t skip = continuation(raw, i);
            if (skip == 0) {
                out[n++] = raw.p[i];
            }
            i += skip > 0 ? skip : 1;
        }
        raw = (struct cbx_str){ .p = out != NULL ? out : "", .len = n };
    }
    for (size_t i = 0; i < sizeof(digraphs) / sizeof(digraphs[0]); i++) {
        if (cbx_str_is(raw, digraphs[i][0])) {
            return cbx_str_of(digraphs[i][1]);
        }
    }
    return raw;
}

static void follow_directive(struct lexer *l, const struct cbx_c_token *token)
{
    bool include =
        cbx_c_is(token, "include") || cbx_c_is(token, "include_next") || cbx_c_is(token, "import");
    l->directive = token->first && cbx_c_is(token, "#") ? 1 : l->directive == 1 && include ? 2 : 0;
}

void cbx_c_tokens_read(struct cbx_parsed *parsed, struct cbx_str text, struct cbx_c_tokens *out)
{
    struct lexer l = { .parsed = parsed, .text = text, .first = true };
    for (skip_blanks(&l); l.at < text.len; skip_blanks(&l)) {
        skip_continuations(&l);
        size_t start = l.at;
        struct cbx_c_token token = { .kind = read_token(&l), .first = l.first, .space = l.space };
        token.text = spelling(&l, start);
        token.start = (uint32_t)start;
        token.end = (uint32_t)l.at;
        follow_directive(&l, &token);
        l.first = l.space = false;
        if (!cbx_c_push(parsed->arena, out, token)) {
            return;
        }
    }
}

/* --- literals --------------------------------------------------------------------------------- */

static int digit_of(char c, int base)
{
    int value = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : 99;
    return value < base ? value : -1;
}

static char escape_of(char c)
{
    static const char from[] = "abfnrtve", to[] = "\a\b\f\n\r\t\v\033";
    const char *at = c != '\0' ? strchr(from, c) : NULL;
    return at != NULL ? to[at - from] : c;
}

struct cbx_str cbx_c_unescape(struct cbx_arena *arena, struct cbx_str literal)
{
    const char *quote =
        literal.len > 0 ? memchr(literal.p, literal.p[literal.len - 1], literal.len) : NULL;
    size_t from = quote != NULL ? (size_t)(quote - literal.p) + 1 : 0;
    struct cbx_str in =
        cbx_str_sub(literal, from, literal.len > from ? literal.len - 1 : literal.len);
    char *out = cbx_arena_alloc(arena, in.len + 1);
    size_t n = 0;
    for (size_t i = 0; out != NULL && i < in.len;) {
        if (in.p[i] != '\\' || i + 1 >= in.len) {
            out[n++] = in.p[i++];
            continue;
        }
        int base = in.p[i + 1] == 'x' ? 16 : 8, value = 0;
        size_t at = i + 1 + (base == 16), end = at;
        while (end < in.len && (base == 16 || end < at + 3) && digit_of(in.p[end], base) >= 0) {
            value = (value * base + digit_of(in.p[end++], base)) & 0xFF;
        }
        if (end > at) {
            out[n++] = (char)value;
            i = end;
        } else {
            out[n++] = escape_of(in.p[i + 1]);
            i += 2;
        }
    }
    return (struct cbx_str){ .p = out != NULL ? out : "", .len = out != NULL ? n : 0 };
}
