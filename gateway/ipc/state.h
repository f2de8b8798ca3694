/* SPDX-License-Identifier: MIT
 * The state directory: the executor's audit log, key and instances, and in the folder `front` the
 * front's database. */
#ifndef CBX_GATEWAY_IPC_STATE_H
#define CBX_GATEWAY_IPC_STATE_H

#include "policies/base/err.h"

#include <stddef.h>
#include <sys/types.h>

/* The default state directory: /var/lib/codebox for root, else $XDG_STATE_HOME/codebox, else
 * ~/.local/state/codebox. */
int cbx_state_default(char *out, size_t size, struct cbx_err *err);

/* Makes the directory and its parents with mode 0700; CBX_EAUDIT when it cannot be made, or others
 * may write to it. */
int cbx_state_make(const char *path, struct cbx_err *err);

/* Makes the folder of the front, DIR/front with mode 0700, the only part of the state directory that
 * the front may open, and gives it and the files in it to `owner`; `out` gets its path. The front's files of an older version, which were in DIR
 * itself, are moved there. CBX_EBUSY while a gateway of that version serves from DIR; CBX_EINVAL when
 * there is a database in both; CBX_EAUDIT as cbx_state_make. */
int cbx_state_make_front(const char *path, uid_t owner, char *out, size_t size,
                         struct cbx_err *err);

#endif
