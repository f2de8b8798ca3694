/* SPDX-License-Identifier: MIT
 * Characters that are written as escapes. Private to redact*.c. */
#ifndef CBX_GATEWAY_EXECUTOR_REDACT_REDACT_ESCAPE_H
#define CBX_GATEWAY_EXECUTOR_REDACT_REDACT_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

enum { CBX_REDACT_ESCAPE_MAX = 16 };

/* Classification of the first bytes of a text. */
enum cbx_redact_escape {
    CBX_REDACT_NO_ESCAPE,
    CBX_REDACT_HALF_ESCAPE, /* more bytes are needed to decide */
    CBX_REDACT_ESCAPED,
};

/* Decodes \x41 \101 \u0041 \u{41} \U00000041 %41 %u0041 &#65; &#x41; &amp; =41, full-width
 * letters, and, as no character, terminal control sequences and characters without a width. Of
 * several backslashes only the last one begins an escape. `out` receives at most four bytes,
 * *out_len their number, *used the number of bytes of the escape. */
enum cbx_redact_escape cbx_redact_unescape(const uint8_t *p, size_t len, uint8_t out[4],
                                           size_t *out_len, size_t *used);

/* Nonzero if an escape may begin with this byte. */
extern const uint8_t cbx_redact_begins_escape[256];

#endif
