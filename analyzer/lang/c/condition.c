/* SPDX-License-Identifier: MIT
 * The expressions of #if. An unknown macro (of a header) is read as undefined, and the value of
 * the expression is then not certain. */
#include "analyzer/lang/c/internal.h"

int cbx_c_predefined(struct cbx_str name)
{
    static const struct {
        const char *name;
        int there;
    } rows[] = {
#define CBX_C_THERE(name)  { name, 1 },
#define CBX_C_ABSENT(name) { name, 0 },
#include "analyzer/lang/c/predefined.def"
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (cbx_str_is(name, rows[i].name)) {
            return rows[i].there;
        }
    }
    return -1;
}

enum { DEPTH_MAX = 64, NUMBER_BYTES = 72 };
struct reader {
    const struct cbx_c_tokens *tokens;
    size_t at;
    int depth;
};

static const struct cbx_c_value unknown = { 0, false };

static const struct cbx_c_token *peek(const struct reader *r)
{
    return r->at < r->tokens->count ? &r->tokens->items[r->at] : NULL;
}

static bool take(struct reader *r, const char *text)
{
    bool is = cbx_c_is(peek(r), text);
    r->at += is;
    return is;
}

static struct cbx_c_value read_or(struct reader *r);

static struct cbx_c_value read_primary(struct reader *r)
{
    const struct cbx_c_token *token = peek(r);
    if (token == NULL || r->depth >= DEPTH_MAX) {
        return unknown;
    }
    r->at++;
    r->depth++;
    struct cbx_c_value out = unknown;
    if (cbx_c_is(token, "(")) {
        out = read_or(r);
        take(r, ")");
    } else if (cbx_c_is(token, "!")) {
        out = read_primary(r);
        out.value = !out.value;
    } else if (cbx_c_is(token, "-")) {
        out = read_primary(r);
        out.value = (int64_t)(0 - (uint64_t)out.value);
    } else if (token->kind == C_NUMBER && token->text.len < NUMBER_BYTES) {
        char digits[NUMBER_BYTES];
        snprintf(digits, sizeof(digits), "%.*s", CBX_STR_ARG(token->text));
        out = (struct cbx_c_value){ (int64_t)strtoull(digits, NULL, 0), !token->maybe };
    } else if (cbx_c_is(peek(r), "(")) { /* __has_include(<x>) and the like */
        int depth = 0;
        do {
            depth += cbx_c_is(peek(r), "(") - cbx_c_is(peek(r), ")");
            r->at++;
        } while (depth > 0 && peek(r) != NULL);
    }
    r->depth--;
    return out;
}

static const char *const operators[] = { "==", "!=", "<=", ">=", "<", ">" };

static bool compare(size_t operator, int64_t a, int64_t b)
{
    switch (operator) {
    case 0:
        return a == b;
    case 1:
        return a != b;
    case 2:
        return a <= b;
    case 3:
        return a >= b;
    case 4:
        return a < b;
    default:
        return a > b;
    }
}

static struct cbx_c_value read_comparison(struct reader *r)
{
    struct cbx_c_value left = read_primary(r);
    for (;;) {
        size_t o = 0;
        while (o < 6 && !cbx_c_is(peek(r), operators[o])) {
            o++;
        }
        if (o == 6) {
            return left;
        }
        r->at++;
        struct cbx_c_value right = read_primary(r);
        left.value = compare(o, left.value, right.value);
        left.certain = left.certain && right.certain;
    }
}

static struct cbx_c_value read_and(struct reader *r)
{
    struct cbx_c_value left = read_comparison(r);
    while (take(r, "&&")) {
        struct cbx_c_value right = read_comparison(r);
        bool no = (left.certain && left.value == 0) || (right.certain && right.value == 0);
        left.certain = no || (left.certain && right.certain);
        left.value = left.value != 0 && right.value != 0;
    }
    return left;
}

static struct cbx_c_value read_or(struct reader *r)
{
    struct cbx_c_value left = read_and(r);
    while (take(r, "||")) {
        struct cbx_c_value right = read_and(r);
        bool yes = (left.certain && left.value != 0) || (right.certain && right.value != 0);
        left.certain = yes || (left.certain && right.certain);
        left.value = left.value != 0 || right.value != 0;
    }
    return left;
}

struct cbx_c_value cbx_c_condition(const struct cbx_c_tokens *tokens)
{
    struct reader r = { .tokens = tokens };
    struct cbx_c_value out = read_or(&r);
    /* an operator that is not supported */
    return r.at < tokens->count ? (struct cbx_c_value){ out.value, false } : out;
}
