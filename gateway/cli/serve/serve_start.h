/* SPDX-License-Identifier: MIT
 * Reads and opens what `codebox serve` needs before its processes start. */
#ifndef CBX_GATEWAY_CLI_SERVE_SERVE_START_H
#define CBX_GATEWAY_CLI_SERVE_SERVE_START_H

#include "gateway/cli/cli.h"
#include "gateway/cli/settings/settings.h"
#include "gateway/identity/identity.h"
#include "gateway/ipc/replicas.h"

#include <limits.h>

struct cbx_serve_start {
    const struct cbx_options *options;
    struct cbx_problems *problems; /* of a check; NULL in a start */
    struct cbx_listen_address address;
    struct cbx_identity *identity; /* NULL = callers are not authenticated */
    struct cbx_buf tokens;         /* result of cbx_options_tokens_read */
    struct cbx_buf certificate;    /* result of cbx_options_tls_read */
    int listening, socket;         /* descriptors of the front; 0 = none */
    struct cbx_replicas replicas;  /* zeroed without --replica */
    struct cbx_listen_address peer_address;
    int peer_listening;       /* descriptor for the process of links; 0 = none */
    struct cbx_buf peer_pem;  /* result of cbx_options_replicas_read */
    struct cbx_buf database;  /* result of cbx_options_database_read */
    struct cbx_buf instances; /* result of cbx_options_instances_read */
    char folder[PATH_MAX];    /* the working directory of the front */
    /* of a check: another process listens on the address */
    bool address_taken, socket_taken, peer_address_taken;
    bool unknown_callers; /* of a check: the identities could not be read */
    bool unusable_state;  /* of a check */
};

/* Reads and opens all of it, from options that were read. The caller calls cbx_serve_start_done,
 * also after a failure. An error has the place of its key. */
int cbx_serve_start(const struct cbx_options *options, struct cbx_serve_start *out,
                    struct cbx_err *err);
void cbx_serve_start_done(struct cbx_serve_start *start);
CBX_DEFINE_AUTO_DONE(serve_start)

/* Adds every problem for which cbx_serve_start and cbx_flow_start would fail, and an audit log
 * with which nothing would run; makes nothing. Problems with which serve would start, and which
 * it would log, are warnings: an engine that does not answer, missing images. An address in use
 * is neither, for this gateway may run: *out has it. */
void cbx_serve_check(const struct cbx_options *options, struct cbx_serve_start *out,
                     struct cbx_problems *problems, struct cbx_problems *warnings);

/* The steps of a check about what the processes open later (serve_check.c): audit log, database,
 * engine. NULL `problems`: the state directory cannot be used, and nothing in it is opened. */
void cbx_serve_check_later(const struct cbx_options *options, struct cbx_problems *problems,
                           struct cbx_problems *warnings);

#endif
