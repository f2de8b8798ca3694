/* SPDX-License-Identifier: MIT
 * What the workers do not inherit of the zygote's memory. */
#ifndef CBX_GATEWAY_WORKER_TRIM_H
#define CBX_GATEWAY_WORKER_TRIM_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on children of cbx_trim_fork are without the libraries that no code of a worker calls
 * (those of the HTTP client): most mappings of the process are theirs, and a fork copies each.
 * Such a child cannot load a library, unwind its stack or start a thread. A first child runs
 * `trial`; when it does not end with status 0, nothing is left out. False then, where the order
 * of the libraries is not known, and in builds with sanitizers, whose reports read all
 * libraries. */
bool cbx_trim_children(void (*trial)(void *), void *context);

/* fork(). When `trimmed`, without the handlers that libraries set for children. The process has
 * one thread. */
pid_t cbx_trim_fork(bool trimmed);

#endif
