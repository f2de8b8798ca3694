/* SPDX-License-Identifier: MIT
 * Hexadecimal text. */
#include "policies/base/text/hex.h"

const char cbx_hex_digits[17] = "0123456789abcdef";

int cbx_hex_value(char digit)
{
    int lower = (unsigned char)digit | 0x20;
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                          : -1;
}

bool cbx_hex_is(struct cbx_str text, size_t chars)
{
    size_t i = 0;
    while (i < text.len && cbx_hex_value(text.p[i]) >= 0 &&
           !(text.p[i] >= 'A' && text.p[i] <= 'F')) {
        i++;
    }
    return text.len == chars && i == chars;
}

void cbx_hex_encode(const void *bytes, size_t len, char *out)
{
    const unsigned char *in = bytes;
    for (size_t i = 0; i < len; i++) {
        *out++ = cbx_hex_digits[in[i] >> 4];
        *out++ = cbx_hex_digits[in[i] & 15];
    }
    *out = '\0';
}

bool cbx_hex_decode(struct cbx_str text, void *out, size_t len)
{
    unsigned char *to = out;
    if (len > SIZE_MAX / 2 || !cbx_hex_is(text, 2 * len)) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        to[i] =
            (unsigned char)(cbx_hex_value(text.p[2 * i]) << 4 | cbx_hex_value(text.p[2 * i + 1]));
    }
    return true;
}
