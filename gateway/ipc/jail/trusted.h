/* SPDX-License-Identifier: MIT
 * Opening a directory or file that decides what is safe, such as the state directory: refused when
 * another user could replace any part of its path. */
#ifndef CBX_GATEWAY_IPC_JAIL_TRUSTED_H
#define CBX_GATEWAY_IPC_JAIL_TRUSTED_H

#include "policies/base/err.h"

#include <stdbool.h>

/* The rules and the words for errors. */
struct cbx_trusted_kind {
    const char *what;   /* "the state directory" */
    const char *advice; /* what to do when its owner is another one */
    int code;           /* of refusals: CBX_EAUDIT, CBX_EINVAL */
    bool file;          /* a regular file; else a directory */
    bool makes;         /* a directory: it and what is missing above it are made, with mode 0700 */
    bool
        tries; /* with `makes`: nothing is made. *out is -1 when it is missing and could be made; one that is there must
                   be writable */
};

/* Opens it for reading; *out is its descriptor, the caller's. CBX_ENOTFOUND when it does not exist
 * and is not made; kind->code, with what to do in the detail, when another user could replace any
 * part of it:
 * - it and all directories above it must belong to root or to the effective user;
 * - it must be writable for its owner alone; so must those above it, unless they are sticky;
 * - a symbolic link on the way must belong to root or to the effective user, and what it leads
 *   through is checked in the same way; a directory itself must be none. */
int cbx_trusted_open(const struct cbx_trusted_kind *kind, const char *path, int *out,
                     struct cbx_err *err);

#endif
