/* SPDX-License-Identifier: MIT
 * SIGHUP in `codebox serve`: the configuration file and what it names are read again. The rows of
 * reloadables.def say what can change; any other setting that differs is named in the log, and is
 * used from the next start on. */
#ifndef CBX_GATEWAY_CLI_SERVE_CLI_RELOAD_H
#define CBX_GATEWAY_CLI_SERVE_CLI_RELOAD_H

#include "gateway/cli/settings/cli_options.h"
#include "gateway/identity/identity.h"
#include "gateway/ipc/master/master.h"
#include "gateway/ipc/master/policy_set.h"

/* What is in use, and how it is configured. Borrowed for the life of the gateway. */
struct cbx_reload_context {
    const struct cbx_options *options; /* of the start */
    struct cbx_policies *policies;     /* in use; replaced when a set is taken over */
    struct cbx_identity *identity;     /* the same; NULL = callers are not authenticated */
    struct cbx_str certificate; /* the part of TLS in use; empty = HTTP, or not of this process */
};

/* The two calls of struct cbx_master_reload; their context is a struct cbx_reload_context. */
int cbx_reload_load(void *context, struct cbx_buf *set);
int cbx_reload_adopt(void *context, const struct cbx_reload_part *part, struct cbx_err *err);

#endif
