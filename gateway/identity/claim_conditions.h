/* SPDX-License-Identifier: MIT
 * Conditions on the claims of a token, from a mapping of the configuration: the name of a claim,
 * and the values of which it has to have one.
 *
 *   {tid: 4f1c, groups: [sandbox-users, "sandbox-*"], realm_access.roles: analyst} */
#ifndef CBX_GATEWAY_IDENTITY_CLAIM_CONDITIONS_H
#define CBX_GATEWAY_IDENTITY_CLAIM_CONDITIONS_H

#include "policies/base/err.h"
#include "policies/load/yaml.h"

#include <jansson.h>
#include <stdbool.h>

enum { CBX_CONDITION_VALUES = 16, CBX_CONDITION_BYTES = 256 };

struct cbx_condition {
    /* indices of its rows; grant -1: it applies to all tokens of the issuer */
    int issuer, grant;
    char claim[CBX_CONDITION_BYTES + 1];
    char values[CBX_CONDITION_VALUES][CBX_CONDITION_BYTES + 1]; /* globs */
    size_t value_count;
};

/* Reads one entry of the mapping. CBX_EINVAL with line and column. */
int cbx_condition_read(const struct cbx_yaml *entry, struct cbx_condition *out,
                       struct cbx_err *err);

/* True if the claim has one of the values. It is the claim with this name; if there is none, the
 * name is a path of objects, such as "realm_access.roles". The values of a list are its items, the
 * values of `scope` and `scp` as a text are its words (RFC 8693, section 4.2); a number or a truth
 * value is compared in its JSON form. False for an absent claim, and for every other type. */
bool cbx_condition_holds(const struct cbx_condition *condition, const json_t *claims);

#endif
