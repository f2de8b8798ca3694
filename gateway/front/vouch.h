/* SPDX-License-Identifier: MIT
 * Requesting a voucher from the executor (gateway/ipc/seal/voucher.h), while the caller's proof
 * is available. */
#ifndef CBX_GATEWAY_FRONT_VOUCH_H
#define CBX_GATEWAY_FRONT_VOUCH_H

#include "gateway/front/claims.h"
#include "gateway/front/review.h"

/* Writes the voucher for this subject and principal, proved by the claims; an empty text if
 * callers are not authenticated. CBX_EFORBIDDEN if the executor rejects the proof; errors of the
 * executor. */
int cbx_vouch(struct cbx_flow *flow, enum cbx_voucher_kind kind, const char *principal,
              const struct cbx_claims *claims, const char *subject, char out[CBX_VOUCHER_CHARS + 1],
              struct cbx_err *err);

#endif
