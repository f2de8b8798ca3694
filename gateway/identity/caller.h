/* SPDX-License-Identifier: MIT
 * Who makes a request, and what this principal may do. */
#ifndef CBX_GATEWAY_IDENTITY_CALLER_H
#define CBX_GATEWAY_IDENTITY_CALLER_H

#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/seal/subject.h"
#include "policies/base/err.h"
#include "policies/permit.h"

#include <stdbool.h>
#include <stdint.h>

/* The principal of a gateway without authentication, and of the user who started `codebox mcp`. */
#define CBX_CALLER_LOCAL "local"

enum cbx_right {
#define CBX_RIGHT(NAME, name, standard, meaning) CBX_RIGHT_##NAME,
#include "gateway/identity/rights.def"
#undef CBX_RIGHT
    CBX_RIGHTS,
    CBX_RIGHT_PUBLIC = CBX_RIGHTS, /* none is needed, not even to say who calls */
    CBX_RIGHT_ANY                  /* one of them, whichever: what is shown depends on it */
};

/* "execute"; "any" for what is no right of a principal. Static. */
const char *cbx_right_name(enum cbx_right right);

/* Adds the right of this name to the bits; false when there is none. Admin adds all. */
bool cbx_right_add(struct cbx_str name, uint32_t *rights);

/* The bits of a principal that names no rights. */
uint32_t cbx_rights_standard(void);

enum { CBX_CALLER_POLICIES = 16 };

/* What a principal may use. Zero is no limit, zero policies are all. Lives as long as the
 * process. */
struct cbx_principal {
    char name[CBX_NAME_MAX + 1];
    uint32_t rights;   /* bits of enum cbx_right */
    bool names_rights; /* they were listed, maybe none of them */
    char policies[CBX_CALLER_POLICIES][CBX_NAME_MAX + 1];
    size_t policy_count; /* the first is the one of a request that names none */
    int64_t requests_per_minute, requests_at_once, sessions, runs, runs_waiting, layers,
        cpu_s_per_hour;
};

/* The caller of one request. Zeroed memory may do nothing. */
struct cbx_caller {
    char principal[CBX_NAME_MAX + 1];
    const struct cbx_principal *row;         /* NULL: it may do nothing */
    char credential[CBX_CREDENTIAL_MAX + 1]; /* what it proved itself with (claim_grants.h) */
    /* what it showed, for the executor: the value of its header Authorization; borrowed for the
     * length of the request's handler, empty = nothing */
    struct cbx_str proof;
};

/* The caller CBX_CALLER_LOCAL, which may do everything but use policies in mode log-only.
 * Static. */
const struct cbx_caller *cbx_caller_local(void);

/* Has the caller this right? CBX_RIGHT_PUBLIC is nobody's. */
bool cbx_caller_may(const struct cbx_caller *caller, enum cbx_right right);

/* May the caller run under this policy, as far as its mode goes? CBX_EFORBIDDEN for one in mode
 * log-only without the right policy:relax: the text names those of `policies` that the caller
 * may use. */
int cbx_caller_check_mode(const struct cbx_caller *caller, const struct cbx_policies *policies,
                          const struct cbx_policy *policy, struct cbx_err *err);

/* The policy of a request that asks for `asked` (empty = none in particular), out of those that
 * are loaded. CBX_ENOTFOUND when there is none of this name, or it is not one of the caller's:
 * the text names those that are. Errors of cbx_caller_check_mode. */
int cbx_caller_policy(const struct cbx_caller *caller, const struct cbx_policies *policies,
                      struct cbx_str asked, const struct cbx_policy **out, struct cbx_err *err);

#endif
