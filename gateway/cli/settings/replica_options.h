/* SPDX-License-Identifier: MIT
 * The options --replica, --peer, --peer-listen, --peer-certificate, --peer-key, --peer-ca and
 * --instance-secret of `codebox serve`. */
#ifndef CBX_GATEWAY_CLI_SETTINGS_REPLICA_OPTIONS_H
#define CBX_GATEWAY_CLI_SETTINGS_REPLICA_OPTIONS_H

#include "gateway/cli/settings/cli_options.h"
#include "gateway/ipc/replicas.h"
#include "policies/base/buf.h"

/* The name of this part in a reload (gateway/ipc/master/reload.h). */
#define CBX_REPLICAS_PART "replicas"

/* Reads the replicas; without --replica *out is zeroed. CBX_EINVAL for malformed names and rows,
 * and if some of the options are missing: a replica with others needs all of them. */
int cbx_options_replicas(const struct cbx_options *options, struct cbx_replicas *out,
                         struct cbx_err *err);

/* Reads and checks the three files and appends them for cbx_link_tls_new. Errors as of
 * cbx_options_tls_read and cbx_link_write. `out` has a private key: the caller cleanses it. */
int cbx_options_replicas_read(const struct cbx_options *options, struct cbx_buf *out,
                              struct cbx_err *err);

/* Reads the secret of --instance-secret and appends the seeds of these replicas
 * (gateway/executor/sessions/instance_seeds.h); nothing without the option. CBX_EINVAL without
 * --replica or --store, for a file that other users can read or replace, and for a secret that is
 * too short. The caller cleanses `out`. */
int cbx_options_instances_read(const struct cbx_options *options,
                               const struct cbx_replicas *replicas, struct cbx_buf *out,
                               struct cbx_err *err);

#endif
