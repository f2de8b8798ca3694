/* SPDX-License-Identifier: MIT
 * The options --tls-certificate and --tls-key of `codebox serve`. */
#ifndef CBX_GATEWAY_CLI_SETTINGS_TLS_OPTIONS_H
#define CBX_GATEWAY_CLI_SETTINGS_TLS_OPTIONS_H

#include "gateway/cli/settings/cli_options.h"
#include "gateway/front/http/tls.h"
#include "policies/base/buf.h"

/* The name of this part in a reload (gateway/ipc/master/reload.h). */
#define CBX_TLS_PART "certificate"

/* A file that an option names, and its contents. `bytes` does not grow: memory that a buffer left
 * behind in the heap would be in every process that is forked later. */
struct cbx_pem_file {
    const char *option, *path;
    const char *secret; /* what other users must not be able to read; NULL = nothing */
};
struct cbx_pem {
    char bytes[CBX_TLS_PEM_MAX + 1];
    size_t len;
};

/* Reads a file that only root and this user can replace. CBX_EINVAL. */
int cbx_pem_read(const struct cbx_pem_file *file, struct cbx_pem *out, struct cbx_err *err);

/* Returns true if the options ask for TLS. */
bool cbx_options_tls(const struct cbx_options *options);

/* Reads and checks both files, and appends them for cbx_tls_use. CBX_EINVAL if only one option
 * is given, if another user could replace a file or read the key, and for files that
 * cbx_tls_write refuses. `out` has a private key: the caller cleanses it. */
int cbx_options_tls_read(const struct cbx_options *options, struct cbx_buf *out,
                         struct cbx_err *err);

/* Reads when the certificate in use (cbx_tls_use) expires: "2027-01-31 10:00 UTC", and in how
 * many days. False if there is none. */
enum { CBX_TLS_DATE_BYTES = 32, CBX_TLS_SOON_DAYS = 14 };
bool cbx_options_tls_expiry(char date[CBX_TLS_DATE_BYTES], int64_t *days);

#endif
