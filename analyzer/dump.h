/* SPDX-License-Identifier: MIT
 * The stages of an analysis as text, for authors of rules. */
#ifndef CBX_ANALYZER_DUMP_H
#define CBX_ANALYZER_DUMP_H

#include "analyzer/analyze.h"
#include "policies/base/buf.h"

/* Appends the syntax tree (one node per line, indented, with its place) of the text that would
 * run. CBX_EINVAL for an unknown language or a source that cannot be read; CBX_ETOOBIG over the
 * buffer's cap. */
int cbx_dump_tree(const struct cbx_policy *policy, const struct cbx_analysis *request,
                  struct cbx_arena *arena, struct cbx_buf *out, struct cbx_err *err);

/* Appends the facts, one per line: place, kind, name, arguments. The same errors. */
int cbx_dump_facts(const struct cbx_policy *policy, const struct cbx_analysis *request,
                   struct cbx_arena *arena, struct cbx_buf *out, struct cbx_err *err);

#endif
