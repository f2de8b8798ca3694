/* SPDX-License-Identifier: MIT
 * Authorisation of callers, checked by the executor itself: a compromised front can name any
 * principal, any policy and any approver. The rows of principals, the tokens and the keys of
 * issuers come from the master, the file of tokens and the process that fetches keys, never from
 * the front. If callers are not authenticated (no identity) nothing is checked. A principal of a
 * Unix socket has no credential; a compromised front can name another user, and only the rows
 * limit it. */
#ifndef CBX_GATEWAY_EXECUTOR_CALLERS_H
#define CBX_GATEWAY_EXECUTOR_CALLERS_H

#include "gateway/ipc/wire/executor_calls.h"

struct cbx_executor;

/* Checks that the proof authenticates the principal and that it may execute. For a session's
 * files, its input and its reset. CBX_EFORBIDDEN. */
int cbx_executor_check_caller(struct cbx_executor *e, struct cbx_str principal,
                              struct cbx_str proof, struct cbx_err *err);

/* Checks that the proof, or a voucher for this run, authenticates the decision's principal by
 * the credential that the decision names, and that this principal may execute under the policy.
 * CBX_EFORBIDDEN. */
int cbx_executor_check_submission(struct cbx_executor *e, const struct cbx_sealed *sealed,
                                  struct cbx_str proof, struct cbx_err *err);

/* Checks that the events of this principal's runs may be sent: the proof, or a voucher for one
 * of its runs, must authenticate it by the credential that the call names. A voucher stays valid
 * here after the principal has lost its rights or the operator has stopped it: the front follows
 * such a run to end it. The caller checks that the run is the principal's. CBX_EFORBIDDEN. */
int cbx_executor_check_resume(struct cbx_executor *e, const struct cbx_resume_args *args,
                              struct cbx_err *err);

/* Checks that a principal with the right to approve accepted exactly this decision: the
 * approver, or, if a client accepted, the principal of the decision. A policy with `four-eyes`
 * requires another principal. CBX_EFORBIDDEN. */
int cbx_executor_check_approver(struct cbx_executor *e, const struct cbx_submit_args *args,
                                const struct cbx_sealed *sealed, struct cbx_err *err);

/* Returns the maximum number of package layers of the decision's principal; 0 = no limit. */
int64_t cbx_executor_layers_of(struct cbx_executor *e, const struct cbx_sealed *sealed);

/* Checks that the caller is an operator of the gateway: the proof authenticates it, and it has
 * the right admin. CBX_EFORBIDDEN, also if callers are not authenticated. */
int cbx_executor_check_operator(struct cbx_executor *e, struct cbx_str principal,
                                struct cbx_str proof, struct cbx_err *err);

/* Makes the voucher that the call requests. CBX_EFORBIDDEN if the proof is of another principal,
 * or of one that lacks the right. */
int cbx_executor_vouch(struct cbx_executor *e, const struct cbx_vouch_args *args,
                       char out[CBX_VOUCHER_CHARS + 1], struct cbx_err *err);

#endif
