/* SPDX-License-Identifier: MIT
 * The headers of a project that a file in C names: their macros decide how the file is read. */
#ifndef CBX_ANALYZER_LINT_FILES_C_HEADERS_H
#define CBX_ANALYZER_LINT_FILES_C_HEADERS_H

#include "policies/base/buf.h"

enum { CBX_HEADERS_MAX = 64, CBX_HEADERS_MAX_BYTES = 1024 * 1024 };

/* Appends the headers that `text` includes, and the headers that these include, as entries
 * (policies/ledger.h); an entry has the name that the #include gives. A header is searched for in
 * the folder of the file that names it, and in each folder around `path`, there also below include/
 * and src/. Only regular files named *.h, *.hh, *.hpp, *.inc, *.def or *.c are read, no symbolic
 * links; at most CBX_HEADERS_MAX files of CBX_HEADERS_MAX_BYTES together. A header that is not
 * found, such as one of the system, is left out. */
void cbx_headers_collect(struct cbx_str path, struct cbx_str text, struct cbx_buf *out);

/* Returns true if a line outside of comments and conditions, other than the guard against repeated
 * inclusion, begins a class, a namespace or a template: the file is C++, whatever its name. */
bool cbx_headers_is_cplusplus(struct cbx_str text);

#endif
