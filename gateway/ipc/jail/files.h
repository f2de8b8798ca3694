/* SPDX-License-Identifier: MIT
 * Restricts the files, and the other processes, that a process of the gateway can reach:
 * Landlock. */
#ifndef CBX_GATEWAY_IPC_JAIL_FILES_H
#define CBX_GATEWAY_IPC_JAIL_FILES_H

#include "policies/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Access to a folder: listing its names, and using everything below it. */
struct cbx_grant {
    const char *path;
    /* access to its files; writing includes creation, renaming and removal */
    bool reads, writes;
    /* true for one file for reading, under any later name; another file under the same name is
     * not granted. A missing file is left out. */
    bool file;
};

/* Returns the ABI version of Landlock in this Linux; 0 = none. */
int cbx_files_landlock(void);

/* Restricts the process, which must not have threads yet, and every process that it starts: they
 * can use only the files in `grants`, and can execute no programs. Open descriptors stay usable.
 * Version 4 of Landlock also refuses to bind over TCP, and to connect unless `connects`; version
 * 6 also refuses connections to abstract sockets of other processes and signals to them. Cannot
 * be undone. Sets no_new_privs. Without Landlock the call returns 0 and confines nothing
 * (cbx_files_landlock). CBX_EIO if a folder cannot be opened or Linux refuses the rules. */
int cbx_files_confine(const struct cbx_grant *grants, size_t count, bool connects,
                      struct cbx_err *err);

/* The same for a process that connects over the network: it may read what the resolver and libssl
 * read, /etc and the folder of systemd's resolver. */
int cbx_files_confine_to_network(struct cbx_err *err);

#endif
