/* SPDX-License-Identifier: MIT
 * Options about the authentication of callers of `codebox serve`, the file of shared tokens among
 * them, and the names of the server. */
#ifndef CBX_GATEWAY_CLI_SETTINGS_IDENTITY_OPTIONS_H
#define CBX_GATEWAY_CLI_SETTINGS_IDENTITY_OPTIONS_H

#include "gateway/cli/cli.h"
#include "gateway/identity/identity.h"

#include <limits.h>

enum { CBX_HOSTS_MAX = 16 };

/* Puts the names of --host and the host of --public-url, which `own` keeps, into `hosts`;
 * returns their number. */
size_t cbx_options_hosts(const struct cbx_options *options, char own[300],
                         const char *hosts[CBX_HOSTS_MAX + 1]);

/* Checks that it is an origin (RFC 6454): "https://HOST" or "http://HOST", with or without a
 * port, and nothing after it. NULL passes. CBX_EINVAL. */
int cbx_options_check_url(const char *url, struct cbx_err *err);

/* Appends the contents of the file of --tokens, whose lines were checked; nothing without the
 * option. CBX_EINVAL for a file that is absent, too large, damaged, or replaceable by another
 * user. */
int cbx_options_tokens_read(const struct cbx_options *options, struct cbx_buf *out,
                            struct cbx_err *err);

/* Makes the configuration of callers; paths of keys are relative to the configuration file,
 * whose folder `folder` keeps. `tokens` has the result of cbx_options_tokens_read, and is
 * borrowed. */
void cbx_options_identity_config(const struct cbx_options *options, const struct cbx_buf *tokens,
                                 char folder[PATH_MAX], struct cbx_identity_config *out);

/* Checks that the policies which principals and grants of the configuration file name are
 * loaded. CBX_ENOTFOUND, with line and column. */
int cbx_options_check_principals(const struct cbx_options *options,
                                 const struct cbx_policies *policies, struct cbx_err *err);

/* CBX_EINVAL for an address that is not loopback while callers are not authenticated (`identity`
 * NULL). */
int cbx_listen_check(const struct cbx_listen_address *address, const struct cbx_identity *identity,
                     struct cbx_err *err);

#endif
