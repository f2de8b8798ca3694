/* SPDX-License-Identifier: MIT
 * The rights of an issuer's token by its claims. A set of grants is a mask of their indices in
 * the configuration, and is written after the issuer's name in the caller's credential: "issuer
 * corp (analysts, ops)". So the audit log has the grants of a caller's request, and later steps
 * of the request use the same grants, in their then configured form. */
#ifndef CBX_GATEWAY_IDENTITY_CLAIM_GRANTS_H
#define CBX_GATEWAY_IDENTITY_CLAIM_GRANTS_H

#include "gateway/identity/principals.h"

#include <jansson.h>

/* Checks that the claims fulfil all of the issuer's required-claims. CBX_EINVAL, with the
 * claim's name. */
int cbx_claim_grants_require(const struct cbx_principals *all, size_t issuer, const json_t *claims,
                             struct cbx_err *err);

/* Returns the grants of the issuer whose conditions the claims all fulfil. */
uint64_t cbx_claim_grants_match(const struct cbx_principals *all, size_t issuer,
                                const json_t *claims);

/* Writes the credential of a token of this issuer, with space for CBX_CREDENTIAL_MAX + 1 bytes.
 * CBX_ETOOBIG for more names than fit. */
int cbx_claim_grants_write(const struct cbx_principals *all, size_t issuer, uint64_t grants,
                           char *out, struct cbx_err *err);

/* Reads the index of the issuer in such a credential, and its grants: the configured ones. -1
 * for another credential, or an issuer that is not configured. */
int cbx_claim_grants_read(const struct cbx_principals *all, struct cbx_str credential,
                          uint64_t *grants);

/* Rows of principals extended by grants; each is made once and stays until cbx_granted_free.
 * Thread-safe. */
struct cbx_granted;
enum { CBX_GRANTED_MAX = 4096 };
struct cbx_granted *cbx_granted_new(void);
void cbx_granted_free(struct cbx_granted *granted);
CBX_DEFINE_AUTO(granted)

/* Finds the row of a caller, which lives as long as `granted` and `all`: of its principal (NULL
 * = no row) and these grants. Rights and policies are united; a grant without policies adds
 * none, unless no row has any, which allows all. A principal's row with rights and without
 * policies allows all in any case. The quotas come from the principal's row. *out is NULL,
 * with 0, if there is neither. CBX_ETOOBIG for more than CBX_CALLER_POLICIES policies, CBX_EBUSY
 * if there are CBX_GRANTED_MAX rows. */
int cbx_granted_row(struct cbx_granted *granted, const struct cbx_principals *all,
                    const struct cbx_principal *base, uint64_t grants,
                    const struct cbx_principal **out, struct cbx_err *err);

#endif
