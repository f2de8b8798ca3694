/* SPDX-License-Identifier: MIT
 * The keys of the issuers whose row has a URL: when the process that fetches them (gateway/keys)
 * is asked, what of its answers is in use, and for how long. Requests use a set while it is
 * replaced. Thread-safe. */
#ifndef CBX_GATEWAY_IDENTITY_ISSUER_KEYS_H
#define CBX_GATEWAY_IDENTITY_ISSUER_KEYS_H

#include "gateway/identity/jwt.h"

enum {
    CBX_KEYS_STAY_MS =
        24 * 3600 * 1000, /* keys are in use for so long when no newer ones can be fetched */
    CBX_KEYS_RENEW_MS =
        30000, /* at most one fetch of an issuer in this time because of a key that is not known */
    CBX_KEYS_WAIT_MS = 5000, /* a request waits for that */
    /* requests that wait at the same time: each holds a thread, and whoever forges a key's name
     * makes one wait */
    CBX_KEYS_WAITERS_MAX = 32,
    CBX_KEYS_RETRY_MIN_MS = 1000, /* after a fetch that failed; doubled up to the maximum */
    CBX_KEYS_RETRY_MAX_MS = 30000,
    CBX_KEYS_ANSWER_MS = CBX_KEY_FETCH_MS + 5000, /* a fetch that is not answered then has failed */
};

struct cbx_issuer_keys;

/* None yet. */
struct cbx_issuer_keys *cbx_issuer_keys_new(void);

/* No thread may use it any more. NULL is fine. */
void cbx_issuer_keys_free(struct cbx_issuer_keys *keys);

/* Neither logs nor counts how fetches go from now on: another process does. Before the thread. */
void cbx_issuer_keys_silence(struct cbx_issuer_keys *keys);

/* Puts these issuers in the place of those before, of which it takes the ones with a URL. One
 * with the same `source` keeps its keys; those of a new one are fetched at once. */
void cbx_issuer_keys_configure(struct cbx_issuer_keys *keys, const struct cbx_issuer *issuers,
                               size_t count);

/* Starts the thread that asks and takes answers over `channel` (gateway/ipc/wire/key_fetch.h),
 * which is borrowed. Once, in the process that serves. CBX_EIO. */
int cbx_issuer_keys_start(struct cbx_issuer_keys *keys, int channel, struct cbx_err *err);

/* What that thread does each time that a message arrives or time has passed: takes the answers
 * that are there, and asks for what is due at `now_ms` of cbx_clock_ms. Returns the milliseconds
 * until it has to be called again. For the thread, and for tests, which have a channel and no
 * thread (`channel` -1 = none: nothing is asked). */
int64_t cbx_issuer_keys_turn(struct cbx_issuer_keys *keys, int channel, int64_t now_ms);

/* The keys of the issuer with this source: *out is a reference, the caller's. CBX_EBUSY, with
 * err->retry_s, when there are none yet, or they are older than CBX_KEYS_STAY_MS. */
int cbx_issuer_keys_take(struct cbx_issuer_keys *keys, const struct cbx_sha256 *source,
                         int64_t now_ms, struct cbx_jwks **out, struct cbx_err *err);

/* For a token that names a key which the set in use does not have: has the keys fetched, unless
 * that was done less than CBX_KEYS_RENEW_MS ago, and waits for the answer to that fetch, or to
 * one in progress, at most `wait_ms`. 0: the set in use is what there is to verify by.
 * CBX_EBUSY, with err->retry_s, when CBX_KEYS_WAITERS_MAX requests wait already. */
int cbx_issuer_keys_renew(struct cbx_issuer_keys *keys, const struct cbx_sha256 *source,
                          int64_t now_ms, int64_t wait_ms, struct cbx_err *err);

/* The issuers, by their index: the name, and the age of the keys in use, -1 = none. False behind
 * the last one. */
bool cbx_issuer_keys_age(struct cbx_issuer_keys *keys, size_t index, int64_t now_ms, char name[33],
                         int64_t *age_ms);

#endif
