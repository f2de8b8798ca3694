/* SPDX-License-Identifier: MIT
 * The meaning of a language name from a client. Sessions and one-shots of REST and MCP run
 * notebook cells, so `python` means the dialect `ipython` everywhere: in a check, an execution,
 * a session and a tool. */
#ifndef CBX_GATEWAY_FRONT_DIALECT_H
#define CBX_GATEWAY_FRONT_DIALECT_H

#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/base/str.h"

/* Returns the language's name in judgements and permits (static). Case does not count; an empty
 * name is `python`. NULL and CBX_EINVAL, with the available names, for any other. */
const char *cbx_dialect_of(struct cbx_str name, struct cbx_err *err);

/* Returns the language of a session or an execution that names none (static). */
const char *cbx_dialect_default(void);

/* Returns the names for clients, in the order of the table of languages (static); NULL after the
 * last. */
const char *cbx_dialect_at(size_t index);

/* Appends those names to `out`, "python|javascript|..." with the separator "|". */
void cbx_dialect_list(const char *separator, struct cbx_buf *out);

/* Returns the client's name for it: the inverse. NULL gives "". */
const char *cbx_dialect_shown(const char *language);

#endif
