/* SPDX-License-Identifier: MIT
 * What the programs of a sandbox may reach: the hosts that its policy grants, and the records of what they reached and were refused. */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_NETWORK_H
#define CBX_GATEWAY_EXECUTOR_RUN_EXECUTOR_NETWORK_H

#include "gateway/executor/executor_internal.h"
#include "policies/policy.h"

/* Grants a sandbox that was claimed, or adopted, what its policy does; nothing when that grants no hosts, or is not the policy that the
 * sandbox was claimed for. Each request to the proxy becomes a record "network" of the audit log. */
void cbx_executor_grant_network(struct cbx_executor *e, const struct cbx_policy *policy,
                                struct cbx_sandbox *sandbox);

/* Before the decision is recorded: adds the hosts that its policy grants to the JSON of a decision that opens a sandbox or runs in one, as
 * "hosts". */
void cbx_executor_describe_network(struct cbx_executor *e, struct cbx_sealed *sealed);

/* Appends the variables by which HTTP clients find the proxy, NAME=VALUE and NUL each; nothing when the policy grants no hosts. */
void cbx_network_variables(const struct cbx_policy *policy, struct cbx_buf *out);

#endif
