/* SPDX-License-Identifier: MIT
 * The header field of a body that a browser stores as a file and never shows (RFC 6266). */
#ifndef CBX_GATEWAY_FRONT_HTTP_ATTACHMENT_H
#define CBX_GATEWAY_FRONT_HTTP_ATTACHMENT_H

#include "policies/base/buf.h"

/* Appends the value of Content-Disposition for a file of this path, whose bytes are hostile: the
 * name is the part after the last '/', without control characters and backslashes. A name that
 * is not plain ASCII is given twice, with '_' for characters that cannot be quoted, and
 * percent-encoded (RFC 8187), which every current client prefers. A path without a name gives
 * "file". The value is printable ASCII. */
void cbx_http_attachment(struct cbx_str path, struct cbx_buf *out);

#endif
