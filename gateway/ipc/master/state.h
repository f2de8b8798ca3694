/* SPDX-License-Identifier: MIT
 * The state directory: the executor's audit log, key and instances, and in the folder `front` the
 * front's database. */
#ifndef CBX_GATEWAY_IPC_MASTER_STATE_H
#define CBX_GATEWAY_IPC_MASTER_STATE_H

#include "policies/base/err.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* The default state directory: /var/lib/codebox for root, else $XDG_STATE_HOME/codebox, else
 * ~/.local/state/codebox. */
int cbx_state_default(char *out, size_t size, struct cbx_err *err);

/* Opens the directory; *out is its descriptor, the caller's. It and what is missing above it are made
 * with mode 0700. CBX_EAUDIT, with what to do in the detail, when another user could replace any part of
 * it:
 * - the directory and all above it must belong to root or to the effective user;
 * - it must be writable for its owner alone; so must those above it, unless they are sticky;
 * - it must not be a symbolic link; a link above it must belong to root or to the effective user, and
 *   what it leads through is checked in the same way;
 * - it must not be in a file system of Linux itself (proc, sysfs, cgroup). */
int cbx_state_open(const char *path, int *out, struct cbx_err *err);

/* The same for a check: nothing is made. *out is -1 when the directory is missing and could be made; CBX_EAUDIT also for one that
 * could not, or cannot be written to. */
int cbx_state_try(const char *path, int *out, struct cbx_err *err);

/* The folder in which cbx_state_make_front would leave the front's database: DIR/front, or DIR, from where it would be moved; `out` gets
 * its path. CBX_EINVAL when there is a database in both, as there. Nothing is made. */
int cbx_state_find_front(const char *path, char *out, size_t size, struct cbx_err *err);

/* As cbx_state_open, without the descriptor. */
int cbx_state_make(const char *path, struct cbx_err *err);

/* Opens the regular file DIR/NAME for reading, and no link; NULL and errno. */
FILE *cbx_state_read(const char *dir, const char *name);

/* Makes the folder of the front, DIR/front with mode 0700, the only part of the state directory that
 * the front may open, and gives it and the files in it to `owner`; `out` gets its path. The front's files of an older version, which were in DIR
 * itself, are moved there. CBX_EBUSY while a gateway of that version serves from DIR; CBX_EINVAL when
 * there is a database in both; CBX_EAUDIT as cbx_state_make. */
int cbx_state_make_front(const char *path, uid_t owner, char *out, size_t size,
                         struct cbx_err *err);

#endif
