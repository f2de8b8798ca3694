/* SPDX-License-Identifier: MIT
 * The hosts that a policy grants, in texts for people and models. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_HOSTS_H
#define CBX_GATEWAY_FRONT_DENIAL_HOSTS_H

#include "policies/base/buf.h"
#include "policies/policy.h"

/* Returns the hosts that programs of this policy may reach, borrowed from it; NULL if it grants
 * none. */
const struct cbx_strs *cbx_hosts_of(const struct cbx_policy *policy);

/* Appends the first hosts: "a, b and 3 more". */
void cbx_hosts_add(const struct cbx_strs *hosts, struct cbx_buf *out);

#endif
