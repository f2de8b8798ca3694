/* SPDX-License-Identifier: MIT
 * The state directory: audit log, keys, database. */
#ifndef CBX_GATEWAY_IPC_STATE_H
#define CBX_GATEWAY_IPC_STATE_H

#include "policies/base/err.h"

#include <stddef.h>

/* The default state directory: /var/lib/codebox for root, else $XDG_STATE_HOME/codebox, else
 * ~/.local/state/codebox. */
int cbx_state_default(char *out, size_t size, struct cbx_err *err);

/* Makes the directory and its parents with mode 0700; CBX_EAUDIT when it cannot be made, or others
 * may write to it. */
int cbx_state_make(const char *path, struct cbx_err *err);

#endif
