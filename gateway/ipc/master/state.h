/* SPDX-License-Identifier: MIT
 * The state directory: the executor's audit log, key and instances, and in the folder `front` the
 * front's database. */
#ifndef CBX_GATEWAY_IPC_MASTER_STATE_H
#define CBX_GATEWAY_IPC_MASTER_STATE_H

#include "policies/base/err.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Writes the path of the default state directory: /var/lib/codebox for root, else
 * $XDG_STATE_HOME/codebox, else ~/.local/state/codebox. */
int cbx_state_default(char *out, size_t size, struct cbx_err *err);

/* Opens the directory; *out is its descriptor, owned by the caller. The directory and missing ones
 * above it are created with mode 0700. CBX_EAUDIT, with advice in the detail, if another user could
 * replace any part of the path:
 * - the directory and all above it must belong to root or to the effective user;
 * - the directory must be writable only for its owner; so must those above it, unless they are
 *   sticky;
 * - the directory must not be a symbolic link; a link above it must belong to root or to the
 *   effective user, and the directories of its target are checked in the same way;
 * - the directory must not be in a file system of Linux itself (proc, sysfs, cgroup). */
int cbx_state_open(const char *path, int *out, struct cbx_err *err);

/* Checks as cbx_state_open and creates nothing. *out is -1 if the directory is missing and could
 * be created; CBX_EAUDIT also if it could not be created, or is not writable. */
int cbx_state_try(const char *path, int *out, struct cbx_err *err);

/* Writes the path of the folder that has the front's database to `out`: DIR/front, or DIR, from
 * where cbx_state_make_front would move it. CBX_EINVAL if both have a database, as there.
 * Creates nothing. */
int cbx_state_find_front(const char *path, char *out, size_t size, struct cbx_err *err);

/* Checks and creates as cbx_state_open, and returns no descriptor. */
int cbx_state_make(const char *path, struct cbx_err *err);

/* Opens the regular file DIR/NAME for reading, not through a link; NULL and errno. */
FILE *cbx_state_read(const char *dir, const char *name);

/* Creates the folder of the front, DIR/front with mode 0700, the only part of the state
 * directory that the front may open, and gives the folder and its files to `owner`; writes its
 * path to `out`. The front's files of an older version, which were in DIR itself, are moved into
 * it. CBX_EBUSY while a gateway of the older version serves from DIR; CBX_EINVAL if both folders
 * have a database; CBX_EAUDIT as cbx_state_make. */
int cbx_state_make_front(const char *path, uid_t owner, char *out, size_t size,
                         struct cbx_err *err);

#endif
