/* SPDX-License-Identifier: MIT
 * Collects the values of the variables that policies pass, once, when a gateway starts. */
#ifndef CBX_GATEWAY_CLI_SETTINGS_CLI_VARIABLES_H
#define CBX_GATEWAY_CLI_SETTINGS_CLI_VARIABLES_H

#include "gateway/ipc/master/policy_set.h"

/* A variable of a policy, and the reason if it is missing or cannot be passed: for `codebox
 * doctor` and `policy explain`. `value_bytes` is 0 then. */
struct cbx_variable_state {
    struct cbx_str name, file;
    bool secret;
    size_t value_bytes;
    char problem[CBX_ERR_TEXT_BYTES]; /* reason; empty = none */
};

/* Calls `tell` for each variable of the policy, without keeping a value. */
void cbx_variables_check(const struct cbx_policy *policy,
                         void (*tell)(void *context, const struct cbx_variable_state *state),
                         void *context);

/* Reads the values of all variables that the policies pass into a sealed memory file
 * (gateway/ipc/master/variables.h), notes their names in `policies`, and overwrites the values
 * in this process's environment, so that no process that is forked later has them. *fd is 0 if
 * there are none. `only`, if it has words, lists the names to pass (each word may have several,
 * with commas); other variables of the policies are not passed, and a name that no policy passes
 * is CBX_EINVAL. A missing variable is a warning. CBX_EINVAL for a secret that cannot be
 * redacted, and for a file of a secret that others may read or change. */
int cbx_variables_collect(struct cbx_policies *policies, const char *const *only, size_t only_count,
                          int *fd, struct cbx_err *err);

/* For policies that are loaded while the gateway serves; the values were read and overwritten at
 * its start. Notes in `loaded` the variables that were granted to `before`. CBX_EINVAL for a
 * policy that passes a variable, or a secret of a file, that no policy of `before` passes. */
int cbx_variables_grant_again(const struct cbx_policies *before, struct cbx_policies *loaded,
                              struct cbx_err *err);

#endif
