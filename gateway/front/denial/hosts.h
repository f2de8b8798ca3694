/* SPDX-License-Identifier: MIT
 * The hosts that a policy grants, as texts for people and models have them. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_HOSTS_H
#define CBX_GATEWAY_FRONT_DENIAL_HOSTS_H

#include "policies/base/buf.h"
#include "policies/policy.h"

/* The hosts that programs of this policy may reach, borrowed from it; NULL when it grants none. */
const struct cbx_strs *cbx_hosts_of(const struct cbx_policy *policy);

/* Appends "a, b and 3 more": the first ones. */
void cbx_hosts_add(const struct cbx_strs *hosts, struct cbx_buf *out);

#endif
