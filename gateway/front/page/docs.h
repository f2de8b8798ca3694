/* SPDX-License-Identifier: MIT
 * The description of the REST API for people, at GET /docs: HTML made from the OpenAPI document,
 * so both are consistent. Pure. */
#ifndef CBX_GATEWAY_FRONT_PAGE_DOCS_H
#define CBX_GATEWAY_FRONT_PAGE_DOCS_H

#include "policies/base/buf.h"
#include "policies/base/text/json.h"

/* Appends the whole document, whose style is /page.css. `openapi` is the document of GET
 * /openapi.json. */
void cbx_docs_write(const json_t *openapi, struct cbx_buf *out);

#endif
