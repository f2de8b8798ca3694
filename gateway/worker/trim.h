/* SPDX-License-Identifier: MIT
 * Parts of the zygote's memory that workers do not inherit. */
#ifndef CBX_GATEWAY_WORKER_TRIM_H
#define CBX_GATEWAY_WORKER_TRIM_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on children of cbx_trim_fork lack the libraries that no code of a worker calls (those
 * of the HTTP client): they have most mappings of the process, and a fork copies each mapping.
 * Such a child cannot load a library, unwind its stack or start a thread. A first child runs
 * `trial`; unless it ends with status 0, children keep all libraries. Returns false then, if the
 * order of the libraries is unknown, and in builds with sanitizers, whose reports read all
 * libraries. */
bool cbx_trim_children(void (*trial)(void *), void *context);

/* As fork(2). If `trimmed`, without the handlers that libraries set for children. The process
 * has one thread. */
pid_t cbx_trim_fork(bool trimmed);

#endif
