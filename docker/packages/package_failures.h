/* SPDX-License-Identifier: MIT
 * The reason why an installer failed: hostile lines in, one fixed sentence out
 * (package_layers.def). Pure. */
#ifndef CBX_DOCKER_PACKAGES_PACKAGE_FAILURES_H
#define CBX_DOCKER_PACKAGES_PACKAGE_FAILURES_H

#include "policies/base/err.h"

enum { CBX_FAILURE_WORDS = 3, CBX_FAILURE_WORD_BYTES = 101, CBX_FAILURE_LAST_BYTES = 161 };

/* Zero-initialise it: no line was read. */
struct cbx_failure {
    size_t row; /* row of package_layers.def, from 1; 0 = no row matched so far */
    char words[CBX_FAILURE_WORDS][CBX_FAILURE_WORD_BYTES];
    char last[CBX_FAILURE_LAST_BYTES]; /* the last line that is not empty: printable ASCII */
};

/* Reads a line of an installer's standard error. */
void cbx_failure_take(struct cbx_failure *failure, struct cbx_str line);

/* Fails with the sentence of the best row, else with a general one that has the last line;
 * returns its code. */
int cbx_failure_fail(const struct cbx_failure *failure, struct cbx_err *err);

#endif
