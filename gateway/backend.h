/* SPDX-License-Identifier: MIT
 * The front's side of the executor: one socket pair per request. */
#ifndef CBX_GATEWAY_BACKEND_H
#define CBX_GATEWAY_BACKEND_H

#include "gateway/review.h"

/* "no policy is called 'x'; this gateway has a, b". */
int cbx_fail_policy(const struct cbx_policies *policies, struct cbx_str name, struct cbx_err *err);

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
