/* SPDX-License-Identifier: MIT
 * Unpaired surrogates in JSON. */
#include "gateway/front/mcp/protocol/unpaired.h"

#include <stdint.h>
#include <string.h>

enum { ESCAPE_BYTES = 6, NOT_AN_ESCAPE = -1 };

/* Returns the value of the \uXXXX at `at`. */
static int32_t code_unit(const char *text, size_t len, size_t at)
{
    if (len < ESCAPE_BYTES || at > len - ESCAPE_BYTES || text[at] != '\\' || text[at + 1] != 'u') {
        return NOT_AN_ESCAPE;
    }
    int32_t value = 0;
    for (size_t i = at + 2; i < at + ESCAPE_BYTES; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = memchr(digits, text[i], sizeof(digits) - 1);
        if (digit == NULL) {
            return NOT_AN_ESCAPE;
        }
        int32_t n = (int32_t)(digit - digits);
        value = value << 4 | (n > 15 ? n - 6 : n);
    }
    return value;
}

static bool is_high(int32_t unit)
{
    return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low(int32_t unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

struct reading {
    char *text;
    size_t len;
    bool in_string;
    size_t began;          /* start of the last string, after its quote */
    size_t ended;          /* position of its closing quote */
    size_t name, name_len; /* the last string before a colon */
    struct cbx_unpaired *first;
};

static void note_first(const struct reading *r, size_t at)
{
    if (r->first->escape[0] != '\0') {
        return;
    }
    size_t max = sizeof(r->first->name) - 1, len = r->name_len < max ? r->name_len : max;
    memcpy(r->first->escape, r->text + at, ESCAPE_BYTES);
    memcpy(r->first->name, r->text + r->name, len);
    r->first->name[len] = '\0';
}

/* Returns the bytes of the escape at `at`; both halves of a pair. */
static size_t take_escape(const struct reading *r, size_t at)
{
    int32_t unit = code_unit(r->text, r->len, at);
    if (is_high(unit) && is_low(code_unit(r->text, r->len, at + ESCAPE_BYTES))) {
        return 2 * (size_t)ESCAPE_BYTES;
    }
    if (is_high(unit) || is_low(unit)) {
        note_first(r, at);
        memcpy(r->text + at, "\\ufffd", ESCAPE_BYTES);
    }
    return 2;
}

static void take_quote(struct reading *r, size_t at)
{
    if (r->in_string) {
        r->ended = at;
    } else {
        r->began = at + 1;
    }
    r->in_string = !r->in_string;
}

bool cbx_unpaired_replace(char *text, size_t len, struct cbx_unpaired *first)
{
    struct reading r = { .text = text, .len = len, .first = first };
    *first = (struct cbx_unpaired){ 0 };
    for (size_t at = 0; at < len;) {
        size_t bytes = 1;
        if (text[at] == '"') {
            take_quote(&r, at);
        } else if (r.in_string && text[at] == '\\') {
            bytes = take_escape(&r, at);
        } else if (!r.in_string && text[at] == ':') {
            r.name = r.began;
            r.name_len = r.ended > r.began ? r.ended - r.began : 0;
        }
        at += bytes;
    }
    return first->escape[0] != '\0';
}
