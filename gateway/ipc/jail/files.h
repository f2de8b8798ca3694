/* SPDX-License-Identifier: MIT
 * Which part of the file system, and of the other processes, a process of the gateway reaches:
 * Landlock. */
#ifndef CBX_GATEWAY_IPC_JAIL_FILES_H
#define CBX_GATEWAY_IPC_JAIL_FILES_H

#include "policies/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* A folder, whose names can be listed, and what is below it. */
struct cbx_grant {
    const char *path;
    bool reads, writes; /* its files; to write is also to make, rename and remove them */
    /* One file for reading, whatever name it gets later; another file under its name is not granted. One that does not exist is left out. */
    bool file;
};

/* The version of Landlock that this Linux has; 0 = none. */
int cbx_files_landlock(void);

/* From now on the process, which must not have threads yet, and all that it starts can use files as
 * the grants say and no others, and programs nowhere. Open descriptors stay usable. Version 4 of
 * Landlock also refuses to bind over TCP, and to connect unless `connects`, version 6 to connect
 * to abstract sockets of other processes and to send signals to them. Cannot be undone. Sets
 * no_new_privs. Without Landlock it returns 0 and confines nothing (cbx_files_landlock). CBX_EIO
 * when a folder cannot be opened or Linux refuses the rules. */
int cbx_files_confine(const struct cbx_grant *grants, size_t count, bool connects,
                      struct cbx_err *err);

#endif
