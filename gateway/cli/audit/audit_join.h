/* SPDX-License-Identifier: MIT
 * Outcomes over the logs of several replicas: a replica that takes over from another one records the
 * outcomes of runs whose decisions are in the other log. */
#ifndef CBX_GATEWAY_CLI_AUDIT_AUDIT_JOIN_H
#define CBX_GATEWAY_CLI_AUDIT_AUDIT_JOIN_H

#include "policies/base/err.h"

#include <stddef.h>

/* Reads the logs of these folders, which were verified, and prints each permitted action without an
 * outcome in any of them, and each with several; a presumed outcome (outcomes.h) counts only where
 * no other one is. Returns the exit status: 0, 1 with such findings, 2 if a log cannot be read. */
int cbx_audit_join_print(const char *const *folders, size_t count);

#endif
