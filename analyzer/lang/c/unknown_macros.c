/* SPDX-License-Identifier: MIT
 * Uses of macros whose definitions are in headers that are not read, in a source that the grammar
 * cannot read otherwise. Nothing that could be called is left out: a loop (`FOREACH(x, list) { }`)
 * becomes a call before its block, a definition (`TEST(group, name) { }`) a function, and a word
 * that stands where no name may be (`int CALLBACK f(void)`, `void *p UNUSED`) an attribute. */
#include "analyzer/lang/c/internal.h"

#include <ctype.h>

struct mending {
    struct cbx_arena *arena;
    const struct cbx_c_tokens *in;
    struct cbx_c_tokens *out;
    int depth; /* of braces */
    bool changed;
};

static const struct cbx_c_token *token_at(const struct mending *m, size_t at)
{
    return at < m->in->count ? &m->in->items[at] : NULL;
}

static bool is_one_of(const struct cbx_c_token *token, const char *const *words, size_t count)
{
    for (size_t i = 0; token != NULL && i < count; i++) {
        if (cbx_str_is(token->text, words[i])) {
            return true;
        }
    }
    return false;
}

/* Words before a statement, or of one. */
static bool is_control(const struct cbx_c_token *token)
{
    static const char *const words[] = { "if",     "for",  "while",  "switch",        "return",
                                         "sizeof", "goto", "case",   "_Alignof",      "defined",
                                         "else",   "do",   "typeof", "_Static_assert" };
    return is_one_of(token, words, sizeof(words) / sizeof(words[0]));
}

/* Words of a declaration that need a type or a name behind them. */
static bool is_qualifier(const struct cbx_c_token *token)
{
    static const char *const words[] = { "const",  "static", "extern",  "register", "volatile",
                                         "struct", "union",  "enum",    "inline",   "typedef",
                                         "auto",   "signed", "unsigned" };
    return is_one_of(token, words, sizeof(words) / sizeof(words[0]));
}

static bool is_identifier(const struct cbx_c_token *token)
{
    return token != NULL && token->kind == C_IDENTIFIER;
}

/* EV_P_, __unused: the forms of names of macros. */
static bool is_macro_like(const struct cbx_c_token *token)
{
    enum { LEAST = 3 };
    if (!is_identifier(token) || token->text.len < LEAST) {
        return false;
    }
    bool capitals = true;
    for (size_t i = 0; i < token->text.len; i++) {
        capitals &= !islower((unsigned char)token->text.p[i]);
    }
    return capitals || cbx_str_starts(token->text, CBX_STR("__"));
}

static bool begins_statement(const struct mending *m, size_t at)
{
    static const char *const before[] = { ";", "{", "}", ")", ":", "else", "do" };
    return at == 0 || is_one_of(token_at(m, at - 1), before, sizeof(before) / sizeof(before[0]));
}

/* Returns the index of the parenthesis that closes the one at `at`; 0 if there is none. */
static size_t find_end(const struct mending *m, size_t at)
{
    enum { LENGTH_MAX = 1000 };
    int depth = 0;
    for (size_t i = at; i < m->in->count && i < at + LENGTH_MAX; i++) {
        depth += cbx_c_is(&m->in->items[i], "(");
        depth -= cbx_c_is(&m->in->items[i], ")");
        if (depth == 0) {
            return i;
        }
    }
    return 0;
}

/* Appends a token of its own, at the place of another one. */
static void add_word(struct mending *m, const struct cbx_c_token *at, const char *word,
                     uint8_t kind)
{
    struct cbx_c_token token = *at;
    token.text = cbx_str_of(word);
    token.kind = kind;
    token.space = true;
    cbx_c_push(m->arena, m->out, token);
    m->changed = true;
}

/* Copies NAME(...) with what is missing: at the level of the file a type before a definition, and a
 * semicolon elsewhere. Returns the index behind it; `at` if it is no such use. */
static size_t mend_call(struct mending *m, size_t at)
{
    const struct cbx_c_token *name = token_at(m, at);
    if (!is_identifier(name) || is_control(name) || is_qualifier(name) ||
        !cbx_c_is(token_at(m, at + 1), "(") || !begins_statement(m, at)) {
        return at;
    }
    size_t end = find_end(m, at + 1);
    const struct cbx_c_token *next = token_at(m, end + 1);
    bool block = cbx_c_is(next, "{");
    if (end == 0 || next == NULL || !(block || (is_identifier(next) && next->first))) {
        return at;
    }
    if (block && m->depth == 0) {
        add_word(m, name, "int", C_IDENTIFIER);
    }
    for (size_t i = at; i <= end; i++) {
        cbx_c_push(m->arena, m->out, m->in->items[i]);
    }
    if (!block || m->depth > 0) {
        add_word(m, &m->in->items[end], ";", C_PUNCTUATION);
    }
    return end + 1;
}

/* Returns one of the last tokens that were kept: 1 = the last. */
static const struct cbx_c_token *kept(const struct mending *m, size_t back)
{
    return back <= m->out->count ? &m->out->items[m->out->count - back] : NULL;
}

/* True if the last token is a name that is declared: its type stands before it. */
static bool is_declared(const struct mending *m)
{
    static const char *const types[] = { "int",   "char",   "long", "short",
                                         "float", "double", "void", "bool" };
    const struct cbx_c_token *name = kept(m, 1), *before = kept(m, 2);
    bool type = is_one_of(name, types, sizeof(types) / sizeof(types[0])) ||
                (is_identifier(name) && cbx_str_ends(name->text, CBX_STR("_t")));
    return is_identifier(name) && !type &&
           (cbx_c_is(before, "*") || (is_identifier(before) && !is_qualifier(before)));
}

/* True for a word that is neither a type nor a name where it stands: between a type and a name,
 * before a type, or behind a name or the parameters of a function. */
static bool is_attribute(const struct mending *m, size_t at)
{
    const struct cbx_c_token *before = kept(m, 1);
    const struct cbx_c_token *next = token_at(m, at + 1), *after = token_at(m, at + 2);
    if (!is_macro_like(token_at(m, at)) || next == NULL || cbx_c_is(next, "(")) {
        return false;
    }
    bool word = is_identifier(before) && !is_qualifier(before) && !is_control(before);
    if (is_identifier(next) || cbx_c_is(next, "*")) {
        bool type = is_identifier(next) && (is_identifier(after) || cbx_c_is(after, "*"));
        return word || cbx_c_is(before, "*") || type;
    }
    bool ends =
        cbx_c_is(next, ",") || cbx_c_is(next, ")") || cbx_c_is(next, ";") || cbx_c_is(next, "{");
    return ends && (cbx_c_is(before, ")") || is_declared(m));
}

bool cbx_c_mend_macros(struct cbx_arena *arena, const struct cbx_c_tokens *in,
                       struct cbx_c_tokens *out)
{
    struct mending m = { .arena = arena, .in = in, .out = out };
    for (size_t i = 0; i < in->count;) {
        size_t behind = mend_call(&m, i);
        if (behind > i) {
            i = behind;
            continue;
        }
        if (is_attribute(&m, i)) {
            m.changed = true;
        } else {
            cbx_c_push(arena, out, in->items[i]);
        }
        m.depth += cbx_c_is(&in->items[i], "{");
        m.depth -= cbx_c_is(&in->items[i], "}");
        i++;
    }
    return m.changed;
}
