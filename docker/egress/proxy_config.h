/* SPDX-License-Identifier: MIT
 * The configuration of the proxy (Squid) through which the programs of one sandbox reach the
 * hosts that their policy grants. Pure: rules in, a text out. */
#ifndef CBX_DOCKER_EGRESS_PROXY_CONFIG_H
#define CBX_DOCKER_EGRESS_PROXY_CONFIG_H

#include "docker/egress/addresses.h"
#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "policies/policy.h"

#define CBX_PROXY_IMAGE "proxy" /* for cbx_image_name */
/* folder of the proxy container; only its user can write there */
#define CBX_PROXY_FOLDER "/run/codebox"
#define CBX_PROXY_LOG    CBX_PROXY_FOLDER "/access.log"
#define CBX_PROXY_ERRORS "/etc/codebox/errors" /* error pages, in the image */

enum {
    CBX_PROXY_PORT = 3128,
    CBX_PROXY_CONFIG_MAX_BYTES = 256 * 1024,
};

/* All borrowed. */
struct cbx_proxy_rules {
    const struct cbx_strs *hosts; /* patterns: policies/egress.h */
    /* IPv4 CIDRs that names of `hosts` may resolve to in addition to public addresses: parts of
     * the rows of addresses.def that an operator can allow. May be NULL. */
    const struct cbx_strs *allowed;
    /* IPv4 CIDRs that are never reached, in addition to addresses.def; takes precedence over
     * `allowed`. May be NULL. */
    const struct cbx_strs *denied;
};

/* Appends squid.conf for these rules. CBX_EINVAL for a malformed host pattern, no host at all,
 * more than CBX_EGRESS_MAX of them, and for a CIDR that is malformed or that no operator can
 * allow; CBX_ETOOBIG if `out` is full. No text of a caller can become another directive. */
int cbx_proxy_config(const struct cbx_proxy_rules *rules, struct cbx_buf *out, struct cbx_err *err);

#endif
