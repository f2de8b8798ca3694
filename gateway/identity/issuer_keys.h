/* SPDX-License-Identifier: MIT
 * The keys of the issuers whose row has a URL: the schedule of requests to the fetching process
 * (gateway/keys), the current keys, and their expiry. Requests use a set while it is replaced.
 * Thread-safe. */
#ifndef CBX_GATEWAY_IDENTITY_ISSUER_KEYS_H
#define CBX_GATEWAY_IDENTITY_ISSUER_KEYS_H

#include "gateway/identity/jwt.h"

enum {
    /* time for which keys are used if no newer ones can be fetched */
    CBX_KEYS_STAY_MS = 24 * 3600 * 1000,
    /* minimum time between two fetches of an issuer because of unknown keys */
    CBX_KEYS_RENEW_MS = 30000,
    CBX_KEYS_WAIT_MS = 5000, /* time that a request waits for such a fetch */
    /* maximum of concurrently waiting requests: each holds a thread, and an attacker who forges
     * a key's name makes one wait */
    CBX_KEYS_WAITERS_MAX = 32,
    CBX_KEYS_RETRY_MIN_MS = 1000, /* after a failed fetch; doubled up to the maximum */
    CBX_KEYS_RETRY_MAX_MS = 30000,
    /* time after which an unanswered fetch counts as failed */
    CBX_KEYS_ANSWER_MS = CBX_KEY_FETCH_MS + 5000,
};

struct cbx_issuer_keys;

/* Makes an empty set of keys. */
struct cbx_issuer_keys *cbx_issuer_keys_new(void);

/* Frees the keys; no thread may use them. NULL is fine. */
void cbx_issuer_keys_free(struct cbx_issuer_keys *keys);

/* Disables logging and counting of fetches: another process does both. Call it before the thread
 * starts. */
void cbx_issuer_keys_silence(struct cbx_issuer_keys *keys);

/* Replaces the issuers, using those with a URL. An issuer with the same `source` keeps its keys;
 * the keys of a new issuer are fetched at once. */
void cbx_issuer_keys_configure(struct cbx_issuer_keys *keys, const struct cbx_issuer *issuers,
                               size_t count);

/* Starts the thread that sends requests and takes answers over `channel`
 * (gateway/ipc/wire/key_fetch.h), which is borrowed. Once, in the process that serves. CBX_EIO. */
int cbx_issuer_keys_start(struct cbx_issuer_keys *keys, int channel, struct cbx_err *err);

/* The thread's step on each message and timeout: takes the arrived answers, and sends the
 * requests due at `now_ms` of cbx_clock_ms. Returns the milliseconds until the next call. For
 * the thread, and for tests, which have a channel and no thread (`channel` -1 = none: sends no
 * requests). */
int64_t cbx_issuer_keys_turn(struct cbx_issuer_keys *keys, int channel, int64_t now_ms);

/* Takes the keys of the issuer with this source: *out is a reference, owned by the caller.
 * CBX_EBUSY, with err->retry_s, if there are none yet, or they are older than CBX_KEYS_STAY_MS. */
int cbx_issuer_keys_take(struct cbx_issuer_keys *keys, const struct cbx_sha256 *source,
                         int64_t now_ms, struct cbx_jwks **out, struct cbx_err *err);

/* For a token that names a key which the current set lacks: has the keys fetched, unless the
 * last such fetch was less than CBX_KEYS_RENEW_MS ago, and waits for the answer to that fetch,
 * or to one in progress, at most `wait_ms`. 0: verify by the current set. CBX_EBUSY, with
 * err->retry_s, if CBX_KEYS_WAITERS_MAX requests wait already. */
int cbx_issuer_keys_renew(struct cbx_issuer_keys *keys, const struct cbx_sha256 *source,
                          int64_t now_ms, int64_t wait_ms, struct cbx_err *err);

/* Reads the issuers by their index: the name, and the age of the current keys, -1 = none. False
 * after the last one. */
bool cbx_issuer_keys_age(struct cbx_issuer_keys *keys, size_t index, int64_t now_ms, char name[33],
                         int64_t *age_ms);

#endif
