/* SPDX-License-Identifier: MIT
 * JSON Web Tokens (RFC 7519) that an issuer signed (RFC 7515), by its public keys (RFC 7517),
 * with the care of RFC 8725: the algorithm follows from the key, and "none" and symmetric ones
 * do not exist here. */
#ifndef CBX_GATEWAY_IDENTITY_JWT_H
#define CBX_GATEWAY_IDENTITY_JWT_H

#include "gateway/identity/principals.h"
#include "gateway/ipc/wire/key_fetch.h"

#include <jansson.h>

/* Sets of keys have CBX_JWKS_MAX bytes at most. */
enum { CBX_JWT_MAX = 16 * 1024, CBX_JWKS_KEYS = 64 };

struct cbx_jwks;

/* Reads a set of keys. Keys of unsupported types or uses are skipped: supported are RSA of 2048
 * to 8192 bits, EC on P-256, P-384 and P-521, and Ed25519. CBX_EINVAL for text that is no set,
 * or has no supported key. */
int cbx_jwks_read(struct cbx_str json, struct cbx_jwks **out, struct cbx_err *err);

/* Returns another reference to the immutable set: each ends with cbx_jwks_free, the last one
 * frees the set. Thread-safe. */
struct cbx_jwks *cbx_jwks_ref(struct cbx_jwks *keys);
void cbx_jwks_free(struct cbx_jwks *keys);
CBX_DEFINE_AUTO(jwks)

/* Reads the issuer in a token without verifying its signature, to select the keys. CBX_EINVAL
 * for a malformed token. `out` has space for 513 bytes. */
int cbx_jwt_issuer(struct cbx_str token, char *out, struct cbx_err *err);

/* True if the token names a key that the set lacks. False for a malformed token. */
bool cbx_jwt_lacks_key(struct cbx_str token, const struct cbx_jwks *keys);

/* A verified token. */
struct cbx_jwt {
    char principal[CBX_NAME_MAX + 1]; /* "NAME:CLAIM" */
    json_t *claims;
};

/* Verifies an access token of this issuer at `now_s` of the wall clock; *out is for
 * cbx_jwt_done. CBX_ESEAL for a wrong signature, issuer or audience, CBX_ETIMEDOUT for an
 * expired or not yet valid token, CBX_EINVAL for any other error: an extension in `crit`, a type
 * (`typ`) or a claim of tokens for another use (jwt.def), a principal named by an `email` that
 * the issuer has not verified. The text is for the log: it would help a forger. */
int cbx_jwt_verify(struct cbx_str token, const struct cbx_issuer *issuer,
                   const struct cbx_jwks *keys, int64_t now_s, struct cbx_jwt *out,
                   struct cbx_err *err);
void cbx_jwt_done(struct cbx_jwt *jwt);
CBX_DEFINE_AUTO_DONE(jwt)

#endif
