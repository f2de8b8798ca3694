/* SPDX-License-Identifier: MIT
 * The front's side of the executor: one socket pair per request. */
#ifndef CBX_GATEWAY_FRONT_EXECUTOR_CLIENT_H
#define CBX_GATEWAY_FRONT_EXECUTOR_CLIENT_H

#include "gateway/front/review.h"

/* Hands over a sealed decision and follows it to its end. Fills id, audit_seq, ran, result and hold
 * of `out`. CBX_EIO with an empty id: the executor was killed before it began, nothing ran. */
int cbx_backend_submit(int control, const struct cbx_judgement *judgement,
                       const struct cbx_run_wishes *wishes, const struct cbx_sink *sink,
                       struct cbx_outcome *out, struct cbx_err *err);

/* Follows the run out->id again from its beginning. CBX_ENOTFOUND when it never began, or all of it
 * is gone. */
int cbx_backend_resume(int control, const struct cbx_run_wishes *wishes,
                       const struct cbx_sink *sink, struct cbx_outcome *out, struct cbx_err *err);

/* Has a denial recorded that no worker sealed. */
int cbx_backend_note_failure(int control, const struct cbx_request *request,
                             struct cbx_outcome *out, struct cbx_err *err);

#endif
