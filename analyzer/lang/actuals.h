/* SPDX-License-Identifier: MIT
 * Arguments of calls, evaluated when they are read. */
#ifndef CBX_ANALYZER_LANG_ACTUALS_H
#define CBX_ANALYZER_LANG_ACTUALS_H

#include "analyzer/lang/scope.h"

/* The arguments of a call, in the order of the source; evaluated lazily. */
struct cbx_actual {
    struct cbx_str keyword; /* empty: a positional argument */
    struct cbx_node *node;  /* evaluated in `scope` if `values` is NULL */
    struct cbx_scope *scope;
    const struct cbx_values *values;
};
enum { CBX_ACTUALS_MAX = 20 };
struct cbx_actuals {
    struct cbx_actual items[CBX_ACTUALS_MAX];
    uint32_t count;
    bool spread; /* true if further arguments are unknown (*args), or more than the cap */
    const struct cbx_values *unknown; /* values that have these (**os.environ); NULL = nothing */
};

void cbx_actuals_add(struct cbx_actuals *actuals, struct cbx_str keyword, struct cbx_node *node,
                     struct cbx_scope *scope, const struct cbx_values *values);
/* Returns the argument at a position, or with this keyword (NULL: none); NULL if the call does
 * not have it. */
struct cbx_actual *cbx_actual_find(struct cbx_actuals *actuals, uint32_t position,
                                   const char *keyword);
/* Returns the values of that argument; "anything" if the call does not have it. */
const struct cbx_values *cbx_actual_values(struct cbx_walk *walk, struct cbx_actuals *actuals,
                                           uint32_t position, const char *keyword);
/* Copies the arguments without the first `drop` positional ones, and with `first` (may be NULL)
 * before them. */
void cbx_actuals_shift(const struct cbx_actuals *from, uint32_t drop,
                       const struct cbx_values *first, struct cbx_actuals *out);

#endif
