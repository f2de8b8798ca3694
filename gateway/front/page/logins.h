/* SPDX-License-Identifier: MIT
 * Browsers that were shown in: a cookie with a random number stands for a bearer token, in this process alone. The
 * token is authenticated again with each request, so that one that is revoked or expires shows nothing more. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_PAGE_LOGINS_H
#define CBX_GATEWAY_FRONT_PAGE_LOGINS_H

#include "policies/base/auto.h"
#include "policies/base/hash.h"
#include "policies/base/str.h"

enum {
    CBX_LOGINS_MAX = 64,
    CBX_LOGIN_CHARS = 64, /* of a cookie's value */
    CBX_LOGIN_TOKEN_MAX = 4096,
    CBX_LOGIN_S = 8 * 3600,
};

struct cbx_logins;
struct cbx_logins *cbx_logins_new(void);
/* Overwrites the tokens. NULL is fine. */
void cbx_logins_free(struct cbx_logins *logins);
CBX_DEFINE_AUTO(logins)

/* Keeps a token for CBX_LOGIN_S, at most CBX_LOGIN_TOKEN_MAX bytes; the login that expires first makes room. Writes the value of
 * the cookie, which is nowhere else. False for a longer token. */
bool cbx_logins_add(struct cbx_logins *logins, struct cbx_str token, int64_t clock_ms,
                    char out[CBX_LOGIN_CHARS + 1]);

/* The header "Bearer TOKEN" of the login with this cookie's value, terminated. False when there is none, or it is too old. */
bool cbx_logins_find(struct cbx_logins *logins, struct cbx_str value, int64_t clock_ms,
                     char out[CBX_LOGIN_TOKEN_MAX + 16]);

/* Ends the login with this cookie's value; nothing when there is none. */
void cbx_logins_remove(struct cbx_logins *logins, struct cbx_str value);

/* The value of the cookie `name` in a Cookie header (RFC 6265, section 4.2); empty when it has none. */
struct cbx_str cbx_logins_cookie(struct cbx_str header, const char *name);

#endif
