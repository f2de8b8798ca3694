/* SPDX-License-Identifier: MIT
 * Hints: a replacement for the code of a finding, computed from the source, from a row of
 * hints.def, or the hint of the rule. Verdicts do not depend on hints. */
#ifndef CBX_ANALYZER_HINTS_HINTS_H
#define CBX_ANALYZER_HINTS_HINTS_H

#include "analyzer/analyze.h"
#include "analyzer/facts/facts.h"

/* A denial to be explained. */
struct cbx_hints {
    const struct cbx_policy *policy;
    const struct cbx_analysis *request;
    const struct cbx_facts *facts;
    struct cbx_str text; /* the text in which facts and findings have their places */
    /* The symbol of the explained syntax error, and its hint; or empty. */
    struct cbx_str syntax_name, syntax_hint;
    struct cbx_arena *arena;
};

/* Sets the hints of the findings that deny or ask; only of the first ones if there are many. A
 * hint must not name code that the policy denies: such a clause is left out, so a hint may be
 * empty. The texts are borrowed from the rules or allocated in the arena. */
void cbx_hints_choose(const struct cbx_hints *hints, struct cbx_finding *findings, size_t count);

/* Returns the clauses of a hint that the policy allows: those without code in backquotes, and
 * those whose code is allowed as a program of the request's language. Clauses are separated by
 * "; ". Code after "instead of" and "remove" is the code to replace, and is not judged. */
struct cbx_str cbx_hints_allowed(const struct cbx_hints *hints, struct cbx_str hint);

/* Returns the rows of hints.def with an example; false after the last. */
struct cbx_hint_row {
    enum cbx_language language;
    const char *symbol, *hint, *example;
};
bool cbx_hints_row(size_t index, struct cbx_hint_row *out);

#endif
