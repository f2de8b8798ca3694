/* SPDX-License-Identifier: MIT
 * Sets one member in the text of another program's JSON file: all other bytes (order, white space,
 * numbers, escapes, comments) stay as they are. Pure. */
#ifndef CBX_GATEWAY_CLI_INSTALL_JSON_SPLICE_H
#define CBX_GATEWAY_CLI_INSTALL_JSON_SPLICE_H

#include "policies/base/text/json.h"

enum { CBX_SPLICE_TEXT_MAX = 32 * 1024 * 1024 };

/* The effect on the member. */
enum cbx_splice { CBX_SPLICE_ADDED = 0, CBX_SPLICE_REPLACED, CBX_SPLICE_SAME };

/* Appends `text` with the member at the path of `count` names set to `value`, in the indentation
 * of the text. Missing objects of the path are added; text that is blank counts as "{}". *what
 * describes the change; for the same value the text is appended unchanged. Comments, and commas
 * behind last members, stay (JSONC). CBX_EINVAL if the text is not a JSON object, or a value of
 * the path is none. */
int cbx_json_splice(struct cbx_str text, const char *const *path, size_t count, const json_t *value,
                    enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);

/* Returns the text as cbx_json_splice reads it (new reference). CBX_EINVAL, with line and
 * column. */
int cbx_json_splice_read(struct cbx_str text, json_t **out, struct cbx_err *err);

/* Appends the value with line ends and an indentation: each level adds `unit`, and lines after
 * the first begin with `indent`. */
void cbx_json_pretty(const json_t *value, struct cbx_str indent, struct cbx_str unit,
                     struct cbx_buf *out);

#endif
