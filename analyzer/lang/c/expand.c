/* SPDX-License-Identifier: MIT
 * Macro expansion by the C standard: arguments are expanded before substitution, except beside #
 * and ##; the result is scanned again together with the tokens after it; a macro is not expanded
 * inside of itself. Bounded in steps and depth; beyond a bound the reader gives up, which is a
 * denial. */
#include "analyzer/lang/c/macros.h"

enum { CONTEXTS_MAX = 256 };

/* The unread tokens of one expansion; the innermost expansion is the last context. */
struct context {
    struct cbx_c_tokens tokens;
    size_t at;
    struct cbx_c_macro *macro; /* busy until its tokens are used up */
};
struct stream {
    struct cbx_c_reader *r;
    struct context contexts[CONTEXTS_MAX];
    int depth;
    const struct cbx_c_source *rest;
};

static void drop_empty(struct stream *s)
{
    while (s->depth > 0 && s->contexts[s->depth - 1].at == s->contexts[s->depth - 1].tokens.count) {
        struct context *c = &s->contexts[--s->depth];
        if (c->macro != NULL) {
            c->macro->busy = false;
        }
    }
}

static bool next_token(struct stream *s, struct cbx_c_token *out)
{
    drop_empty(s);
    if (s->r->gave_up || ++s->r->steps > CBX_C_STEPS_MAX) {
        s->r->gave_up = true;
        return false;
    }
    if (s->depth > 0) {
        struct context *c = &s->contexts[s->depth - 1];
        *out = c->tokens.items[c->at++];
        return true;
    }
    return s->rest != NULL && s->rest->next(s->rest->context, out);
}

/* Returns true if the next token is this mark. Looks past used contexts without removing them:
 * their macros stay busy unless the mark follows. */
static bool next_is(struct stream *s, const char *text)
{
    for (int i = s->depth; i > 0; i--) {
        const struct context *c = &s->contexts[i - 1];
        if (c->at < c->tokens.count) {
            return cbx_c_is(&c->tokens.items[c->at], text);
        }
    }
    return s->rest != NULL && s->rest->is_next(s->rest->context, text);
}

/* --- arguments -------------------------------------------------------------------------------- */

struct argument {
    struct cbx_c_tokens tokens, expanded;
    bool is_expanded;
};
struct arguments {
    struct argument *items;
    uint32_t count, size;
};

/* Reads the arguments after '(' up to its ')'. Returns false if ')' is missing, or there are too
 * many arguments. */
static bool read_arguments(struct stream *s, const struct cbx_c_macro *macro, struct arguments *out)
{
    struct cbx_c_token token;
    out->count = 1;
    for (int depth = 0; next_token(s, &token);) {
        bool rest = macro->variadic && out->count == macro->parameter_count;
        if (depth == 0 && cbx_c_is(&token, ")")) {
            return true;
        }
        if (depth == 0 && cbx_c_is(&token, ",") && !rest) {
            if (++out->count > out->size) {
                return false;
            }
            continue;
        }
        depth += cbx_c_is(&token, "(") - cbx_c_is(&token, ")");
        cbx_c_push(s->r->arena, &out->items[out->count - 1].tokens, token);
    }
    return false;
}

static int find_parameter(const struct cbx_c_macro *macro, const struct cbx_c_token *token)
{
    for (uint32_t i = 0; token->kind == C_IDENTIFIER && i < macro->parameter_count; i++) {
        if (cbx_str_equal(macro->parameters[i], token->text)) {
            return (int)i;
        }
    }
    return -1;
}

static const struct cbx_c_tokens *expanded(struct cbx_c_reader *r, struct arguments *a, uint32_t i)
{
    struct argument *argument = &a->items[i];
    if (!argument->is_expanded) {
        argument->is_expanded = true;
        cbx_c_expand(r, &argument->tokens, NULL, &argument->expanded);
    }
    return &argument->expanded;
}

/* --- substitution ----------------------------------------------------------------------------- */

static struct cbx_str append(struct cbx_arena *arena, struct cbx_str a, struct cbx_str b)
{
    return CBX_JOIN(arena, a, b);
}

