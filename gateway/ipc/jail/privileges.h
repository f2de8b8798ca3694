/* SPDX-License-Identifier: MIT
 * The user ids and capabilities of the gateway's processes. Started by root, front and analyzer get
 * a user id of their own; every process gives up the capabilities that it does not use. */
#ifndef CBX_GATEWAY_IPC_JAIL_PRIVILEGES_H
#define CBX_GATEWAY_IPC_JAIL_PRIVILEGES_H

#include "policies/base/err.h"

#include <stdbool.h>
#include <sys/types.h>

enum cbx_role {
    CBX_ROLE_MASTER,
    CBX_ROLE_FRONT,
    CBX_ROLE_ANALYZER, /* the zygote and its workers */
    CBX_ROLE_EXECUTOR,
    CBX_ROLE_CALLER, /* a front that works on the caller's files: `codebox run`. The id of a front; the
                        files that it makes are the caller's */
    CBX_ROLE_READER, /* reads the audit log for the sender */
    CBX_ROLE_SENDER, /* sends its records over the network */
    CBX_ROLE_KEYS,   /* fetches keys of issuers over the network */
};

/* The user id of a process, which is its group id too. The effective id of the caller when the role
 * has none of its own: master and executor have not, and nobody has when the caller is not root, may
 * not change its ids, or no block of ids is free and mapped in its user namespace. The answer is
 * that of the first call. Not thread-safe. */
uid_t cbx_privileges_user(enum cbx_role role);

/* True when front and analyzer have ids of their own. */
bool cbx_privileges_separate(void);

/* Drops what the role does not use, for good: the user and group ids, supplementary groups (of
 * roles with an id of their own), capabilities, the bounding set, and for root the gain of
 * capabilities by execve. `root` becomes the root directory of a role with an id of its own, and the
 * working directory of any; NULL = neither. The process must have no threads. Clears the parent-death
 * signal. CBX_EIO when something cannot be dropped: the process must then end. */
int cbx_privileges_drop(enum cbx_role role, const char *root, struct cbx_err *err);

#endif
