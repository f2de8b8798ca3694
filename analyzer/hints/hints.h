/* SPDX-License-Identifier: MIT
 * What a finding tells its reader to write instead: a replacement that is computed from the
 * source, a row of hints.def, or the hint of the rule. Verdicts are made without it. */
#ifndef CBX_ANALYZER_HINTS_HINTS_H
#define CBX_ANALYZER_HINTS_HINTS_H

#include "analyzer/analyze.h"
#include "analyzer/facts/facts.h"

/* A denial that is about to be explained. */
struct cbx_hints {
    const struct cbx_policy *policy;
    const struct cbx_analysis *request;
    const struct cbx_facts *facts;
    struct cbx_str text; /* that the places of facts and findings are in */
    /* The symbol of the syntax error that is explained, and its hint; or empty. */
    struct cbx_str syntax_name, syntax_hint;
    struct cbx_arena *arena;
};

/* Sets the hint of the findings that deny or ask; the first of them alone when they are many. Code
 * that a hint names is allowed by the same policy: a clause whose code it denies is left out, so a
 * hint may be empty. The texts are borrowed from the rules or allocated in the arena. */
void cbx_hints_choose(const struct cbx_hints *hints, struct cbx_finding *findings, size_t count);

/* The clauses of a hint that the policy allows: those without code in backquotes, and those
 * whose code is allowed as a program of the request's language. Clauses are separated by "; ".
 * Code behind "instead of" and "remove" is what to replace, and is not judged. */
struct cbx_str cbx_hints_allowed(const struct cbx_hints *hints, struct cbx_str hint);

/* The rows of hints.def with an example; false behind the last. */
struct cbx_hint_row {
    enum cbx_language language;
    const char *symbol, *hint, *example;
};
bool cbx_hints_row(size_t index, struct cbx_hint_row *out);

#endif
