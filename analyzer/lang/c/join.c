/* SPDX-License-Identifier: MIT
 * Joins the tokens of the preprocessor to a text for the grammar; and the names of library
 * functions in rules. */
#include "analyzer/facts/sinks.h"
#include "analyzer/lang/c/names.h"

struct cbx_str cbx_c_bare(struct cbx_str name)
{
    while (name.len > 2 && name.p[0] == '_') {
        name = cbx_str_sub(name, 1, name.len);
    }
    while (name.len > 1 && name.p[name.len - 1] == '_') {
        name = cbx_str_sub(name, 0, name.len - 1);
    }
    return name;
}

/* Returns the usual name of __builtin_execv, __open64, _Fork: other names of library functions. */
struct cbx_str cbx_c_canonical(struct cbx_str name)
{
    if (cbx_str_starts(name, CBX_STR("__builtin_"))) {
        name = cbx_str_sub(name, 10, name.len);
    }
    struct cbx_str bare = name;
    while (bare.len > 1 && bare.p[0] == '_') {
        bare = cbx_str_sub(bare, 1, bare.len);
    }
    bare = cbx_str_starts(bare, CBX_STR("IO_")) || cbx_str_starts(bare, CBX_STR("libc_"))
               ? cbx_str_sub(bare, bare.p[0] == 'I' ? 3 : 5, bare.len)
               : bare;
    if (cbx_str_is(cbx_c_bare(name), "asm")) {
        return CBX_STR("asm");
    }
    struct cbx_str short_name = bare.len > 3 && cbx_str_ends(bare, CBX_STR("64"))
                                    ? cbx_str_sub(bare, 0, bare.len - 2)
                                    : bare;
    if (cbx_sinks_of(CBX_C, name) != 0) {
        return name;
    }
    if (cbx_sinks_of(CBX_C, bare) != 0) {
        return bare;
    }
    return cbx_sinks_of(CBX_C, short_name) != 0 ? short_name : name;
}

/* Returns a replacement for a token that the grammar does not support: `case 1 ... 3` is a
 * range, &&x the address of a label, `goto *p` jumps to it. */
static struct cbx_str readable(const struct cbx_c_walk *c, size_t i, bool in_case)
{
    const struct cbx_c_token *token = &c->tokens->items[i], *before = i > 0 ? token - 1 : NULL,
                             *next = i + 1 < c->tokens->count ? token + 1 : NULL;
    bool operand = before != NULL && (before->kind != C_PUNCTUATION || cbx_c_is(before, ")") ||
                                      cbx_c_is(before, "]"));
    operand = operand && !cbx_c_is(before, "return");
    if (in_case && cbx_c_is(token, "...")) {
        return CBX_STR("+");
    }
    if (cbx_c_is(token, "&&") && !operand && next != NULL && next->kind == C_IDENTIFIER) {
        return CBX_STR("&");
    }
    if (cbx_c_is(token, "goto") && cbx_c_is(next, "*")) {
        return CBX_STR("(void)");
    }
    return token->text;
}

/* Handles typeof(expression), for which the grammar expects a type: a single name stays,
 * anything else becomes `int`; its names are still facts. Returns the number of tokens; 0 if
 * there is no typeof. */
static size_t skip_typeof(struct cbx_c_walk *c, size_t i)
{
    const struct cbx_c_token *items = c->tokens->items;
    size_t count = c->tokens->count;
    if (!cbx_c_is(&items[i], "typeof") || i + 1 >= count || !cbx_c_is(&items[i + 1], "(") ||
        (i + 3 < count && items[i + 2].kind == C_IDENTIFIER && cbx_c_is(&items[i + 3], ")"))) {
        return 0;
    }
    size_t end = i + 2;
    for (int depth = 1; end < count && depth > 0; end++) {
        depth += cbx_c_is(&items[end], "(") - cbx_c_is(&items[end], ")");
        if (items[end].kind == C_IDENTIFIER) {
            cbx_facts_add(c->facts, CBX_IS_REFERENCE, cbx_c_canonical(items[end].text),
                          items[end].start, items[end].end);
        }
    }
    return end - i;
}

/* Returns the index of the token after the parenthesis that closes the one at `open`; the count
 * if there is none. */
static size_t behind_parentheses(const struct cbx_c_tokens *tokens, size_t open)
{
    int depth = 0;
    for (size_t i = open; i < tokens->count; i++) {
        depth += cbx_c_is(&tokens->items[i], "(") - cbx_c_is(&tokens->items[i], ")");
        if (depth == 0) {
            return i + 1;
        }
    }
    return tokens->count;
}

