/* SPDX-License-Identifier: MIT
 * Base64 (RFC 4648, section 4), with padding, and Base64url (section 5), without. */
#ifndef CBX_POLICIES_BASE_TEXT_BASE64_H
#define CBX_POLICIES_BASE_TEXT_BASE64_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

/* Appends the Base64 text of these bytes, at most 1 GiB. CBX_ETOOBIG if the buffer is full. */
int cbx_base64_encode(struct cbx_str bytes, struct cbx_buf *out);

/* Appends the decoded bytes of a text. False, and nothing is appended, for any text that
 * encoding does not produce: white space and missing padding are refused. */
bool cbx_base64_decode(struct cbx_str text, struct cbx_buf *out);

/* The same for Base64url without padding, as in tokens and keys of the web (RFC 7515, section
 * 2): '-' and '_' for '+' and '/', and no '='. */
int cbx_base64url_encode(struct cbx_str bytes, struct cbx_buf *out);
bool cbx_base64url_decode(struct cbx_str text, struct cbx_buf *out);

#endif
