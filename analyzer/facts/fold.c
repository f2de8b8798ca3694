/* SPDX-License-Identifier: MIT
 * Folds constant texts. */
#include "analyzer/facts/fold.h"

#include "policies/base/text/hex.h"

#include <errno.h>
#include <stdlib.h>
#include <utf8proc.h>

static const struct cbx_str no_text;

struct cbx_str cbx_fold_concat(struct cbx_arena *arena, struct cbx_str a, struct cbx_str b)
{
    if (a.p == NULL || b.p == NULL ||
        a.len + b.len > CBX_FOLD_MAX_BYTES) { /* a result with an unknown part is unknown */
        return no_text;
    }
    char *p = cbx_arena_alloc(arena, a.len + b.len + 1);
    if (p == NULL) {
        return no_text;
    }
    if (a.len > 0) { /* the address of an empty slice may be NULL */
        memcpy(p, a.p, a.len);
    }
    if (b.len > 0) {
        memcpy(p + a.len, b.p, b.len);
    }
    return (struct cbx_str){ .p = p, .len = a.len + b.len };
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

struct cbx_str cbx_fold_trim(struct cbx_str text)
{
    while (text.len > 0 && is_space(text.p[0])) {
        text = cbx_str_sub(text, 1, text.len);
    }
    while (text.len > 0 && is_space(text.p[text.len - 1])) {
        text.len--;
    }
    bool edges = text.len > 0 &&
                 ((unsigned char)text.p[0] >= 0x80 || (unsigned char)text.p[text.len - 1] >= 0x80);
    return edges ? no_text : text; /* Unicode has more spaces */
}

static int base64_digit(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    if (c == '+' || c == '-') {
        return 62;
    }
    return c == '/' || c == '_' ? 63 : -1;
}

struct cbx_str cbx_fold_base64(struct cbx_arena *arena, struct cbx_str text)
{
    char *p = text.len <= CBX_FOLD_MAX_BYTES ? cbx_arena_alloc(arena, text.len + 1) : NULL;
    size_t n = 0;
    uint32_t bits = 0;
    int have = 0;
    bool ended = false;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        int digit = base64_digit((unsigned char)text.p[i]);
        ended |= text.p[i] == '=';
        if (is_space(text.p[i]) || text.p[i] == '=') {
            continue;
        }
        if (digit < 0 || ended) {
            return no_text; /* some decoders skip this character, some stop there */
        }
        bits = bits << 6 | (uint32_t)digit;
        have += 6;
        if (have >= 8) {
            have -= 8;
            p[n++] = (char)(bits >> have & 0xFF);
        }
    }
    return (struct cbx_str){ .p = p, .len = n };
}

struct cbx_str cbx_fold_hex(struct cbx_arena *arena, struct cbx_str text)
{
    char *p = text.len <= CBX_FOLD_MAX_BYTES ? cbx_arena_alloc(arena, text.len + 1) : NULL;
    size_t n = 0;
    int high = -1;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        int digit = cbx_hex_value(text.p[i]);
        if (digit < 0 && is_space(text.p[i])) {
            continue;
        }
        if (digit < 0) {
            return no_text; /* some decoders stop there, some fail */
        }
        if (high < 0) {
            high = digit;
        } else {
            p[n++] = (char)(high << 4 | digit);
            high = -1;
        }
    }
    return (struct cbx_str){ .p = p, .len = n };
}

struct cbx_str cbx_fold_rot13(struct cbx_arena *arena, struct cbx_str text)
{
    struct cbx_str copy = text.len <= CBX_FOLD_MAX_BYTES ? cbx_arena_copy(arena, text) : no_text;
    for (size_t i = 0; copy.p != NULL && i < copy.len; i++) {
        char c = copy.p[i], base = c >= 'a' && c <= 'z' ? 'a' : c >= 'A' && c <= 'Z' ? 'A' : 0;
        ((char *)(uintptr_t)copy.p)[i] = base ? (char)(base + (c - base + 13) % 26) : c;
    }
    return copy;
}

struct cbx_str cbx_fold_case(struct cbx_arena *arena, struct cbx_str text, bool upper)
{
    struct cbx_str copy = text.len <= CBX_FOLD_MAX_BYTES && cbx_str_is_ascii(text)
                              ? cbx_arena_copy(arena, text)
                              : no_text;
    for (size_t i = 0; copy.p != NULL && i < copy.len; i++) {
        char c = copy.p[i];
        ((char *)(uintptr_t)copy.p)[i] = upper && c >= 'a' && c <= 'z'    ? (char)(c - 32)
                                         : !upper && c >= 'A' && c <= 'Z' ? (char)(c + 32)
                                                                          : c;
    }
    return copy;
}

struct cbx_str cbx_fold_replace(struct cbx_arena *arena, struct cbx_str text, struct cbx_str from,
                                struct cbx_str to)
{
    if (from.len == 0) {
        return text;
    }
    struct cbx_str out = CBX_STR("");
    for (size_t at = 0; out.p != NULL;) {
        const char *hit =
            at < text.len ? memmem(text.p + at, text.len - at, from.p, from.len) : NULL;
        size_t end = hit != NULL ? (size_t)(hit - text.p) : text.len;
        out = cbx_fold_concat(arena, out, cbx_str_sub(text, at, end));
        if (hit == NULL || out.p == NULL) {
            break;
        }
        out = cbx_fold_concat(arena, out, to);
        at = end + from.len;
    }
    return out;
}

