/* SPDX-License-Identifier: MIT
 * The confinement of the gateway's own processes: seccomp filters and resource limits. */
#ifndef CBX_GATEWAY_IPC_JAIL_JAIL_H
#define CBX_GATEWAY_IPC_JAIL_JAIL_H

#include "policies/base/err.h"

#include <stdbool.h>

/* Compiles the workers' filter once, in the process that forks them; a worker only installs it.
 * CBX_EIO. */
int cbx_jail_worker_prepare(struct cbx_err *err);

/* Confines an analyzer worker: it may read and write open descriptors, allocate memory, read the
 * clock and exit. Calls that the C library makes by itself (sysinfo, uname, fstat) fail with
 * ENOSYS; any other call (for a file, a socket, a process) kills the worker at once. Memory is
 * never executable. Cannot be undone. CBX_EIO if the host kernel refuses the filter: the worker
 * must then not run. */
int cbx_jail_worker(struct cbx_err *err);

/* Confines the front, before it reads a byte of a client: it may use open connections, accept
 * new ones, open files (within cbx_files_confine), and start threads. All other calls fail with
 * EPERM: sockets, connecting, programs, processes, signals to others, executable memory. Holds
 * for all threads, cannot be undone. CBX_EIO if the host kernel refuses the filter: the front
 * must then not serve. */
int cbx_jail_front(struct cbx_err *err);

/* Confines the executor, before it has threads: it may open connections to the engine (over TCP
 * if `tcp`, else only Unix sockets), open, create and rename files (within cbx_files_confine),
 * and start threads. All other calls fail with EPERM, as in the front. CBX_EIO: the executor
 * must then not serve. */
int cbx_jail_executor(bool tcp, struct cbx_err *err);

/* Confine the reader of the audit log: it may use open connections, and files (within
 * cbx_files_confine), but no sockets. The sender, and the process that fetches keys, may also
 * connect, over the network or, if `local`, to Unix sockets. All other calls fail with EPERM.
 * CBX_EIO: the process must then end. */
int cbx_jail_reader(struct cbx_err *err);
int cbx_jail_sender(bool local, struct cbx_err *err);

/* Confines the process of links between replicas: the calls of a sender over the network, and
 * accepting. All other calls fail with EPERM. CBX_EIO: the process must then end. */
int cbx_jail_replicas(struct cbx_err *err);

/* Confines the zygote, after cbx_jail_worker_prepare: it may make its workers' calls, fork,
 * wait, send signals (Landlock restricts the target processes), and confine its children. All
 * other calls fail with EPERM; no files, no sockets, no programs. CBX_EIO: the zygote must then
 * not serve. */
int cbx_jail_zygote(struct cbx_err *err);

/* Confines the master, before it forks, to the calls of all its children and the calls that
 * confine them. All children inherit the filter, so no process of the gateway starts a program,
 * traces, mounts or loads code into Linux, even if its own filter is missing. CBX_EIO: the
 * gateway must then not start. */
int cbx_jail_master(struct cbx_err *err);

/* Restricts every process of the gateway: no core dumps, no ptrace by other processes of the
 * same user, no new privileges. */
void cbx_jail_common(void);

#endif
