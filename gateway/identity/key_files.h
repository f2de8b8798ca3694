/* SPDX-License-Identifier: MIT
 * The files that an issuer's row names: its keys, and the authorities that certify the server of
 * its keys. Authentication depends on both, so only root and the user of the gateway may be able
 * to replace them (gateway/ipc/jail/trusted.h). */
#ifndef CBX_GATEWAY_IDENTITY_KEY_FILES_H
#define CBX_GATEWAY_IDENTITY_KEY_FILES_H

#include "gateway/identity/principals.h"
#include "policies/base/buf.h"

/* Maximum size of either kind. */
enum { CBX_KEY_FILE_BYTES_MAX = CBX_JWKS_MAX };

/* Appends the contents that the issuer's row names, a relative path below `folder` (NULL = the
 * working directory): for a file of keys the set, which was checked; for a URL its authorities
 * in PEM, nothing if the row names none. CBX_EINVAL for a file that is absent, too large,
 * replaceable by another user, or of other content. */
int cbx_key_files_read(const struct cbx_issuer *issuer, const char *folder, struct cbx_buf *out,
                       struct cbx_err *err);

#endif
