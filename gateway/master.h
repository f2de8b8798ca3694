/* SPDX-License-Identifier: MIT
 * The process that a user starts. It does nothing but fork the others (front, nursery, executor),
 * hold the sockets between them, and fork again what was killed: requests wait in the sockets
 * meanwhile. It ends with the front. */
#ifndef CBX_GATEWAY_MASTER_H
#define CBX_GATEWAY_MASTER_H

#include "gateway/review.h"

/* The front's ends. */
struct cbx_master_sockets {
    int nursery, executor;
};

/* Forks. Returns 0 in the front alone, once for each front that there is; the caller's process ends
 * in here with the front's exit status. Call it before there are threads, and before anything is
 * open that the others should not have. Policies and configuration are borrowed. */
int cbx_master_fork(const struct cbx_flow_config *config, const struct cbx_policies *policies,
                    struct cbx_master_sockets *out, struct cbx_err *err);

#endif
