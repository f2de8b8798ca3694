/* SPDX-License-Identifier: MIT
 * Characters that are written as escapes. Private to redact*.c. */
#ifndef CBX_GATEWAY_EXECUTOR_REDACT_REDACT_ESCAPE_H
#define CBX_GATEWAY_EXECUTOR_REDACT_REDACT_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

enum { CBX_REDACT_ESCAPE_MAX = 16 };

/* What the first bytes of a text are. */
enum cbx_redact_escape {
    CBX_REDACT_NO_ESCAPE,
    CBX_REDACT_HALF_ESCAPE, /* more bytes are needed to tell */
    CBX_REDACT_ESCAPED,
};

/* Reads \x41 \101 \u0041 \u{41} \U00000041 %41 %u0041 &#65; &#x41; &amp; =41, control sequences of terminals and characters without a
 * width, which stand for nothing, and full-width letters. Of several backslashes each but the last one is no escape. `out` receives
 * at most four bytes, *out_len their number, *used those of the escape. */
enum cbx_redact_escape cbx_redact_unescape(const uint8_t *p, size_t len, uint8_t out[4],
                                           size_t *out_len, size_t *used);

/* May an escape begin with this byte? */
extern const uint8_t cbx_redact_begins_escape[256];

#endif