/* Returns #x: the spelling of an argument as a string. */
static struct cbx_c_token make_string(struct cbx_c_reader *r, const struct cbx_c_tokens *argument,
                                      const struct cbx_c_token *place)
{
    size_t size = 3;
    for (size_t i = 0; i < argument->count; i++) {
        size += argument->items[i].text.len * 2 + 1;
    }
    char *out = cbx_arena_alloc(r->arena, size);
    size_t n = 0;
    struct cbx_c_token token = *place;
    token.kind = C_STRING;
    token.text = CBX_STR("\"\"");
    if (out == NULL) {
        return token;
    }
    out[n++] = '"';
    for (size_t i = 0; i < argument->count; i++) {
        const struct cbx_c_token *t = &argument->items[i];
        bool quoted = t->kind == C_STRING || t->kind == C_CHARACTER;
        if (i > 0 && t->space) {
            out[n++] = ' ';
        }
        for (size_t k = 0; k < t->text.len; k++) {
            if (quoted && (t->text.p[k] == '"' || t->text.p[k] == '\\')) {
                out[n++] = '\\';
            }
            out[n++] = t->text.p[k];
        }
    }
    out[n++] = '"';
    token.text = (struct cbx_str){ .p = out, .len = n };
    return token;
}

/* Appends a##b; one of them may be empty. */
static void paste(struct cbx_c_reader *r, const struct cbx_c_macro *macro, struct cbx_c_tokens *out,
                  const struct cbx_c_tokens *right, size_t from)
{
    if (right->count == 0) {
        return;
    }
    if (out->count == from) {
        for (size_t i = 0; i < right->count; i++) {
            cbx_c_push(r->arena, out, right->items[i]);
        }
        return;
    }
    struct cbx_c_token *left = &out->items[out->count - 1];
    bool doubt = macro->doubtful || left->maybe || right->items[0].maybe;
    left->text = append(r->arena, left->text, right->items[0].text);
    left->fixed = false;
    if (doubt && left->kind == C_IDENTIFIER) {
        cbx_facts_add_special(r->parsed->facts, CBX_FACT_UNRESOLVED_CALL, left->text, left->start,
                              left->end);
    }
    for (size_t i = 1; i < right->count; i++) {
        cbx_c_push(r->arena, out, right->items[i]);
    }
}

/* Returns true at __VA_OPT__: __VA_OPT__(x) is read as x, since an additional x only adds facts. */
static bool is_wrapper(const struct cbx_c_macro *macro, size_t at)
{
    return macro->variadic && cbx_c_is(&macro->body.items[at], "__VA_OPT__");
}

static void push_all(struct cbx_c_reader *r, struct cbx_c_tokens *out,
                     const struct cbx_c_tokens *from)
{
    for (size_t i = 0; i < from->count; i++) {
        cbx_c_push(r->arena, out, from->items[i]);
    }
}

/* Appends what a##b gives, where ## is the item `at` of the body and b the one after it. */
static void paste_next(struct cbx_c_reader *r, const struct cbx_c_macro *macro, struct arguments *a,
                       size_t at, const struct cbx_c_token *use, struct cbx_c_tokens *out)
{
    struct cbx_c_token right = macro->body.items[at + 1];
    right.start = use->start;
    right.end = use->end;
    struct cbx_c_tokens one = { .items = &right, .count = 1 };
    int other = find_parameter(macro, &right);
    const struct cbx_c_tokens *operand = other >= 0 ? &a->items[other].tokens : &one;
    bool comma = out->count > 0 && cbx_c_is(&out->items[out->count - 1], ",") && other >= 0 &&
                 macro->variadic;
    if (comma && operand->count == 0) {
        out->count--; /* , ##__VA_ARGS__ with no arguments */
    } else if (comma) {
        push_all(r, out, expanded(r, a, (uint32_t)other));
    } else { /* paste() needs to know if the left argument was empty */
        int left = find_parameter(macro, &macro->body.items[at - 1]);
        bool empty = left >= 0 && a->items[left].tokens.count == 0;
        paste(r, macro, out, operand, empty ? out->count : 0);
    }
}