struct cbx_str cbx_fold_replace_first(struct cbx_arena *arena, struct cbx_str text,
                                      struct cbx_str from, struct cbx_str to)
{
    const char *hit =
        text.len > 0 && from.len > 0 ? memmem(text.p, text.len, from.p, from.len) : NULL;
    if (hit == NULL) {
        return from.len > 0 ? text : cbx_fold_concat(arena, to, text);
    }
    size_t at = (size_t)(hit - text.p);
    return cbx_fold_concat(arena, cbx_fold_concat(arena, cbx_str_sub(text, 0, at), to),
                           cbx_str_sub(text, at + from.len, text.len));
}

struct cbx_str cbx_fold_codepoint(struct cbx_arena *arena, int64_t code)
{
    utf8proc_uint8_t bytes[4];
    if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return no_text;
    }
    utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)code, bytes);
    return cbx_arena_copy(arena, (struct cbx_str){ .p = (const char *)bytes, .len = (size_t)n });
}

/* Returns the base for the letter after a leading zero; 10 = none. */
static int base_of(char letter)
{
    switch (letter) {
    case 'x':
        return 16;
    case 'o':
        return 8;
    case 'b':
        return 2;
    default:
        return 10;
    }
}

bool cbx_fold_integer(struct cbx_str text, int64_t *out)
{
    char digits[72];
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + 1 < sizeof(digits); i++) {
        if (text.p[i] != '_') {
            digits[n++] = text.p[i];
        }
    }
    digits[n] = '\0';
    char prefix = n > 2 && digits[0] == '0' ? (char)(digits[1] | 32) : 0;
    int base = base_of(prefix);
    char *end;
    errno = 0;
    int64_t value = strtoll(base == 10 ? digits : digits + 2, &end, base);
    if (n == 0 || n + 1 == sizeof(digits) || *end != '\0' || errno != 0) {
        return false;
    }
    *out = value;
    return true;
}

struct cbx_str cbx_fold_nfkc(struct cbx_arena *arena, struct cbx_str name)
{
    bool ascii = true;
    for (size_t i = 0; i < name.len; i++) {
        ascii &= (unsigned char)name.p[i] < 0x80;
    }
    if (ascii) {
        return name;
    }
    utf8proc_uint8_t *out = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)name.p, (utf8proc_ssize_t)name.len,
                                      &out, UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE);
    struct cbx_str folded =
        n > 0 ? cbx_arena_copy(arena, (struct cbx_str){ .p = (char *)out, .len = (size_t)n })
              : name;
    free(out);
    return folded.p != NULL ? folded : name;
}

/* Reads up to `digits` hex digits; -1 if there is none. */
static int64_t take_hex(struct cbx_str text, size_t *i, int digits)
{
    int64_t value = -1;
    for (int d = 0; d < digits && *i < text.len; d++) {
        int digit = cbx_hex_value(text.p[*i]);
        if (digit < 0) {
            break;
        }
        value = (value < 0 ? 0 : value) * 16 + digit;
        (*i)++;
    }
    return value;
}

static int64_t take_escape(struct cbx_str text, size_t *i, bool python)
{
    static const char from[] = "ntrabfv0\\'\"`", to[] = "\n\t\r\a\b\f\v\0\\'\"`";
    char c = text.p[(*i)++];
    if ((c == 'U' || c == 'a') && !python) {
        return c;
    }
    if (c == 'x' || c == 'U' || (c == 'u' && !(*i < text.len && text.p[*i] == '{'))) {
        return take_hex(text, i, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    }
    if (c == 'u') {
        (*i)++;
        int64_t value = take_hex(text, i, 6);
        *i += *i < text.len && text.p[*i] == '}';
        return value;
    }
    if (c >= '0' && c <= '7') {
        int64_t value = c - '0';
        for (int d = 0; d < 2 && *i < text.len && text.p[*i] >= '0' && text.p[*i] <= '7'; d++) {
            value = value * 8 + (text.p[(*i)++] - '0');
        }
        return value;
    }
    const char *known = memchr(from, c, sizeof(from) - 1);
    return known != NULL ? to[known - from] : c == '\n' ? -2 : (unsigned char)c;
}

struct cbx_str cbx_fold_unescape(struct cbx_arena *arena, struct cbx_str text, bool python)
{
    if (text.len == 0 || memchr(text.p, '\\', text.len) == NULL) {
        return text;
    }
    char *p = text.len <= CBX_FOLD_MAX_BYTES * 16 ? cbx_arena_alloc(arena, text.len + 5) : NULL;
    size_t n = 0;
    for (size_t i = 0; p != NULL && i < text.len;) {
        if (text.p[i] != '\\' || i + 1 >= text.len) {
            p[n++] = text.p[i++];
            continue;
        }
        i++;
        if (python && text.p[i] == 'N' && i + 1 < text.len && text.p[i + 1] == '{') {
            return no_text;
        }
        int64_t code = take_escape(text, &i, python);
        if (code == -2) {
            continue;
        }
        utf8proc_uint8_t bytes[4];
        bool valid = code >= 0 && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
        utf8proc_ssize_t len = valid ? utf8proc_encode_char((utf8proc_int32_t)code, bytes) : 0;
        memcpy(p + n, bytes, (size_t)len);
        n += (size_t)len;
    }
    return (struct cbx_str){ .p = p, .len = n };
}
