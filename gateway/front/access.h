/* SPDX-License-Identifier: MIT
 * Records of refused requests without a decision: failed authentication, missing rights, logins
 * to the page, and approvals that were denied or expired. */
#ifndef CBX_GATEWAY_FRONT_ACCESS_H
#define CBX_GATEWAY_FRONT_ACCESS_H

#include "gateway/front/claims.h"
#include "gateway/front/review.h"

enum cbx_access {
#define CBX_ACCESS(ID, type, limited) CBX_ACCESS_##ID,
#include "gateway/ipc/seal/access.def"
#undef CBX_ACCESS
};

/* Number of limited events that are recorded at once; then one per second is recorded, so a
 * flood of requests fills no disk. The next record has the number of omitted events. */
enum { CBX_ACCESS_BURST = 60 };

/* An access event. Borrowed. */
struct cbx_access_entry {
    const char *principal; /* NULL = not known */
    const char *decision;  /* decision of an approval; NULL = none */
    const char *reason;    /* reason as sent to the caller; NULL = none */
};

/* Has the executor record the event durably. If the log cannot be written, the process logs an
 * error: the refusal stands. `claims` may be NULL. Thread-safe. */
void cbx_access_note(struct cbx_flow *flow, enum cbx_access what,
                     const struct cbx_access_entry *entry, const struct cbx_claims *claims);

#endif
