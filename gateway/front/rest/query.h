/* SPDX-License-Identifier: MIT
 * The query of a target, read by the same tables of fields as a body. Strict: texts that two
 * parsers could interpret differently are refused. */
#ifndef CBX_GATEWAY_FRONT_REST_QUERY_H
#define CBX_GATEWAY_FRONT_REST_QUERY_H

#include "policies/base/text/json.h"

enum { CBX_QUERY_BYTES_MAX = 4096 };

/* Reads `query`, as sent and without its '?', into `into`, which has the defaults. Fields are
 * strings and integers; an empty query has none. *out (new reference) has the strings that
 * `into` borrows. CBX_EINVAL or CBX_ETOOBIG with the found and the allowed value: over
 * CBX_QUERY_BYTES_MAX, an unknown or repeated name, a parameter without '=', a value out of its
 * bounds, a byte that RFC 3986 does not allow in a query, '+', a '%' without two digits, decoded
 * text with NUL or that is not UTF-8. */
int cbx_query_read(struct cbx_str query, const struct cbx_json_field *fields, size_t count,
                   void *into, json_t **out, struct cbx_err *err);

#endif
