/* SPDX-License-Identifier: MIT
 * Paths in URIs (RFC 3986). */
#ifndef CBX_GATEWAY_FRONT_URI_H
#define CBX_GATEWAY_FRONT_URI_H

#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/base/str.h"

/* Appends a path, percent-encoded except for unreserved characters and '/' (sections 2.1, 2.3). */
void cbx_uri_add(struct cbx_buf *out, struct cbx_str path);

/* Appends the decoded path. CBX_EINVAL for a '%' that begins no escape, an escaped NUL, and a
 * path that is no UTF-8 or too long for `out`. */
int cbx_uri_decode(struct cbx_str text, struct cbx_buf *out, struct cbx_err *err);

#endif
