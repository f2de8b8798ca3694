/* SPDX-License-Identifier: MIT
 * Base64 (RFC 4648, section 4), with padding. */
#ifndef CBX_POLICIES_BASE_BASE64_H
#define CBX_POLICIES_BASE_BASE64_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

/* Appends the text of these bytes, at most 1 GiB. CBX_ETOOBIG when the buffer is full. */
int cbx_base64_encode(struct cbx_str bytes, struct cbx_buf *out);

/* Appends the bytes that a text means. False, and nothing is appended, when it is anything else than what
 * encoding gives: no white space, no missing padding. */
bool cbx_base64_decode(struct cbx_str text, struct cbx_buf *out);

#endif
