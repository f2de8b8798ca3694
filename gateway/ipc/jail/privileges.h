/* SPDX-License-Identifier: MIT
 * The user ids and capabilities of the gateway's processes. If root starts the gateway, front
 * and analyzer get a user id of their own; every process drops the capabilities that it does not
 * use. */
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
    /* a front that works on the caller's files: `codebox run`. It has the id of a front, and the
     * files that it creates belong to the caller */
    CBX_ROLE_CALLER,
    CBX_ROLE_READER,   /* reads the audit log for the sender */
    CBX_ROLE_SENDER,   /* sends the audit log's records over the network */
    CBX_ROLE_KEYS,     /* fetches keys of issuers over the network */
    CBX_ROLE_REPLICAS, /* carries bytes between replicas over the network */
    CBX_ROLE_DATABASE, /* has the connection to a database over the network */
};

/* Returns the user id of a role's process; its group id is the same number. The effective id of
 * the caller for a role without an id of its own: always for master and executor, and for every
 * role if the caller is not root, may not change its ids, or no block of ids is free and mapped
 * in its user namespace. The first call determines the ids of all later ones. Not thread-safe. */
uid_t cbx_privileges_user(enum cbx_role role);

/* True if front and analyzer have ids of their own. */
bool cbx_privileges_separate(void);

/* Drops permanently what the role does not use: the user and group ids, supplementary groups (of
 * roles with an id of their own), capabilities, the bounding set, and for root the gain of
 * capabilities by execve. `root` becomes the root directory of a role with an id of its own, and
 * the working directory of any role; NULL = neither. The process must have no threads. Clears
 * the parent-death signal. CBX_EIO if a privilege cannot be dropped: the process must then end. */
int cbx_privileges_drop(enum cbx_role role, const char *root, struct cbx_err *err);

#endif
