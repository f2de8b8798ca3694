/* SPDX-License-Identifier: MIT
 * Settings of a decision that follow from its policy. The seal has the policy's name and hash
 * and the caller's requests; limits, network, guard, programs, variables and mode are derived
 * from the policy here, so no worker, compromised or not, can change them. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_DERIVE_H
#define CBX_GATEWAY_EXECUTOR_RUN_DERIVE_H

#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/seal/seal.h"

/* CBX_ESEAL unless: the policy is one of `policies`, by name and by SHA-256, and lists the
 * language; it allows the caller's variables and mounts; for a file, `text` matches the ledger;
 * `packages` matches the hash in the seal; for an install, the policy has a network for it, and
 * does not forbid all packages. */
int cbx_executor_check_policy(const struct cbx_policies *policies, const struct cbx_sealed *sealed,
                              struct cbx_str text, struct cbx_str packages, struct cbx_err *err);

/* Completes the permit of a checked decision, and writes the additional members of its audit
 * record into sealed->json, replacing `asked`: arguments, mounts, limits, network, guard,
 * programs, refusal_ends, environment, mode and packages. `text` and `packages` as above. */
void cbx_executor_derive(const struct cbx_policies *policies, struct cbx_sealed *sealed,
                         struct cbx_str text, struct cbx_str packages);

#endif
