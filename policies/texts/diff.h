/* SPDX-License-Identifier: MIT
 * The differences between two policies: actions that one of them allows and the other does not. */
#ifndef CBX_POLICIES_TEXTS_DIFF_H
#define CBX_POLICIES_TEXTS_DIFF_H

#include "policies/policy.h"

/* One difference: `text` is one line, `more` is true if the second policy allows more by it. */
struct cbx_policy_difference {
    bool more;
    struct cbx_str text;
};

/* Calls `tell` for every difference between the resolved policies, in the order of the language's
 * keys. Messages, hints, references and tests are not compared. */
void cbx_policy_diff(const struct cbx_policy *a, const struct cbx_policy *b,
                     void (*tell)(void *context, const struct cbx_policy_difference *difference),
                     void *context);

#endif
