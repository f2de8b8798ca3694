/* SPDX-License-Identifier: MIT
 * What a decision has of its policy, checked against the policy itself: a worker that is taken over
 * cannot seal wider limits, another network or a weaker guard. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_POLICY_CHECK_H
#define CBX_GATEWAY_EXECUTOR_RUN_POLICY_CHECK_H

#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/seal/seal.h"

/* CBX_ESEAL unless: the policy is one of these, by name and by SHA-256, and has the language on its list;
 * each limit is within the policy's; the network is the policy's; the guard is the one that the policy
 * gives for the language and the principal; the variables
 * are those that it passes, and a caller may set the others; programs that may be started nevertheless are on the
 * policy's list; for a file, `text` is what the ledger has of it; `packages` is what the seal has the hash of; for an install,
 * the policy has a network for it, and does not forbid all packages. */
int cbx_executor_check_policy(const struct cbx_policies *policies, const struct cbx_sealed *sealed,
                              struct cbx_str text, struct cbx_str packages, struct cbx_err *err);

#endif
