/* SPDX-License-Identifier: MIT
 * The limit of open descriptors of a process (getrlimit(2), RLIMIT_NOFILE). */
#ifndef CBX_GATEWAY_IPC_WIRE_DESCRIPTORS_H
#define CBX_GATEWAY_IPC_WIRE_DESCRIPTORS_H

/* Descriptors that a process of the gateway needs: a connection and a run for each waiting
 * client. */
enum { CBX_DESCRIPTORS = 8192 };

/* Raises the soft limit of this process, and of its future children, to CBX_DESCRIPTORS, or to
 * the hard limit if that is lower: many shells begin with 1,024. Call it before the process is
 * confined. */
void cbx_descriptors_raise(void);

/* Returns the current soft limit, at most INT_MAX. */
int cbx_descriptors_limit(void);

#endif
