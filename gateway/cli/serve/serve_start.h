/* SPDX-License-Identifier: MIT
 * What `codebox serve` reads and opens before its processes start. */
#ifndef CBX_GATEWAY_CLI_SERVE_SERVE_START_H
#define CBX_GATEWAY_CLI_SERVE_SERVE_START_H

#include "gateway/cli/cli.h"
#include "gateway/cli/settings/settings.h"
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
    bool unusable_state;              /* of a check */
};

/* Reads and opens all of it, from options that were read. *out is for cbx_serve_start_done, also
 * on failure. The error has the place of its key. */
int cbx_serve_start(const struct cbx_options *options, struct cbx_serve_start *out,
                    struct cbx_err *err);
void cbx_serve_start_done(struct cbx_serve_start *start);
CBX_DEFINE_AUTO_DONE(serve_start)

/* Adds all that cbx_serve_start and cbx_flow_start would refuse, and an audit log with which
 * nothing would run, and makes nothing. What serve would start with, and log, are warnings: an
 * engine that does not answer, images that are missing. An address that is taken is neither, for
 * this gateway may run: *out says so. */
void cbx_serve_check(const struct cbx_options *options, struct cbx_serve_start *out,
                     struct cbx_problems *problems, struct cbx_problems *warnings);

/* The steps of a check about what the processes open later (serve_check.c): audit log, database,
 * engine. NULL `problems`: the state directory cannot be used, and nothing of it is opened. */
void cbx_serve_check_later(const struct cbx_options *options, struct cbx_problems *problems,
                           struct cbx_problems *warnings);

#endif
