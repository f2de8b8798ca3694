/* SPDX-License-Identifier: MIT
 * What a decision gets of its policy. The seal has the policy's name and hash and what was asked for; limits, network, guard, programs, variables
 * and mode follow from the policy here, so no worker, taken over or not, has a part in them. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_DERIVE_H
#define CBX_GATEWAY_EXECUTOR_RUN_DERIVE_H

#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/seal/seal.h"

/* CBX_ESEAL unless: the policy is one of these, by name and by SHA-256, and has the language on its list; it lets a caller set the variables and
 * grants the mounts; for a file, `text` is what the ledger has of it; `packages` is what the seal has the hash of; for an install, the policy has a
 * network for it, and does not forbid all packages. */
int cbx_executor_check_policy(const struct cbx_policies *policies, const struct cbx_sealed *sealed,
                              struct cbx_str text, struct cbx_str packages, struct cbx_err *err);

/* Completes the permit of a decision that was checked, and writes what its audit record has beside the seal into sealed->json, in the place of
 * `asked`: arguments, mounts, limits, network, guard, programs, refusal_ends, environment, mode and packages. `text` and `packages` as above. */
void cbx_executor_derive(const struct cbx_policies *policies, struct cbx_sealed *sealed,
                         struct cbx_str text, struct cbx_str packages);

#endif
