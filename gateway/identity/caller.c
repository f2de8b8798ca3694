/* SPDX-License-Identifier: MIT
 * Callers. */
#include "gateway/identity/caller.h"

#include "policies/base/buf.h"

#include <string.h>

static const struct {
    const char *name;
    bool standard;
} rights[CBX_RIGHTS] = {
#define CBX_RIGHT(NAME, name, standard, meaning) [CBX_RIGHT_##NAME] = { name, standard },
#include "gateway/identity/rights.def"
#undef CBX_RIGHT
};

enum { ALL = (1 << CBX_RIGHTS) - 1 };

const char *cbx_right_name(enum cbx_right right)
{
    return right < CBX_RIGHTS ? rights[right].name : "any";
}

bool cbx_right_add(struct cbx_str name, uint32_t *out)
{
    for (int i = 0; i < CBX_RIGHTS; i++) {
        if (cbx_str_is(name, rights[i].name)) {
            *out |= i == CBX_RIGHT_ADMIN ? (uint32_t)ALL : 1U << i;
            return true;
        }
    }
    return false;
}

uint32_t cbx_rights_standard(void)
{
    uint32_t bits = 0;
    for (int i = 0; i < CBX_RIGHTS; i++) {
        bits |= (uint32_t)rights[i].standard << i;
    }
    return bits;
}

const struct cbx_caller *cbx_caller_local(void)
{
    static const struct cbx_principal row = { .name = CBX_CALLER_LOCAL,
                                              .rights = ALL & ~(1U << CBX_RIGHT_POLICY_RELAX) };
    static const struct cbx_caller local = { .principal = CBX_CALLER_LOCAL, .row = &row };
    return &local;
}

bool cbx_caller_may(const struct cbx_caller *caller, enum cbx_right right)
{
    if (caller == NULL || caller->row == NULL) {
        return false;
    }
    uint32_t has = caller->row->rights;
    return right < CBX_RIGHTS ? (has >> right & 1) != 0 : right == CBX_RIGHT_ANY && has != 0;
}

static bool is_allowed(const struct cbx_principal *row, struct cbx_str name)
{
    bool allowed = row->policy_count == 0;
    for (size_t i = 0; i < row->policy_count && !allowed; i++) {
        allowed = cbx_str_is(name, row->policies[i]);
    }
    return allowed;
}

static bool has_mode(const struct cbx_caller *caller, const struct cbx_policy *policy)
{
    return !policy->log_only || cbx_caller_may(caller, CBX_RIGHT_POLICY_RELAX);
}

/* Returns the rights and limits of a caller without a row. */
static const struct cbx_principal *row_of(const struct cbx_caller *caller)
{
    static const struct cbx_principal nobody = { .policy_count = 1 };
    return caller->row != NULL ? caller->row : &nobody;
}

/* Lists the names of the policies that are loaded and the caller's. */
static const char *list_names(const struct cbx_caller *caller, const struct cbx_policies *policies,
                              struct cbx_buf *out)
{
    cbx_buf_init(out, 1024);
    for (size_t i = 0; i < policies->count; i++) {
        struct cbx_str name = policies->items[i]->name;
        if (is_allowed(row_of(caller), name) && has_mode(caller, policies->items[i])) {
            cbx_buf_printf(out, "%s%.*s", out->len > 0 ? ", " : "", CBX_STR_ARG(name));
        }
    }
    return out->len > 0 ? out->p : "none for this caller";
}

int cbx_caller_check_mode(const struct cbx_caller *caller, const struct cbx_policies *policies,
                          const struct cbx_policy *policy, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) names = { 0 };
    if (!has_mode(caller, policy)) {
        return cbx_fail(err, CBX_EFORBIDDEN,
                        "policy '%.*s' is in mode log-only, which needs the right '%s' that "
                        "principal '%s' lacks; the policies that it may use: %s",
                        CBX_STR_SHOWN(policy->name), cbx_right_name(CBX_RIGHT_POLICY_RELAX),
                        caller->principal, list_names(caller, policies, &names));
    }
    return 0;
}

/* Returns the policy for a request without a policy name. */
static struct cbx_str first_name(const struct cbx_principal *row,
                                 const struct cbx_policies *policies)
{
    if (row->policy_count > 0) {
        return cbx_str_of(row->policies[0]);
    }
    return policies->count > 0 ? policies->items[0]->name : CBX_STR("");
}

int cbx_caller_policy(const struct cbx_caller *caller, const struct cbx_policies *policies,
                      struct cbx_str asked, const struct cbx_policy **out, struct cbx_err *err)
{
    const struct cbx_principal *row = row_of(caller);
    struct cbx_str name = asked.len > 0 ? asked : first_name(row, policies);
    const struct cbx_policy *policy =
        is_allowed(row, name) ? cbx_policies_find(policies, name) : NULL;
    if (policy == NULL) {
        CBX_AUTO_DONE(buf) names = { 0 };
        return cbx_fail(err, CBX_ENOTFOUND, "no policy is called '%.*s'; this gateway has %s",
                        CBX_STR_SHOWN(name), list_names(caller, policies, &names));
    }
    int failed = cbx_caller_check_mode(caller, policies, policy, err);
    if (!failed) {
        *out = policy;
    }
    return failed;
}
