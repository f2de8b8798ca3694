/* SPDX-License-Identifier: MIT
 * The policies of one gateway. They are loaded before any fork, so every process has the same
 * policies. */
#ifndef CBX_GATEWAY_IPC_MASTER_POLICY_SET_H
#define CBX_GATEWAY_IPC_MASTER_POLICY_SET_H

#include "policies/base/text/json.h"
#include "policies/policy.h"

/* The first policy is the default. Owned by the caller: cbx_policies_done. */
struct cbx_policies {
    struct cbx_policy **items;
    size_t count;
    /* For each policy the names of the variables that programs get: {pass: [...], secrets:
     * [...]}; NULL = none. */
    json_t **granted;
    /* true if the audit log has the source of each decision (--audit-code full) */
    bool keep_code;
};

/* The modes that policies may have. Only principals with the right policy:relax run under
 * log-only, so a gateway without authentication accepts no policy in this mode. */
enum cbx_modes { CBX_MODES_ENFORCED, CBX_MODES_ALL };

/* Loads `count` presets or files, in order, into *out. CBX_EINVAL, besides the errors of
 * cbx_policy_load, for two policies of the same name, for a policy in mode log-only unless
 * `modes` has the mode, and for a policy that allows no language. *out is untouched then. */
int cbx_policies_load(const char *const *names, size_t count, enum cbx_modes modes,
                      struct cbx_policies *out, struct cbx_err *err);
void cbx_policies_done(struct cbx_policies *policies);

/* Write the set as bytes, and read it back, for a reload (reload.h): policies and their granted
 * variables. The set that is read borrows the bytes. CBX_ETOOBIG, CBX_EPROTO. */
int cbx_policies_write(const struct cbx_policies *policies, struct cbx_buf *out,
                       struct cbx_err *err);
int cbx_policies_read(struct cbx_str bytes, struct cbx_policies *out, struct cbx_err *err);

/* True if both sets have the same policies, by name and SHA-256, in the same order. */
bool cbx_policies_equal(const struct cbx_policies *a, const struct cbx_policies *b);

/* Returns the policy of this name (borrowed); the default for an empty name; NULL if no policy
 * has the name. */
const struct cbx_policy *cbx_policies_find(const struct cbx_policies *policies,
                                           struct cbx_str name);

/* Returns the policy's granted variables (borrowed), or NULL. */
const json_t *cbx_policies_granted(const struct cbx_policies *policies,
                                   const struct cbx_policy *policy);

/* CBX_ENOTFOUND "no policy is called 'x'; this gateway has a, b". */
int cbx_policies_fail(const struct cbx_policies *policies, struct cbx_str name,
                      struct cbx_err *err);

#endif
