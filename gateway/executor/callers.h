/* SPDX-License-Identifier: MIT
 * Who may have what done, checked by the executor itself: a front that is taken over names any principal, any policy and any
 * approver. The rows of principals, the tokens and the keys of issuers come from the master, the file of tokens and the process that
 * fetches keys, never from the front. Where callers are not authenticated (no identity) nothing is checked. A principal of a Unix
 * socket has nothing to show; such a front can name another user, and the rows alone hold. */
#ifndef CBX_GATEWAY_EXECUTOR_CALLERS_H
#define CBX_GATEWAY_EXECUTOR_CALLERS_H

#include "gateway/ipc/wire/executor_calls.h"

struct cbx_executor;

/* May this be done in the principal's name: does the proof authenticate it, and may it execute? Of a session's files, its input and its
 * reset. CBX_EFORBIDDEN. */
int cbx_executor_check_caller(struct cbx_executor *e, struct cbx_str principal,
                              struct cbx_str proof, struct cbx_err *err);

/* May the decision be carried out: does the proof, or a voucher for this run, authenticate its principal by the credential that the
 * decision names, and may that principal execute under the policy? CBX_EFORBIDDEN. */
int cbx_executor_check_submission(struct cbx_executor *e, const struct cbx_sealed *sealed,
                                  struct cbx_str proof, struct cbx_err *err);

/* May the events of this principal's runs be given out: does the proof, or a voucher for one of its runs, authenticate it by the credential
 * that the call names? A voucher counts although the principal has lost its rights since, or the operator has stopped it: the front ends such
 * a run while it follows it. That the run is the principal's is for the caller. CBX_EFORBIDDEN. */
int cbx_executor_check_resume(struct cbx_executor *e, const struct cbx_resume_args *args,
                              struct cbx_err *err);

/* Did somebody with the right to approve accept exactly this decision: the approver, or, where a client accepted, the principal that
 * the decision is of? Under a policy with `four-eyes` it is another principal. CBX_EFORBIDDEN. */
int cbx_executor_check_approver(struct cbx_executor *e, const struct cbx_submit_args *args,
                                const struct cbx_sealed *sealed, struct cbx_err *err);

/* How many layers of packages the principal of the decision may have; 0 = no limit. */
int64_t cbx_executor_layers_of(struct cbx_executor *e, const struct cbx_sealed *sealed);

/* Is this an operator of the gateway: does the proof authenticate it, and has it the right admin? CBX_EFORBIDDEN, also where callers are
 * not authenticated. */
int cbx_executor_check_operator(struct cbx_executor *e, struct cbx_str principal,
                                struct cbx_str proof, struct cbx_err *err);

/* Makes the voucher that the call asks for. CBX_EFORBIDDEN when the proof is of another principal, or that lacks the right. */
int cbx_executor_vouch(struct cbx_executor *e, const struct cbx_vouch_args *args,
                       char out[CBX_VOUCHER_CHARS + 1], struct cbx_err *err);

#endif
