/* SPDX-License-Identifier: MIT
 * Vouchers: the proof that a caller gave to the executor with a request, in a form that the
 * front can keep until the request is carried out, also over a restart, without keeping the
 * caller's credential. A voucher is a MAC of the executor over the principal, the time and the
 * subject, so it is valid for nothing else; the executor checks the rights of its principal
 * again when the voucher is presented. */
#ifndef CBX_GATEWAY_IPC_SEAL_VOUCHER_H
#define CBX_GATEWAY_IPC_SEAL_VOUCHER_H

#include "policies/base/hash.h"
#include "policies/base/str.h"

#include <stdint.h>

/* Prefix of a voucher "v1.TIME.MAC": milliseconds of the wall clock in 16 hexadecimal digits,
 * and an HMAC-SHA256. */
#define CBX_VOUCHER_PREFIX "v1."
enum { CBX_VOUCHER_CHARS = 3 + 16 + 1 + CBX_SHA256_HEX };

/* Maximum size of a proof: a voucher, or the value of a header Authorization. */
enum { CBX_PROOF_BYTES_MAX = 16 * 1024 + 16 };

enum cbx_voucher_kind {
    CBX_VOUCHER_NONE = 0,
    CBX_VOUCHER_RUN,      /* for a run of a source, in a session or without one */
    CBX_VOUCHER_APPROVAL, /* for a decision that needs an approval */
};

/* Returns the kind for "run" and "approval"; CBX_VOUCHER_NONE for another text. */
enum cbx_voucher_kind cbx_voucher_kind_of(struct cbx_str name);
const char *cbx_voucher_kind_name(enum cbx_voucher_kind kind);

/* The statement that a voucher proves. Borrowed. */
struct cbx_voucher_claim {
    enum cbx_voucher_kind kind;
    struct cbx_str principal, credential;
    struct cbx_str subject; /* CBX_SHA256_HEX digits */
};

/* Writes the subject of a run: the hash of its session (empty = none) and of the SHA-256 of its
 * source as decisions have it, in hexadecimal digits. */
void cbx_voucher_run(struct cbx_str session, struct cbx_str sha256, char out[CBX_SHA256_HEX + 1]);

/* Writes a voucher with the given time. */
void cbx_voucher_make(const struct cbx_sha256 *key, const struct cbx_voucher_claim *claim,
                      int64_t time_ms, char out[CBX_VOUCHER_CHARS + 1]);

/* True if the text is a valid voucher for the claim; writes its time then. */
bool cbx_voucher_check(const struct cbx_sha256 *key, const struct cbx_voucher_claim *claim,
                       struct cbx_str voucher, int64_t *time_ms);

#endif
