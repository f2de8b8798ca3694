/* SPDX-License-Identifier: MIT
 * The caller of a request, and the rights of this principal. */
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
    CBX_RIGHT_PUBLIC = CBX_RIGHTS, /* no right is needed, and no authentication */
    CBX_RIGHT_ANY                  /* any of the rights; the response depends on them */
};

/* Returns "execute"; "any" for a value that is no principal's right. Static. */
const char *cbx_right_name(enum cbx_right right);

/* Adds the right of this name to the bits; false if there is none. Admin adds all. */
bool cbx_right_add(struct cbx_str name, uint32_t *rights);

/* Returns the bits of a principal without listed rights. */
uint32_t cbx_rights_standard(void);

enum { CBX_CALLER_POLICIES = 16 };

/* The rights and limits of a principal. Zero is no limit, `policy_count` 0 = every policy. Lives
 * as long as the process. */
struct cbx_principal {
    char name[CBX_NAME_MAX + 1];
    uint32_t rights;   /* bits of enum cbx_right */
    bool names_rights; /* true if rights were listed, possibly none */
    char policies[CBX_CALLER_POLICIES][CBX_NAME_MAX + 1];
    size_t policy_count; /* the first policy is the default of a request */
    int64_t requests_per_minute, requests_at_once, sessions, runs, runs_waiting, layers,
        cpu_s_per_hour;
};

/* The caller of one request. Zeroed memory has no rights. */
struct cbx_caller {
    char principal[CBX_NAME_MAX + 1];
    const struct cbx_principal *row;         /* NULL: no rights */
    char credential[CBX_CREDENTIAL_MAX + 1]; /* its credential (claim_grants.h) */
    /* its proof, for the executor: the value of its header Authorization; borrowed during the
     * request's handler, empty = none */
    struct cbx_str proof;
};

/* Returns the caller CBX_CALLER_LOCAL, which has all rights except using policies in mode
 * log-only. Static. */
const struct cbx_caller *cbx_caller_local(void);

/* True if the caller has this right. No caller has CBX_RIGHT_PUBLIC. */
bool cbx_caller_may(const struct cbx_caller *caller, enum cbx_right right);

/* Checks that the caller may run under this policy's mode. CBX_EFORBIDDEN for mode log-only
 * without the right policy:relax: the text names the ones of `policies` that the caller may use. */
int cbx_caller_check_mode(const struct cbx_caller *caller, const struct cbx_policies *policies,
                          const struct cbx_policy *policy, struct cbx_err *err);

/* Finds the loaded policy of a request for `asked` (empty = the default). CBX_ENOTFOUND if there
 * is none of this name, or it is not one of the caller's: the text names the caller's. Errors of
 * cbx_caller_check_mode. */
int cbx_caller_policy(const struct cbx_caller *caller, const struct cbx_policies *policies,
                      struct cbx_str asked, const struct cbx_policy **out, struct cbx_err *err);

#endif
