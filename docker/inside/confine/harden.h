/* SPDX-License-Identifier: MIT
 * The hardening that PID 1 of a sandbox applies to itself, and so to every later process: for
 * engines that cannot set limits or a seccomp profile, and in addition to those that can. */
#ifndef CBX_DOCKER_INSIDE_CONFINE_HARDEN_H
#define CBX_DOCKER_INSIDE_CONFINE_HARDEN_H

#include <stdbool.h>

/* Variables of the container; harden removes them from the environment. The limit of the size of
 * a file in bytes; without it CBX_HARDEN_FILE_BYTES. */
#define CBX_HARDEN_FILE_VARIABLE "CODEBOX_FILE_BYTES"
/* "container" or "gvisor". With "gvisor" no filter is installed. gVisor answers each refused call
 * with EPERM, which libc does not take as the absence of clone3(2), and the calls reach gVisor's
 * kernel alone. */
#define CBX_HARDEN_ISOLATION_VARIABLE "CODEBOX_ISOLATION"

/* The number of processes and threads, for engines that cannot limit it; absent or 0 = no limit of
 * the supervisor's own. Linux counts the processes of a user in a user namespace, so the variable
 * is ignored in the host's user namespace, where other sandboxes have the same user. */
#define CBX_HARDEN_PROCESSES_VARIABLE "CODEBOX_PROCESSES"

#define CBX_HARDEN_FILE_BYTES (1024L * 1024 * 1024)

/* Sets no_new_privs, lowers the resource limits to the values of docker/engine/container_spec.c,
 * and installs the filter of docker/engine/seccomp.json, which is compiled in. None of it can be
 * undone. False if a step fails: the process must end. Call it before there are threads. */
bool cbx_harden(void);

#endif
