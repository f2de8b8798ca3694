/* SPDX-License-Identifier: MIT
 * Approvals of decisions that ask. A job carries an approval (cbx_job.approval): after judging,
 * a decision that asks is accepted like an allowed one if the approval matches, else it is a
 * denial, and outcome.digest is the digest to approve. A client with that approval submits the
 * job again. An approval is used once. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_APPROVALS_H
#define CBX_GATEWAY_FRONT_SERVICE_APPROVALS_H

#include "gateway/front/service/service.h"

/* Time limit for an answer to a question. A person can read a program in that time; a client of
 * the handshake era that ends its call after 60 s, the default of their libraries, has cancelled
 * by then. */
enum { CBX_APPROVAL_MS = 300000 };

/* Uses the approval of this question (the shown decision), which is valid until `expires_ms` of
 * cbx_clock_ms. Of several callers one succeeds. CBX_ESTATE if it was used before; CBX_EBUSY if
 * the table of used approvals is full: it is refused then. Thread-safe. */
int cbx_service_use_approval(struct cbx_service *service, struct cbx_str asked, int64_t expires_ms,
                             struct cbx_err *err);

#endif
