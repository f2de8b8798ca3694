/* SPDX-License-Identifier: MIT
 * Escapes, by a table of prefix, base, number of digits, and suffix. */
#include "gateway/executor/redact/redact_escape.h"

#include "policies/base/text/hex.h"

#include <stdbool.h>
#include <string.h>

/* A longer prefix precedes a shorter one. */
static const struct {
    const char *before;
    unsigned base;
    size_t least, most; /* minimum and maximum number of digits */
    char after;         /* suffix; '\0' = none; ';' may be missing */
    bool code_point;    /* true for a code point, false for a byte */
} numbers[] = {
    { "\\u{", 16, 1, 6, '}', true },  { "\\U", 16, 8, 8, '\0', true },
    { "\\u", 16, 4, 4, '\0', true },  { "\\x", 16, 2, 2, '\0', false },
    { "\\", 8, 1, 3, '\0', false },   { "%u", 16, 4, 4, '\0', true },
    { "%25", 16, 2, 2, '\0', false }, { "%", 16, 2, 2, '\0', false },
    { "=", 16, 2, 2, '\0', false },   { "&#x", 16, 1, 6, ';', true },
    { "&#X", 16, 1, 6, ';', true },   { "&#", 10, 1, 7, ';', true },
};

static const struct {
    const char *text;
    const char *meaning;
} names[] = {
    { "&amp;", "&" },       { "&lt;", "<" },        { "&gt;", ">" },        { "&quot;", "\"" },
    { "&apos;", "'" },      { "\xe2\x80\x8b", "" }, { "\xe2\x80\x8c", "" }, { "\xe2\x80\x8d", "" },
    { "\xe2\x81\xa0", "" }, { "\xef\xbb\xbf", "" }, { "\xc2\xad", "" },
};

const uint8_t cbx_redact_begins_escape[256] = {
    ['\\'] = 1, ['%'] = 1, ['='] = 1, ['&'] = 1, [0x1b] = 1, [0xe2] = 1, [0xef] = 1, [0xc2] = 1,
};

/* Compares `text` with the bytes at p. HALF: they end within it. */
static enum cbx_redact_escape starts(const uint8_t *p, size_t len, const char *text)
{
    size_t n = strlen(text), have = len < n ? len : n;
    return memcmp(p, text, have) != 0 ? CBX_REDACT_NO_ESCAPE
           : have < n                 ? CBX_REDACT_HALF_ESCAPE
                                      : CBX_REDACT_ESCAPED;
}

static size_t write_code_point(uint32_t c, uint8_t out[4])
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) {
        out[i] = (uint8_t)(0x80 | (c & 0x3f));
    }
    out[0] = (uint8_t)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
    return n;
}

static enum cbx_redact_escape read_number(size_t row, const uint8_t *p, size_t len, uint8_t out[4],
                                          size_t *out_len, size_t *used)
{
    size_t at = strlen(numbers[row].before), digits = 0;
    uint32_t value = 0;
    for (; digits < numbers[row].most && at < len; digits++, at++) {
        int digit = p[at] >= 'A' && p[at] <= 'F' ? p[at] - 'A' + 10 : cbx_hex_value((char)p[at]);
        if (digit < 0 || (unsigned)digit >= numbers[row].base) {
            break;
        }
        value = value * numbers[row].base + (unsigned)digit;
    }
    bool ended = at < len;
    if (!ended && (digits < numbers[row].most || numbers[row].after != '\0')) {
        return CBX_REDACT_HALF_ESCAPE;
    }
    if (digits < numbers[row].least || value > 0x10ffff ||
        (numbers[row].after == '}' && p[at] != '}')) {
        return CBX_REDACT_NO_ESCAPE;
    }
    *used = at + (numbers[row].after != '\0' && p[at] == (uint8_t)numbers[row].after ? 1 : 0);
    out[0] = (uint8_t)value;
    *out_len = numbers[row].code_point ? write_code_point(value, out) : 1;
    return CBX_REDACT_ESCAPED;
}

/* Reads ESC [ parameters letter. */
static enum cbx_redact_escape read_control(const uint8_t *p, size_t len, size_t *out_len,
                                           size_t *used)
{
    if (len >= 2 && p[1] != '[') {
        return CBX_REDACT_NO_ESCAPE;
    }
    for (size_t at = 2; at < len; at++) {
        if (p[at] >= 0x40 && p[at] <= 0x7e) {
            *used = at + 1;
            *out_len = 0;
            return CBX_REDACT_ESCAPED;
        }
    }
    return len < CBX_REDACT_ESCAPE_MAX ? CBX_REDACT_HALF_ESCAPE : CBX_REDACT_NO_ESCAPE;
}

/* Reads U+FF01 to U+FF5E. */
static enum cbx_redact_escape read_wide(const uint8_t *p, size_t len, uint8_t out[4],
                                        size_t *out_len, size_t *used)
{
    if (len < 3) {
        return len < 2 || p[1] == 0xbc || p[1] == 0xbd || p[1] == 0xbb ? CBX_REDACT_HALF_ESCAPE
                                                                       : CBX_REDACT_NO_ESCAPE;
    }
    uint32_t c = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
    if (c < 0xff01 || c > 0xff5e) {
        return CBX_REDACT_NO_ESCAPE;
    }
    out[0] = (uint8_t)(c - 0xff01 + '!');
    *out_len = 1;
    *used = 3;
    return CBX_REDACT_ESCAPED;
}

enum cbx_redact_escape cbx_redact_unescape(const uint8_t *p, size_t len, uint8_t out[4],
                                           size_t *out_len, size_t *used)
{
    enum cbx_redact_escape best = CBX_REDACT_NO_ESCAPE;
    if (p[0] == 0x1b) {
        return read_control(p, len, out_len, used);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((uint8_t)names[i].text[0] != p[0]) {
            continue;
        }
        enum cbx_redact_escape found = starts(p, len, names[i].text);
        if (found == CBX_REDACT_ESCAPED) {
            *used = strlen(names[i].text);
            *out_len = strlen(names[i].meaning);
            memcpy(out, names[i].meaning, *out_len);
            return found;
        }
        best = found != CBX_REDACT_NO_ESCAPE ? found : best;
    }
    if (p[0] == 0xef && best == CBX_REDACT_NO_ESCAPE) {
        return read_wide(p, len, out, out_len, used);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        enum cbx_redact_escape found = (uint8_t)numbers[i].before[0] == p[0]
                                           ? starts(p, len, numbers[i].before)
                                           : CBX_REDACT_NO_ESCAPE;
        if (found == CBX_REDACT_ESCAPED) {
            found = read_number(i, p, len, out, out_len, used);
        }
        if (found != CBX_REDACT_NO_ESCAPE) {
            return found;
        }
    }
    return best;
}
