/* SPDX-License-Identifier: MIT
 * Vouchers: what a caller proved to the executor when it asked for something, in a form that the front can keep until that is
 * carried out, also over a restart, without keeping the caller's credential. A voucher is a MAC of the executor over who asked, when
 * and for what, so it is of no use for anything else, and the rights of its principal are looked at again when it is shown. */
#ifndef CBX_GATEWAY_IPC_SEAL_VOUCHER_H
#define CBX_GATEWAY_IPC_SEAL_VOUCHER_H

#include "policies/base/hash.h"
#include "policies/base/str.h"

#include <stdint.h>

/* "v1.TIME.MAC": milliseconds of the wall clock, 16 hexadecimal digits, and an HMAC-SHA256. */
#define CBX_VOUCHER_PREFIX "v1."
enum { CBX_VOUCHER_CHARS = 3 + 16 + 1 + CBX_SHA256_HEX };

/* A voucher, or the value of a header Authorization. */
enum { CBX_PROOF_BYTES_MAX = 16 * 1024 + 16 };

enum cbx_voucher_kind {
    CBX_VOUCHER_NONE = 0,
    CBX_VOUCHER_RUN,      /* of a source, in a session or in none */
    CBX_VOUCHER_APPROVAL, /* of a decision that asks */
};

/* "run", "approval"; CBX_VOUCHER_NONE for another text. */
enum cbx_voucher_kind cbx_voucher_kind_of(struct cbx_str name);
const char *cbx_voucher_kind_name(enum cbx_voucher_kind kind);

/* What a voucher is about. Borrowed. */
struct cbx_voucher_claim {
    enum cbx_voucher_kind kind;
    struct cbx_str principal, credential;
    struct cbx_str subject; /* CBX_SHA256_HEX digits */
};

/* The subject of a run: its session (empty = none) and the SHA-256 of its source as decisions have it, in hexadecimal digits. */
void cbx_voucher_run(struct cbx_str session, struct cbx_str sha256, char out[CBX_SHA256_HEX + 1]);

/* Writes a voucher of this time. */
void cbx_voucher_make(const struct cbx_sha256 *key, const struct cbx_voucher_claim *claim,
                      int64_t time_ms, char out[CBX_VOUCHER_CHARS + 1]);

/* Is this a voucher for the claim? Its time is written then. */
bool cbx_voucher_check(const struct cbx_sha256 *key, const struct cbx_voucher_claim *claim,
                       struct cbx_str voucher, int64_t *time_ms);

#endif
