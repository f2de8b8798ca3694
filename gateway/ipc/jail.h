/* SPDX-License-Identifier: MIT
 * The confinement of the gateway's own processes: seccomp filters and resource limits. */
#ifndef CBX_GATEWAY_IPC_JAIL_H
#define CBX_GATEWAY_IPC_JAIL_H

#include "policies/base/err.h"

/* For an analyzer worker: it may read and write open descriptors, allocate memory, read the clock
 * and exit. Calls that the C library makes by itself (sysinfo, uname, fstat) fail with ENOSYS;
 * anything else (a file, a socket, a process) kills the worker at once. Cannot be undone.
 * CBX_EIO when the host kernel refuses the filter: the worker must then not run. */
int cbx_jail_worker(struct cbx_err *err);

/* For the front, once it listens: no connecting to anything (so not to the engine either), no Unix
 * sockets, no starting of programs, no reading of other processes. Such calls fail with EPERM. */
int cbx_jail_front(struct cbx_err *err);

/* For every process of the gateway: no core dumps, no ptrace by others of the same user, no new
 * privileges. */
void cbx_jail_common(void);

#endif
