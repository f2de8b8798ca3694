/* SPDX-License-Identifier: MIT
 * tree-sitter queries of rules, with their text predicates:
 *   (#eq? @a "text") (#eq? @a @b) (#match? @a "regex") (#any-of? @a "x" "y"), each also with "not-"
 *   in front. Regular expressions are POSIX extended ones, regex(7). A capture that stands for
 *   several nodes must hold for all of them. Other predicates are errors. */
#ifndef CBX_ANALYZER_FACTS_QUERIES_H
#define CBX_ANALYZER_FACTS_QUERIES_H

#include "policies/policy.h"

#include <tree_sitter/api.h>

/* Checks that the query compiles with the language's grammar and has only supported predicates.
 * CBX_EPOLICY with the error otherwise. */
int cbx_query_check(enum cbx_language language, struct cbx_str query, struct cbx_err *err);

/* Calls `found` for the first capture of each match, until it returns false. A query that cannot
 * be evaluated (it does not compile, has too many matches, or a text is too long for a regular
 * expression) counts as found. */
void cbx_query_run(struct cbx_str query, const TSTree *tree, struct cbx_str text,
                   bool (*found)(void *context, uint32_t start, uint32_t end, const char *what),
                   void *context);

#endif