static void substitute(struct cbx_c_reader *r, const struct cbx_c_macro *macro, struct arguments *a,
                       const struct cbx_c_token *use, struct cbx_c_tokens *out)
{
    const struct cbx_c_tokens *body = &macro->body;
    for (size_t i = 0; i < body->count && !r->gave_up; i++) {
        struct cbx_c_token token = body->items[i];
        token.start = use->start;
        token.end = use->end;
        token.maybe |= use->maybe || macro->doubtful;
        const struct cbx_c_token *next = i + 1 < body->count ? &body->items[i + 1] : NULL;
        int parameter = find_parameter(macro, &token);
        if (is_wrapper(macro, i)) {
            continue;
        }
        if (macro->function && cbx_c_is(&token, "#") && next != NULL &&
            find_parameter(macro, next) >= 0) {
            const struct argument *spelled = &a->items[find_parameter(macro, next)];
            cbx_c_push(r->arena, out, make_string(r, &spelled->tokens, &token));
            i++;
        } else if (cbx_c_is(&token, "##") && i > 0 && next != NULL) {
            paste_next(r, macro, a, i, use, out);
            i++;
        } else if (parameter < 0) {
            cbx_c_push(r->arena, out, token);
        } else {
            const struct cbx_c_tokens *argument = cbx_c_is(next, "##")
                                                      ? &a->items[parameter].tokens
                                                      : expanded(r, a, (uint32_t)parameter);
            r->steps += argument->count;
            push_all(r, out, argument);
        }
    }
}

/* --- expansion -------------------------------------------------------------------------------- */

static void enter(struct stream *s, struct cbx_c_macro *macro, const struct cbx_c_token *use)
{
    struct arguments a = { .size = macro->parameter_count > 0 ? macro->parameter_count : 1 };
    if (macro->function) {
        struct cbx_c_token open;
        a.items = cbx_arena_array(s->r->arena, a.size, sizeof(*a.items));
        if (a.items == NULL || !next_token(s, &open) || !read_arguments(s, macro, &a)) {
            s->r->gave_up = true;
            return;
        }
        a.count = a.size; /* a missing argument is empty */
    }
    drop_empty(s);
    if (s->depth == CONTEXTS_MAX) {
        s->r->gave_up = true;
        return;
    }
    struct context *c = &s->contexts[s->depth];
    *c = (struct context){ .macro = macro };
    substitute(s->r, macro, &a, use, &c->tokens);
    for (size_t i = 0; i < c->tokens.count; i++) { /* also tokens that come from no argument */
        c->tokens.items[i].maybe |= macro->doubtful || use->maybe;
    }
    if (macro->doubtful) { /* if the macro is not defined, the text has its name */
        cbx_facts_add(s->r->parsed->facts, CBX_IS_REFERENCE, cbx_c_canonical(macro->name),
                      use->start, use->end);
    }
    macro->busy = true;
    s->depth++;
}

void cbx_c_expand(struct cbx_c_reader *r, const struct cbx_c_tokens *in,
                  const struct cbx_c_source *rest, struct cbx_c_tokens *out)
{
    if (r->depth >= CBX_C_EXPAND_DEPTH_MAX) {
        r->gave_up = true;
        return;
    }
    if (r->streams[r->depth] == NULL) { /* one stream for each depth, used again */
        r->streams[r->depth] = cbx_arena_alloc(r->arena, sizeof(struct stream));
    }
    struct stream *s = r->streams[r->depth];
    if (s == NULL) {
        r->gave_up = true;
        return;
    }
    r->depth++;
    s->r = r;
    s->rest = rest;
    s->contexts[0] = (struct context){ .tokens = *in };
    s->depth = 1;
    struct cbx_c_token token;
    while (drop_empty(s), s->depth > 0 && next_token(s, &token)) {
        struct cbx_c_macro *macro =
            token.kind == C_IDENTIFIER && !token.fixed ? cbx_c_macro(r, token.text) : NULL;
        if (macro == NULL || !macro->defined) {
            cbx_c_push(r->arena, out, token);
        } else if (macro->busy) {
            token.fixed = true;
            cbx_c_push(r->arena, out, token);
        } else if (macro->function && !next_is(s, "(")) {
            cbx_c_push(r->arena, out, token);
        } else {
            enter(s, macro, &token);
        }
    }
    while (s->depth > 0) { /* only after the reader gave up */
        s->contexts[s->depth - 1].at = s->contexts[s->depth - 1].tokens.count;
        drop_empty(s);
    }
    r->depth--;
}
