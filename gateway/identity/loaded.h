/* SPDX-License-Identifier: MIT
 * The configuration of callers, loaded together: principals, issuers, grants, keys, and the tokens
 * that several gateways share.
 * cbx_identity_load (identity.h) writes it, with the contents of its files, for processes that
 * may not read files. */
#ifndef CBX_GATEWAY_IDENTITY_LOADED_H
#define CBX_GATEWAY_IDENTITY_LOADED_H

#include "gateway/identity/claim_grants.h"
#include "gateway/identity/jwt.h"
#include "gateway/identity/tokens.h"
#include "policies/base/buf.h"

/* Never freed before the identity: requests borrow rows. */
struct cbx_loaded {
    struct cbx_buf bytes; /* in the form of cbx_identity_load */
    struct cbx_principals principals;
    struct cbx_jwks *keys[CBX_ISSUERS_MAX]; /* keys of each issuer with a file; else NULL */
    /* authorities of each issuer with a URL; in `bytes` */
    struct cbx_str authorities[CBX_ISSUERS_MAX];
    struct cbx_tokens *tokens; /* the shared ones; NULL = the state directory's file has them */
    struct cbx_granted *granted;
    struct cbx_loaded *before;
};

/* Reads the bytes of cbx_identity_load, which are copied. CBX_EPROTO. */
int cbx_loaded_read(struct cbx_str bytes, struct cbx_loaded **out, struct cbx_err *err);
void cbx_loaded_free(struct cbx_loaded *loaded);

#endif
