/* SPDX-License-Identifier: MIT
 * SIGHUP in `codebox serve`: the configuration file and the files that it names are read again.
 * The rows of reloadables.def can change; every other changed setting is named in the log, and
 * takes effect at the next start. */
#ifndef CBX_GATEWAY_CLI_SERVE_CLI_RELOAD_H
#define CBX_GATEWAY_CLI_SERVE_CLI_RELOAD_H

#include "gateway/cli/settings/cli_options.h"
#include "gateway/identity/identity.h"
#include "gateway/ipc/master/master.h"
#include "gateway/ipc/master/policy_set.h"

/* The configuration in use, and its sources. Borrowed for the life of the gateway. */
struct cbx_reload_context {
    const struct cbx_options *options; /* options of the start */
    struct cbx_policies *policies;     /* policies in use; replaced by a reload */
    struct cbx_identity *identity;     /* identities in use; NULL = callers are not authenticated */
    /* the part of TLS in use; empty = HTTP, or another process has it */
    struct cbx_str certificate;
};

/* In the process of links, once it has adopted its part: the files of this replica
 * (cbx_link_write), borrowed. */
struct cbx_str cbx_reload_replicas_pem(void);

/* In the process of the database, the same: its target (database_process.h), borrowed. */
struct cbx_str cbx_reload_database(void);

/* In the executor, the same: the seeds of replicas (instance_seeds.h), borrowed; empty = none. */
struct cbx_str cbx_reload_instances(void);

/* The functions of struct cbx_master_reload; their context is a struct cbx_reload_context. */
int cbx_reload_load(void *context, struct cbx_buf *set);
int cbx_reload_adopt(void *context, const struct cbx_reload_part *part, struct cbx_err *err);

#endif
