/* SPDX-License-Identifier: MIT
 * Opens a directory or file that the gateway's safety depends on, such as the state directory:
 * refused if another user could replace any part of its path. */
#ifndef CBX_GATEWAY_IPC_JAIL_TRUSTED_H
#define CBX_GATEWAY_IPC_JAIL_TRUSTED_H

#include "policies/base/err.h"

#include <stdbool.h>

/* The rules for opening one kind of path, and the texts of its errors. */
struct cbx_trusted_kind {
    const char *what;   /* name of the kind, for messages: "the state directory" */
    const char *advice; /* advice for the operator if the owner is another user */
    int code;           /* error code of refusals: CBX_EAUDIT, CBX_EINVAL */
    bool file;          /* true for a regular file, false for a directory */
    /* true to create the directory and missing directories above it, with mode 0700 */
    bool makes;
    /* with `makes`: true to create nothing. *out is -1 if the directory is missing and could be
     * created; an existing one must be writable */
    bool tries;
};

/* Opens the path for reading; *out is its descriptor, owned by the caller. CBX_ENOTFOUND if it does
 * not exist and is not created; kind->code, with advice in the detail, if another user could
 * replace any part of the path:
 * - the object and all directories above it must belong to root or to the effective user;
 * - the object must be writable only for its owner; so must the directories above it, unless they
 *   are sticky;
 * - a symbolic link in the path must belong to root or to the effective user, and the
 *   directories of its target are checked in the same way; the last part of a directory's path
 *   must not be a link. */
int cbx_trusted_open(const struct cbx_trusted_kind *kind, const char *path, int *out,
                     struct cbx_err *err);

#endif
