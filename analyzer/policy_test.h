/* SPDX-License-Identifier: MIT
 * Runs the tests that stand in a policy's rules: `deny` snippets must make their rule match,
 * `allow` snippets must not. */
#ifndef CBX_ANALYZER_POLICY_TEST_H
#define CBX_ANALYZER_POLICY_TEST_H

#include "policies/policy.h"

/* One snippet that did not come out as its rule says. */
struct cbx_policy_test_failure {
    const struct cbx_rule *rule; /* NULL: the snippet is a mount, and language says why */
    struct cbx_str snippet;
    const char *language; /* as which it was judged */
    bool should_match;
};

struct cbx_policy_test_report {
    size_t run, failed, untested; /* snippets; rules without any */
};

/* A rule for python is tried as a notebook cell, so shell lines and magics can be tested; one for
 * several languages as the first of them. Of rules that the policy inherited only the `deny`
 * snippets are run. Calls `tell` for every failure. */
void cbx_policy_test(const struct cbx_policy *policy,
                     void (*tell)(void *context, const struct cbx_policy_test_failure *failure),
                     void *context, struct cbx_policy_test_report *out);

/* The name of the language that a rule's snippets are judged as. */
const char *cbx_policy_test_language(const struct cbx_rule *rule);

#endif
