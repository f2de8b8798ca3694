/* SPDX-License-Identifier: MIT
 * Runs the tests in a policy's rules: `deny` snippets must match their rule, `allow` snippets must
 * not. */
#ifndef CBX_ANALYZER_POLICY_TEST_H
#define CBX_ANALYZER_POLICY_TEST_H

#include "policies/policy.h"

/* A snippet that failed. */
struct cbx_policy_test_failure {
    /* NULL: `snippet` is not code but of `kind`, and `language` has the reason of the failure */
    const struct cbx_rule *rule;
    const char *kind; /* "mount", "host", "variable" */
    struct cbx_str snippet;
    const char *language;
    bool should_match;
};

struct cbx_policy_test_report {
    size_t run, failed, untested; /* number of snippets, and of rules without any */
};

/* Runs the tests. Snippets of a rule for python are judged as notebook cells, so that shell lines
 * and magics can be tested; snippets of a rule for several languages are judged as the first of
 * them. Of inherited rules only the `deny` snippets run. Calls `tell` for every failure. */
void cbx_policy_test(const struct cbx_policy *policy,
                     void (*tell)(void *context, const struct cbx_policy_test_failure *failure),
                     void *context, struct cbx_policy_test_report *out);

/* Returns the name of the language in which a rule's snippets are judged. */
const char *cbx_policy_test_language(const struct cbx_rule *rule);

#endif
