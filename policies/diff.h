/* SPDX-License-Identifier: MIT
 * What one policy allows and another does not, out of what they say. */
#ifndef CBX_POLICIES_DIFF_H
#define CBX_POLICIES_DIFF_H

#include "policies/policy.h"

/* One difference: `text` is one line, `more` says that the second policy allows more by it. */
struct cbx_policy_difference {
    bool more;
    struct cbx_str text;
};

/* Calls `tell` for every difference between the resolved policies, in the order of the language's
 * keys. Messages, hints, tests and the like are none. */
void cbx_policy_diff(const struct cbx_policy *a, const struct cbx_policy *b,
                     void (*tell)(void *context, const struct cbx_policy_difference *difference),
                     void *context);

#endif
