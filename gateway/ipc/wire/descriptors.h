/* SPDX-License-Identifier: MIT
 * How many descriptors a process may have open (getrlimit(2), RLIMIT_NOFILE). */
#ifndef CBX_GATEWAY_IPC_WIRE_DESCRIPTORS_H
#define CBX_GATEWAY_IPC_WIRE_DESCRIPTORS_H

/* What the processes of a gateway need: a connection and a run for each client that waits. */
enum { CBX_DESCRIPTORS = 8192 };

/* Raises the soft limit of this process, and of those that it forks, to CBX_DESCRIPTORS, or to the hard
 * limit when that is lower: many shells begin with 1,024. Before the process is confined. */
void cbx_descriptors_raise(void);

/* The limit that holds, at most INT_MAX. */
int cbx_descriptors_limit(void);

#endif
