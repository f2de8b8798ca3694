/* SPDX-License-Identifier: MIT
 * Which variables a program may have: names, never values. */
#ifndef CBX_POLICIES_ENVIRONMENT_H
#define CBX_POLICIES_ENVIRONMENT_H

#include "policies/policy.h"

enum {
    CBX_VARIABLE_NAME_MAX = 64,
    CBX_VARIABLES_MAX = 64,                /* that a caller sets */
    CBX_VARIABLES_BYTES_MAX = 64 * 1024,   /* of their names and values */
    CBX_VARIABLES_GRANTED_MAX = 256 * 1024 /* of those that a policy passes */
};

/* Can a program have a variable of this name? CBX_EINVAL with the reason: it is no name, or programs and loaders obey it
 * (environment.def). */
int cbx_variable_check(struct cbx_str name, struct cbx_err *err);

/* Does the policy pass a variable of this name? */
bool cbx_variable_is_granted(const struct cbx_policy *policy, struct cbx_str name);

/* May a caller set it under this policy? A caller never sets what the policy passes. CBX_EINVAL with the reason. */
int cbx_variable_may_set(const struct cbx_policy *policy, struct cbx_str name, struct cbx_err *err);

#endif
