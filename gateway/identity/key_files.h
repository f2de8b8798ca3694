/* SPDX-License-Identifier: MIT
 * The files that an issuer's row names: its keys, and the authorities that certify the server of
 * its keys. Both decide who is let in, so only root and the user of the gateway may be able to
 * replace them (gateway/ipc/jail/trusted.h). */
#ifndef CBX_GATEWAY_IDENTITY_KEY_FILES_H
#define CBX_GATEWAY_IDENTITY_KEY_FILES_H

#include "gateway/identity/principals.h"
#include "policies/base/buf.h"

/* Of either kind. */
enum { CBX_KEY_FILE_BYTES_MAX = CBX_JWKS_MAX };

/* Appends what the issuer's row names, a relative path below `folder` (NULL = the working
 * directory): of a file of keys the set, which can be used; of a URL its authorities in PEM,
 * nothing when the row names none. CBX_EINVAL for a file that is absent, too large, another
 * user's to replace, or of other content. */
int cbx_key_files_read(const struct cbx_issuer *issuer, const char *folder, struct cbx_buf *out,
                       struct cbx_err *err);

#endif
