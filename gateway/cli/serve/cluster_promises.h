/* SPDX-License-Identifier: MIT
 * Settings of policies that a cluster cannot enforce or provide. Such a policy is refused when a
 * gateway starts or reloads, and not at the first run. */
#ifndef CBX_GATEWAY_CLI_SERVE_CLUSTER_PROMISES_H
#define CBX_GATEWAY_CLI_SERVE_CLUSTER_PROMISES_H

#include "gateway/cli/settings/settings.h"
#include "gateway/executor/executor.h"
#include "gateway/ipc/master/policy_set.h"

/* Checks the policies against the settings of the executor's engine, if that is a cluster. *out gets
 * an error with policy, key and remedy for each promise that cannot be held; promises that hold in
 * part are logged. CBX_EPOLICY if there is one; CBX_EENGINE for settings that cannot be read; *err is
 * the last error. Reads no credentials. */
int cbx_cluster_promises_check(const struct cbx_policies *policies,
                               const struct cbx_executor_config *executor, struct cbx_problems *out,
                               struct cbx_err *err);

#endif
