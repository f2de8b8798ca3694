/* SPDX-License-Identifier: MIT
 * The confinement of the executor. */
#ifndef CBX_GATEWAY_EXECUTOR_EXECUTOR_CONFINE_H
#define CBX_GATEWAY_EXECUTOR_EXECUTOR_CONFINE_H

#include "policies/base/err.h"

/* Restricts the process, which must not have threads yet: it can open only files below the state
 * directory (created if missing; NULL = none), and connect to Unix sockets. With an engine over
 * TCP (`docker_host`, or $DOCKER_HOST) it can also connect over TCP and UDP, read /etc for the
 * resolution of names, and read the folder of the certificates. No programs, no processes, no
 * listening. Cannot be undone. CBX_EIO: the executor must then not serve. */
int cbx_executor_confine(const char *state_dir, const char *docker_host, struct cbx_err *err);

#endif
