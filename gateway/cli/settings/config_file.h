/* SPDX-License-Identifier: MIT
 * A configuration file of another program: read, then replaced in one step. The other program sees
 * the old file or the new one, never a part. A symbolic link stays; the file that it leads to is
 * replaced. */
#ifndef CBX_GATEWAY_CLI_SETTINGS_CONFIG_FILE_H
#define CBX_GATEWAY_CLI_SETTINGS_CONFIG_FILE_H

#include "policies/base/buf.h"
#include "policies/base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The file as it was read. */
struct cbx_config_file {
    char path[PATH_MAX]; /* path of the file itself, behind all links */
    bool exists;
    struct stat before;
};

/* Appends the file's bytes, up to the buffer's cap; nothing if there is no such file. Links are
 * followed to files that belong to the effective user; for a project's file, which others may
 * have written, only `within` the working directory. CBX_EINVAL for a link that leads elsewhere
 * or nowhere, and for anything else that is not a regular file, CBX_ETOOBIG, CBX_EIO. */
int cbx_config_file_read(const char *path, bool within, struct cbx_config_file *out,
                         struct cbx_buf *text, struct cbx_err *err);

/* Replaces the file by one with these bytes and with its mode and owner. A new file gets `mode`,
 * and missing folders get the same with the right to search. CBX_ESTATE if the file was changed
 * since it was read, CBX_EINVAL if it is read-only, which a rename would ignore, CBX_EIO; then
 * the file is unchanged. */
int cbx_config_file_replace(const struct cbx_config_file *file, struct cbx_str text, mode_t mode,
                            struct cbx_err *err);

#endif
