/* SPDX-License-Identifier: MIT
 * Logged-in browsers: a cookie with a random number stands for a bearer token, in this process
 * alone. The token is authenticated again with each request, so a revoked or expired one gives
 * no more access. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_PAGE_LOGINS_H
#define CBX_GATEWAY_FRONT_PAGE_LOGINS_H

#include "policies/base/auto.h"
#include "policies/base/hash.h"
#include "policies/base/str.h"

enum {
    CBX_LOGINS_MAX = 64,
    CBX_LOGIN_CHARS = 64, /* characters of a cookie's value */
    CBX_LOGIN_TOKEN_MAX = 4096,
    CBX_LOGIN_S = 8 * 3600,
};

struct cbx_logins;
struct cbx_logins *cbx_logins_new(void);
/* Overwrites the tokens. NULL is fine. */
void cbx_logins_free(struct cbx_logins *logins);
CBX_DEFINE_AUTO(logins)

/* Stores a token for CBX_LOGIN_S, at most CBX_LOGIN_TOKEN_MAX bytes; a full table drops the
 * login that expires first. Writes the value of the cookie, which is not stored. False for a
 * longer token. */
bool cbx_logins_add(struct cbx_logins *logins, struct cbx_str token, int64_t clock_ms,
                    char out[CBX_LOGIN_CHARS + 1]);

/* Writes the header "Bearer TOKEN" of the login with this cookie's value, terminated. False if
 * there is none, or it has expired. */
bool cbx_logins_find(struct cbx_logins *logins, struct cbx_str value, int64_t clock_ms,
                     char out[CBX_LOGIN_TOKEN_MAX + 16]);

/* Ends the login with this cookie's value; no effect if there is none. */
void cbx_logins_remove(struct cbx_logins *logins, struct cbx_str value);

/* Returns the value of the cookie `name` in a Cookie header (RFC 6265, section 4.2); empty if it
 * is missing. */
struct cbx_str cbx_logins_cookie(struct cbx_str header, const char *name);

#endif
