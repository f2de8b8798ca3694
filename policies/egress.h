/* SPDX-License-Identifier: MIT
 * Hosts that programs of a sandbox may connect to: the patterns of `network.egress`. A pattern
 * is NAME or *.DOMAIN, each with an optional :PORT; without a port it grants 80 and 443. Names
 * are DNS host names, never addresses. Pure: this module resolves no names. */
#ifndef CBX_POLICIES_EGRESS_H
#define CBX_POLICIES_EGRESS_H

#include "policies/policy.h"

enum {
    CBX_EGRESS_MAX = 256,      /* maximum number of patterns of a policy */
    CBX_EGRESS_NAME_MAX = 253, /* maximum size of a host name */
    CBX_EGRESS_HTTP = 80,
    CBX_EGRESS_HTTPS = 443,
};

struct cbx_egress_host {
    struct cbx_str name; /* borrowed from the pattern; lower case, without "*." */
    bool subdomains;     /* true for the names below `name`, at any depth, without `name` itself */
    uint16_t port;       /* 0 = 80 and 443 */
};

/* CBX_EINVAL for a text that is not a pattern, with the found and the allowed text. A valid name
 * has only letters, digits, '-' and '.'. */
int cbx_egress_parse(struct cbx_str pattern, struct cbx_egress_host *out, struct cbx_err *err);

/* True if one of the patterns grants this port of this host. Upper case counts as lower case;
 * one dot at the end of `host` is ignored. False for addresses, and for texts that are no host
 * name. */
bool cbx_egress_grants(const struct cbx_strs *patterns, struct cbx_str host, uint16_t port);

/* The same for HOST:PORT; without a port, 80 and 443 must both be granted. */
bool cbx_egress_grants_all(const struct cbx_strs *patterns, struct cbx_str target);

/* The opposite for tests of policies: true if no port of the target is granted. */
bool cbx_egress_grants_none(const struct cbx_strs *patterns, struct cbx_str target);

/* True if `patterns` grant everything that `pattern` grants. */
bool cbx_egress_covers(const struct cbx_strs *patterns, struct cbx_str pattern);

/* Returns the patterns for the hosts that both lists grant, in `arena`. CBX_ETOOBIG if these are
 * more than CBX_EGRESS_MAX, or the arena is full. */
int cbx_egress_common(const struct cbx_strs *a, const struct cbx_strs *b, struct cbx_arena *arena,
                      struct cbx_strs *out, struct cbx_err *err);

#endif
