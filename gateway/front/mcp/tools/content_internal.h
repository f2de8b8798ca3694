/* SPDX-License-Identifier: MIT
 * A CallToolResult during construction: the text, the structured part, and further blocks. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_CONTENT_INTERNAL_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_CONTENT_INTERNAL_H

#include "gateway/front/mcp/tools/content.h"

struct cbx_content {
    struct cbx_buf text;
    json_t *structured, *blocks; /* owned until the result takes them; blocks follow the text */
};

/* Begins a result, whose first member is the status. */
void cbx_content_init(struct cbx_content *c, const char *status);

/* Sets a member of the structured part, unless the text is empty. */
void cbx_content_set(struct cbx_content *c, const char *name, struct cbx_str text);

/* Adds the last line: the id of the decision in the audit log, unless it is empty. */
void cbx_content_add_audit(struct cbx_content *c, struct cbx_str id);

/* Adds the first few findings that a policy in mode log-only did not enforce (relaxed.h); NULL =
 * none. */
void cbx_content_add_warnings(struct cbx_content *c, const json_t *warnings);

/* Returns the maximum number of characters of that text. */
size_t cbx_content_warnings_cost(const json_t *warnings);

/* Returns the result (new reference); `c` must not be used afterwards. */
json_t *cbx_content_finish(struct cbx_content *c, bool is_error);

/* Size units for people: the largest unit with at least one. Never NULL. */
struct cbx_content_unit {
    double bytes;
    const char *name;
};
const struct cbx_content_unit *cbx_content_unit_of(double bytes);

/* Appends a size in its unit: "36 bytes", "9.5 kB". */
void cbx_content_add_size(struct cbx_buf *to, size_t bytes);

/* Append a text of the policy or of the source as one printable line, after `before`, unless it
 * is empty; and return it as a value (new reference). */
void cbx_content_add_escaped(struct cbx_buf *to, const char *before, const json_t *text);
json_t *cbx_content_escape(const json_t *text);

#endif
