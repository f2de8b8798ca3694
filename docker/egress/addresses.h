/* SPDX-License-Identifier: MIT
 * IPv4 addresses that are never reached for a program: neither by the proxy of a sandbox nor by
 * an installer of packages. Pure. */
#ifndef CBX_DOCKER_EGRESS_ADDRESSES_H
#define CBX_DOCKER_EGRESS_ADDRESSES_H

#include "policies/base/err.h"
#include "policies/policy.h"

enum {
    CBX_ADDRESSES_CIDRS_MAX = 256, /* maximum number of CIDRs in a list of a configuration */
    CBX_ADDRESSES_RANGES_MAX = 32 + 3 * CBX_ADDRESSES_CIDRS_MAX,
};

/* Addresses first..last, in host byte order. */
struct cbx_addresses {
    uint32_t first, last;
};

/* Reads A.B.C.D or A.B.C.D/PREFIX, without leading zeros and with zeros after the prefix; else
 * CBX_EINVAL. */
int cbx_addresses_parse(struct cbx_str cidr, struct cbx_addresses *out, struct cbx_err *err);

/* Checks a range that an operator wants to allow: it must be part of a row of addresses.def with
 * may_allow, and of no other row. CBX_EINVAL. */
int cbx_addresses_may_allow(struct cbx_str cidr, struct cbx_err *err);

/* Lists the ranges of addresses.def that an operator did not allow, and the ranges of `deny`,
 * sorted and disjoint, at most CBX_ADDRESSES_RANGES_MAX; *count is their number. Both lists have
 * CIDRs and may be NULL. CBX_EINVAL for a malformed CIDR, or one in `allow` that cannot be
 * allowed, CBX_ETOOBIG. */
int cbx_addresses_unreachable(const struct cbx_strs *allow, const struct cbx_strs *deny,
                              struct cbx_addresses out[CBX_ADDRESSES_RANGES_MAX], size_t *count,
                              struct cbx_err *err);

#endif
