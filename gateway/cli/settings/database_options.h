/* SPDX-License-Identifier: MIT
 * The options --store, --store-password and --store-ca of `codebox serve`: a PostgreSQL database
 * for sessions and executions, in place of a file of the state directory. */
#ifndef CBX_GATEWAY_CLI_SETTINGS_DATABASE_OPTIONS_H
#define CBX_GATEWAY_CLI_SETTINGS_DATABASE_OPTIONS_H

#include "gateway/cli/settings/cli_options.h"
#include "policies/base/buf.h"

/* The name of this part in a reload (gateway/ipc/master/reload.h). */
#define CBX_DATABASE_PART "database"

/* Reads and checks the options and their files, and appends the target of the database's process
 * (cbx_database_target_write); nothing without --store. The URL has a host, and no parameter that
 * names a file: that process has none. A server that is not on this machine needs --store-ca, or
 * an sslmode in the URL that does without. CBX_EINVAL. `out` has a password: the caller cleanses
 * it. */
int cbx_options_database_read(const struct cbx_options *options, struct cbx_buf *out,
                              struct cbx_err *err);

/* Connects to the server of --store and changes nothing; success without --store, and if the options
 * are malformed. CBX_EIO with the reason; the detail has names of hosts. */
int cbx_options_database_try(const struct cbx_options *options, struct cbx_err *err);

#endif
