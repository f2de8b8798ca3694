/* SPDX-License-Identifier: MIT
 * The variables that a program may have. */
#include "policies/environment.h"

static bool is_name(struct cbx_str name)
{
    bool good = name.len > 0 && name.len <= CBX_VARIABLE_NAME_MAX;
    for (size_t i = 0; good && i < name.len; i++) {
        char c = name.p[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
               (i > 0 && c >= '0' && c <= '9');
    }
    return good;
}

int cbx_variable_check(struct cbx_str name, struct cbx_err *err)
{
    static const struct {
        struct cbx_str glob;
        const char *reason;
    } never[] = {
#define CBX_NEVER_SET(glob, reason) { CBX_STR(glob), reason },
#include "policies/environment.def"
#undef CBX_NEVER_SET
    };
    if (!is_name(name)) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is no name of a variable: allowed are 1..%d letters, digits and "
                        "'_', not beginning with a digit",
                        CBX_STR_SHOWN(name), CBX_VARIABLE_NAME_MAX);
    }
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        if (cbx_str_glob(never[i].glob, name)) {
            return cbx_fail(err, CBX_EINVAL, "the variable '%.*s' cannot be set: %s",
                            CBX_STR_SHOWN(name), never[i].reason);
        }
    }
    return 0;
}

bool cbx_variable_is_granted(const struct cbx_policy *policy, struct cbx_str name)
{
    bool granted = false;
    for (size_t i = 0; i < policy->environment_pass.count; i++) {
        granted |= cbx_str_equal(policy->environment_pass.items[i], name);
    }
    for (size_t i = 0; i < policy->secret_count; i++) {
        granted |= cbx_str_equal(policy->secrets[i].name, name);
    }
    return granted;
}

int cbx_variable_may_set(const struct cbx_policy *policy, struct cbx_str name, struct cbx_err *err)
{
    int failed = cbx_variable_check(name, err);
    if (failed) {
        return failed;
    }
    if (cbx_variable_is_granted(policy, name)) {
        return cbx_fail(
            err, CBX_EINVAL,
            "the variable '%.*s' cannot be set: the operator passes it by policy '%.*s'",
            CBX_STR_SHOWN(name), CBX_STR_SHOWN(policy->name));
    }
    for (size_t i = 0; i < policy->environment_set.count; i++) {
        if (cbx_str_glob(policy->environment_set.items[i], name)) {
            return 0;
        }
    }
    return cbx_fail(err, CBX_EINVAL,
                    "the variable '%.*s' cannot be set: policy '%.*s' does not list it under "
                    "environment.set",
                    CBX_STR_SHOWN(name), CBX_STR_SHOWN(policy->name));
}
