/* SPDX-License-Identifier: MIT
 * The confinement of the gateway's own processes: seccomp filters and resource limits. */
#ifndef CBX_GATEWAY_IPC_JAIL_JAIL_H
#define CBX_GATEWAY_IPC_JAIL_JAIL_H

#include "policies/base/err.h"

#include <stdbool.h>

/* Compiles the filter of the workers once, in the process that forks them; a worker then only installs
 * it. CBX_EIO. */
int cbx_jail_worker_prepare(struct cbx_err *err);

/* For an analyzer worker: it may read and write open descriptors, allocate memory, read the clock
 * and exit. Calls that the C library makes by itself (sysinfo, uname, fstat) fail with ENOSYS;
 * anything else (a file, a socket, a process) kills the worker at once. Cannot be undone.
 * CBX_EIO when the host kernel refuses the filter: the worker must then not run. Memory is never
 * executable. */
int cbx_jail_worker(struct cbx_err *err);

/* For the front, before it reads a byte of a client: it may use open connections, accept new ones,
 * open files (where cbx_files_confine lets it), and start threads. Anything else fails with EPERM:
 * sockets, connecting, programs, processes, signals to others, executable memory. Holds for all
 * threads, cannot be undone. CBX_EIO when the host kernel refuses the filter: the front must then
 * not serve. */
int cbx_jail_front(struct cbx_err *err);

/* For the executor, before it has threads: it may open connections to the engine (over TCP when `tcp`,
 * else only Unix sockets), open, make and rename files (where cbx_files_confine lets it), and start
 * threads. Anything else fails with EPERM, as for the front. CBX_EIO: the executor must then not serve. */
int cbx_jail_executor(bool tcp, struct cbx_err *err);

/* For the reader of the audit log: open connections, and files (where cbx_files_confine lets it); no sockets. For the
 * sender, and for the process that fetches keys: it may also connect, over the network or, with `local`, to Unix sockets.
 * Anything else fails with EPERM. CBX_EIO: the process must then end. */
int cbx_jail_reader(struct cbx_err *err);
int cbx_jail_sender(bool local, struct cbx_err *err);

/* For the zygote, after cbx_jail_worker_prepare: it may do what a worker may, fork, wait, send
 * signals (Landlock restricts to whom), and confine its children. Anything else fails with EPERM; no
 * files, no sockets, no programs. CBX_EIO: the zygote must then not serve. */
int cbx_jail_zygote(struct cbx_err *err);

/* For the master, before it forks: what any of its children may do, and what confines them. All of them
 * inherit it, so no process of the gateway starts a program, traces, mounts or loads code into Linux,
 * even where its own filter is missing. CBX_EIO: the gateway must then not start. */
int cbx_jail_master(struct cbx_err *err);

/* For every process of the gateway: no core dumps, no ptrace by others of the same user, no new
 * privileges. */
void cbx_jail_common(void);

#endif
