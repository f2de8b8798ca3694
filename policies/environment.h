/* SPDX-License-Identifier: MIT
 * The variables that a program may have: names, never values. */
#ifndef CBX_POLICIES_ENVIRONMENT_H
#define CBX_POLICIES_ENVIRONMENT_H

#include "policies/policy.h"

enum {
    CBX_VARIABLE_NAME_MAX = 64,
    CBX_VARIABLES_MAX = 64,                /* variables that a caller sets */
    CBX_VARIABLES_BYTES_MAX = 64 * 1024,   /* bytes of their names and values */
    CBX_VARIABLES_GRANTED_MAX = 256 * 1024 /* bytes of the variables that a policy passes */
};

/* Checks that a program can have a variable of this name. CBX_EINVAL with the reason: it is no
 * name, or it changes the behaviour of programs and loaders (environment.def). */
int cbx_variable_check(struct cbx_str name, struct cbx_err *err);

/* True if the policy passes a variable of this name. */
bool cbx_variable_is_granted(const struct cbx_policy *policy, struct cbx_str name);

/* Checks that a caller may set the variable under this policy. A caller never sets a variable
 * that the policy passes. CBX_EINVAL with the reason. */
int cbx_variable_may_set(const struct cbx_policy *policy, struct cbx_str name, struct cbx_err *err);

#endif
