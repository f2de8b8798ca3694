/* SPDX-License-Identifier: MIT
 * The hosts that programs of a sandbox may connect to, as granted by its policy, and the records
 * of their connections and refusals. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_NETWORK_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_NETWORK_H

#include "gateway/executor/executor_internal.h"
#include "policies/policy.h"

/* Grants the policy's hosts to a claimed or adopted sandbox; no effect if the policy grants no
 * hosts, or the sandbox was claimed for another policy. Each request to the proxy becomes a
 * record "network" of the audit log. */
void cbx_executor_grant_network(struct cbx_executor *e, const struct cbx_policy *policy,
                                struct cbx_sandbox *sandbox);

/* Called before the decision is recorded: adds the hosts that its policy grants to the JSON of a
 * decision that opens a sandbox or runs in one, as "hosts". */
void cbx_executor_describe_network(struct cbx_executor *e, struct cbx_sealed *sealed);

/* Appends the variables by which HTTP clients find the proxy, NAME=VALUE and NUL each; nothing
 * if the policy grants no hosts. */
void cbx_network_variables(const struct cbx_policy *policy, struct cbx_buf *out);

#endif
