/* SPDX-License-Identifier: MIT
 * Base64 (RFC 4648, section 4), with padding, and Base64url (section 5), without. */
#ifndef CBX_POLICIES_BASE_BASE64_H
#define CBX_POLICIES_BASE_BASE64_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

/* Appends the text of these bytes, at most 1 GiB. CBX_ETOOBIG when the buffer is full. */
int cbx_base64_encode(struct cbx_str bytes, struct cbx_buf *out);

/* Appends the bytes that a text means. False, and nothing is appended, when it is anything else than what
 * encoding gives: no white space, no missing padding. */
bool cbx_base64_decode(struct cbx_str text, struct cbx_buf *out);

/* The same for Base64url without padding, as tokens and keys of the web have it (RFC 7515, section 2): '-' and '_' for
 * '+' and '/', and no '='. */
int cbx_base64url_encode(struct cbx_str bytes, struct cbx_buf *out);
bool cbx_base64url_decode(struct cbx_str text, struct cbx_buf *out);

#endif
