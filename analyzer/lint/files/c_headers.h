/* SPDX-License-Identifier: MIT
 * The headers of a project that a file in C names: their macros decide how the file is read. */
#ifndef CBX_ANALYZER_LINT_FILES_C_HEADERS_H
#define CBX_ANALYZER_LINT_FILES_C_HEADERS_H

#include "policies/base/buf.h"

enum { CBX_HEADERS_MAX = 64, CBX_HEADERS_MAX_BYTES = 1024 * 1024 };

/* Appends the headers of `text`, and those of the headers, as entries (policies/ledger.h), the
 * name being that of the #include. A header is searched for in the folder of the file that names
 * it, and in each folder around `path`, there also below include/ and src/. Read are regular files
 * named *.h, *.hh, *.hpp, *.inc, *.def and *.c, no links; the first CBX_HEADERS_MAX of them, and
 * CBX_HEADERS_MAX_BYTES. What is not found is left out: the headers of the system, for example. */
void cbx_headers_collect(struct cbx_str path, struct cbx_str text, struct cbx_buf *out);

/* Returns true if a line outside of comments and conditions, other than the guard against repeated
 * inclusion, begins a class, a namespace or a template: the file is C++, whatever its name. */
bool cbx_headers_is_cplusplus(struct cbx_str text);

#endif
