/* SPDX-License-Identifier: MIT
 * Hexadecimal text. Encoding gives lower case; decoding accepts only the output of encoding, so
 * that equal bytes have one text. */
#ifndef CBX_POLICIES_BASE_TEXT_HEX_H
#define CBX_POLICIES_BASE_TEXT_HEX_H

#include "policies/base/str.h"

/* The digits in order: cbx_hex_digits[value] for value 0..15. */
extern const char cbx_hex_digits[17];

/* Returns the value of one digit of either case, -1 for any other character. */
int cbx_hex_value(char digit);

/* True if `text` is exactly `chars` lower-case digits. */
bool cbx_hex_is(struct cbx_str text, size_t chars);

/* Writes 2 * len digits and a NUL to `out`. */
void cbx_hex_encode(const void *bytes, size_t len, char *out);

/* Reads exactly 2 * len lower-case digits into len bytes. False for any other `text`; `out` is
 * unchanged then. */
bool cbx_hex_decode(struct cbx_str text, void *out, size_t len);

#endif
