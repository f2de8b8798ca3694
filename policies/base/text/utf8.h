/* SPDX-License-Identifier: MIT
 * Characters of UTF-8 (RFC 3629). Alone in a header, because programs that run inside containers
 * use it too. */
#ifndef CBX_POLICIES_BASE_TEXT_UTF8_H
#define CBX_POLICIES_BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* True if the byte is not the first of a character. */
static inline bool cbx_utf8_continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Returns the length of the character at the start of `left` bytes, at least one; 0 if it is
 * malformed: overlong, a surrogate, beyond U+10FFFF, or cut. */
static inline size_t cbx_utf8_bytes(const char *text, size_t left)
{
    unsigned char c = (unsigned char)text[0];
    if (c < 0x80) {
        return 1;
    }
    size_t n = 0;
    if (c >= 0xC2 && c <= 0xDF) {
        n = 2;
    } else if ((c & 0xF0) == 0xE0) {
        n = 3;
    } else if (c >= 0xF0 && c <= 0xF4) {
        n = 4;
    }
    if (n == 0 || n > left) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if (!cbx_utf8_continues(text[i])) {
            return 0;
        }
    }
    unsigned char second = (unsigned char)text[1];
    bool overlong = (c == 0xE0 && second < 0xA0) || (c == 0xF0 && second < 0x90);
    bool surrogate = c == 0xED && second > 0x9F;
    bool beyond = c == 0xF4 && second > 0x8F;
    return overlong || surrogate || beyond ? 0 : n;
}

#endif
