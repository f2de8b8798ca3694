/* SPDX-License-Identifier: MIT
 * Asking the executor for a voucher (gateway/ipc/seal/voucher.h), while the caller's proof is at hand. */
#ifndef CBX_GATEWAY_FRONT_VOUCH_H
#define CBX_GATEWAY_FRONT_VOUCH_H

#include "gateway/front/claims.h"
#include "gateway/front/review.h"

/* Writes the voucher that this principal, as the claims prove it, asks for the subject; an empty text where callers are not
 * authenticated. CBX_EFORBIDDEN when the executor does not believe it; errors of the executor. */
int cbx_vouch(struct cbx_flow *flow, enum cbx_voucher_kind kind, const char *principal,
              const struct cbx_claims *claims, const char *subject, char out[CBX_VOUCHER_CHARS + 1],
              struct cbx_err *err);

#endif
