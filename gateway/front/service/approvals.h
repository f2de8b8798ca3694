/* SPDX-License-Identifier: MIT
 * Approvals of what a policy asks about. A job carries an approval (cbx_job.approval): after judging, a decision that
 * asks is accepted like one that allows when the approval is for it, else it is a denial, and outcome.digest is what
 * would have to be approved. Whoever has that accepted submits the job again with the approval. An approval is used
 * once. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_APPROVALS_H
#define CBX_GATEWAY_FRONT_SERVICE_APPROVALS_H

#include "gateway/front/service/service.h"

/* How long a question may be answered. A person reads a program in that time; a client of the handshake era that
 * ends its call after 60 s, as their libraries do unless they are told otherwise, has cancelled by then. */
enum { CBX_APPROVAL_MS = 300000 };

/* Uses up the approval of this question (the decision that was shown), which is good until `expires_ms` of
 * cbx_clock_ms. Of several callers one succeeds. CBX_ESTATE when it was used before; CBX_EBUSY when so many were used
 * that this one could not be remembered: it is refused then. Thread-safe. */
int cbx_service_use_approval(struct cbx_service *service, struct cbx_str asked, int64_t expires_ms,
                             struct cbx_err *err);

#endif
