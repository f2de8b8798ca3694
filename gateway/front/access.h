/* SPDX-License-Identifier: MIT
 * Records of who asks, and is refused, without a decision: failed authentication, missing rights, logins to the page, and approvals
 * that were denied or expired. */
#ifndef CBX_GATEWAY_FRONT_ACCESS_H
#define CBX_GATEWAY_FRONT_ACCESS_H

#include "gateway/front/claims.h"
#include "gateway/front/review.h"

enum cbx_access {
#define CBX_ACCESS(ID, type, limited) CBX_ACCESS_##ID,
#include "gateway/ipc/seal/access.def"
#undef CBX_ACCESS
};

/* Of what anybody can cause so many are recorded at once, and then one per second: a flood of requests fills no disk. The next record
 * says how many were left out. */
enum { CBX_ACCESS_BURST = 60 };

/* What happened. Borrowed. */
struct cbx_access_entry {
    const char *principal; /* NULL = not known */
    const char *decision;  /* of an approval; NULL = none */
    const char *reason;    /* as the caller was told; NULL = none */
};

/* Has the executor record it, durably. A log that takes no record is an error of the log of the process: what was refused stays
 * refused. `claims` may be NULL. Thread-safe. */
void cbx_access_note(struct cbx_flow *flow, enum cbx_access what,
                     const struct cbx_access_entry *entry, const struct cbx_claims *claims);

#endif