/* Returns true for main(argc, argv) int argc; char **argv; {: a definition without a type, which
 * is int. The grammar does not support it. `i` is at the beginning of a declaration outside of
 * functions. */
static bool is_untyped_definition(const struct cbx_c_tokens *tokens, size_t i)
{
    if (i + 1 >= tokens->count || tokens->items[i].kind != C_IDENTIFIER ||
        !cbx_c_is(&tokens->items[i + 1], "(")) {
        return false;
    }
    size_t behind = behind_parentheses(tokens, i + 1);
    if (behind >= tokens->count || cbx_c_is(&tokens->items[behind], "{")) {
        return behind < tokens->count;
    }
    if (tokens->items[behind].kind != C_IDENTIFIER) {
        return false;
    }
    for (; behind < tokens->count; behind++) { /* declarations of the parameters */
        const struct cbx_c_token *token = &tokens->items[behind];
        if (cbx_c_is(token, "{")) {
            return cbx_c_is(token - 1, ";");
        }
        if (cbx_c_is(token, "}") || cbx_c_is(token, "=") || cbx_c_is(token, "typedef")) {
            return false;
        }
    }
    return false;
}

/* Counts the braces; returns true at the beginning of a declaration outside of functions. */
static bool begins_outside(const struct cbx_c_tokens *tokens, size_t i, int *depth)
{
    const struct cbx_c_token *token = &tokens->items[i], *before = i > 0 ? token - 1 : NULL;
    bool storage = cbx_c_is(before, "static") || cbx_c_is(before, "extern");
    before = storage && i > 1 ? token - 2 : before;
    bool begins = *depth == 0 && (before == NULL || (storage && i == 1) || cbx_c_is(before, ";") ||
                                  cbx_c_is(before, "}"));
    *depth += cbx_c_is(token, "{") - cbx_c_is(token, "}");
    return begins;
}

/* Returns true at _Pragma("text"), which the grammar supports in few places. */
static bool is_pragma(const struct cbx_c_tokens *tokens, size_t i)
{
    return i + 3 < tokens->count && cbx_c_is(&tokens->items[i], "_Pragma") &&
           cbx_c_is(&tokens->items[i + 1], "(") && tokens->items[i + 2].kind == C_STRING &&
           cbx_c_is(&tokens->items[i + 3], ")");
}

bool cbx_c_join(struct cbx_c_walk *c)
{
    size_t size = 1;
    for (size_t i = 0; i < c->tokens->count; i++) {
        size += c->tokens->items[i].text.len + 8;
    }
    char *text = size < UINT32_MAX ? cbx_arena_alloc(c->arena, size) : NULL;
    uint32_t *offsets = cbx_arena_array(c->arena, c->tokens->count + 1, sizeof(*offsets)), n = 0;
    bool in_case = false;
    int depth = 0;
    for (size_t i = 0, skip; text != NULL && offsets != NULL && i < c->tokens->count; i++) {
        const struct cbx_c_token *token = &c->tokens->items[i];
        if (is_pragma(c->tokens, i)) {
            offsets[i] = offsets[i + 1] = offsets[i + 2] = offsets[i + 3] = n;
            i += 3;
            continue;
        }
        in_case = cbx_c_is(token, "case") || (in_case && !cbx_c_is(token, ":"));
        skip = skip_typeof(c, i);
        struct cbx_str part = skip > 0 ? CBX_STR("int") : readable(c, i, in_case);
        if (begins_outside(c->tokens, i, &depth) && is_untyped_definition(c->tokens, i)) {
            memcpy(text + n, "int ", 4);
            n += 4;
        }
        for (size_t k = 0; k < skip; k++) {
            offsets[i + k] = n;
        }
        offsets[i] = n;
        memcpy(text + n, part.p, part.len);
        n += (uint32_t)part.len;
        /* [[ is one mark of an attribute */
        const struct cbx_c_token *next = i + 1 < c->tokens->count ? token + 1 : NULL;
        bool double_mark = next != NULL && !next->space && cbx_str_equal(token->text, next->text) &&
                           (cbx_c_is(token, "[") || cbx_c_is(token, "]"));
        text[n] = ' ';
        n += !double_mark;
        i += skip > 0 ? skip - 1 : 0;
    }
    c->text = (struct cbx_str){ .p = text, .len = n };
    c->offsets = offsets;
    return text != NULL && offsets != NULL;
}
