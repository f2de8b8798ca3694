/* SPDX-License-Identifier: MIT
 * Approvals of decisions that ask, as a front reports them: what the executor refuses, and what it records. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_APPROVAL_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_APPROVAL_H

#include "gateway/ipc/wire/executor_calls.h"

/* The body of the record 'approval' for a submission (new reference), or NULL in *out when it carries none. CBX_ESEAL
 * for an approval of a decision that does not ask, that is no run, or that is another one than what was approved;
 * and for one whose texts no honest front sends. Nothing may run then. */
int cbx_executor_read_approval(const struct cbx_submit_args *args, const struct cbx_sealed *sealed,
                               json_t **out, struct cbx_err *err);

#endif
