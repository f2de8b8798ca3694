/* SPDX-License-Identifier: MIT
 * The options about the networks of proxies, and the addresses of this host. */
#ifndef CBX_GATEWAY_CLI_SETTINGS_NETWORK_OPTIONS_H
#define CBX_GATEWAY_CLI_SETTINGS_NETWORK_OPTIONS_H

#include "docker/sandbox/sandbox.h"
#include "policies/base/err.h"

/* Checks the network of the settings, and fills their ranges: `allowed` from the words of
 * --egress-range, `denied` with the IPv4 addresses of this host except loopback, which is denied
 * anyway. Call it once; the ranges stay for the life of the process. CBX_EINVAL for a word that
 * is no range, and for a range that cannot be allowed (docker/egress/addresses.def). */
int cbx_network_ranges(const char *const *words, size_t count, struct cbx_network_settings *out,
                       struct cbx_err *err);

#endif
