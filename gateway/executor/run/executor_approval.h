/* SPDX-License-Identifier: MIT
 * Approvals of decisions that ask, as a front reports them: the executor's checks, and its
 * record. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_APPROVAL_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_APPROVAL_H

#include "gateway/ipc/wire/executor_calls.h"

/* Makes the body of the record 'approval' for a submission (new reference); *out is NULL if the
 * submission has no approval. CBX_ESEAL for an approval of a decision that does not ask, or is
 * no run, or is not the approved one; and for an approval with texts that an uncompromised front
 * does not send. Nothing may run then. */
int cbx_executor_read_approval(const struct cbx_submit_args *args, const struct cbx_sealed *sealed,
                               json_t **out, struct cbx_err *err);

#endif
