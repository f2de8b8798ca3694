/* SPDX-License-Identifier: MIT
 * A configuration file of another program: read, then replaced in one step. The other program sees
 * the old file or the new one, never a part; links are not followed. */
#ifndef CBX_GATEWAY_CLI_CONFIG_FILE_H
#define CBX_GATEWAY_CLI_CONFIG_FILE_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

#include <sys/stat.h>

/* What was read. The path is borrowed. */
struct cbx_config_file {
    const char *path;
    bool exists;
    struct stat before;
};

/* Appends the file's bytes, up to the buffer's cap; nothing when there is no such file. CBX_EINVAL
 * for a link or anything else that is not a regular file, CBX_ETOOBIG, CBX_EIO. */
int cbx_config_file_read(const char *path, struct cbx_config_file *out, struct cbx_buf *text,
                         struct cbx_err *err);

/* Replaces the file by one with these bytes and the mode and owner that it had. A new one gets
 * `mode`, and the folders that it lacks get it with the right to search. CBX_ESTATE when the file
 * was changed since it was read, CBX_EIO; the file is as it was then. */
int cbx_config_file_replace(const struct cbx_config_file *file, struct cbx_str text, mode_t mode,
                            struct cbx_err *err);

#endif
