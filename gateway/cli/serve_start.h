/* SPDX-License-Identifier: MIT
 * What `codebox serve` reads and opens before its processes start. */
#ifndef CBX_GATEWAY_CLI_SERVE_START_H
#define CBX_GATEWAY_CLI_SERVE_START_H

#include "gateway/cli/cli.h"
#include "gateway/identity/identity.h"

#include <limits.h>

struct cbx_serve_start {
    const struct cbx_options *options;
    struct cbx_problems *problems; /* of a check; NULL in a start */
    struct cbx_listen_address address;
    struct cbx_identity *identity;    /* NULL = callers are not authenticated */
    struct cbx_buf certificate;       /* of cbx_options_tls_read */
    int listening, socket;            /* descriptors; 0 = none */
    char folder[PATH_MAX];            /* of the front */
    bool address_taken, socket_taken; /* of a check: another process listens there */
    bool unknown_callers;             /* of a check: who is authenticated could not be read */
};

/* Reads and opens all of it, from options that were read. *out is for cbx_serve_start_done, also on failure. The error has the place of its key. */
int cbx_serve_start(const struct cbx_options *options, struct cbx_serve_start *out,
                    struct cbx_err *err);
void cbx_serve_start_done(struct cbx_serve_start *start);
CBX_DEFINE_AUTO_DONE(serve_start)

/* Adds all that cbx_serve_start and cbx_flow_start would refuse, and makes and opens nothing. An address that is taken is no problem, for this
 * gateway may run: *out says so. */
void cbx_serve_check(const struct cbx_options *options, struct cbx_serve_start *out,
                     struct cbx_problems *problems);

#endif
