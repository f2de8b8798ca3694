/* SPDX-License-Identifier: MIT
 * tree-sitter queries of rules, with their text predicates:
 *   (#eq? @a "text") (#eq? @a @b) (#match? @a "regex") (#any-of? @a "x" "y"), each also with "not-"
 *   in front. Regular expressions are POSIX extended ones, regex(7). A capture that stands for
 *   several nodes must hold for all of them. Other predicates are errors. */
#ifndef CBX_ANALYZER_QUERIES_H
#define CBX_ANALYZER_QUERIES_H

#include "policies/policy.h"

#include <tree_sitter/api.h>

/* Is this a query that the language's grammar knows, with predicates that we know? CBX_EPOLICY with
 * what is wrong. */
int cbx_query_check(enum cbx_language language, struct cbx_str query, struct cbx_err *err);

/* Calls `found` for the first capture of each match, until it returns false. What cannot be told (a
 * query that does not compile, too many matches, a text that is too long for a regular expression)
 * counts as found. */
void cbx_query_run(enum cbx_language language, struct cbx_str query, const TSTree *tree,
                   struct cbx_str text,
                   bool (*found)(void *context, uint32_t start, uint32_t end, const char *what),
                   void *context);

#endif
