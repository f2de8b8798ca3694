/* SPDX-License-Identifier: MIT
 * What the parts of the supervisor know of each other. */
#ifndef CBX_DOCKER_SUPERVISOR_SUPERVISOR_H
#define CBX_DOCKER_SUPERVISOR_SUPERVISOR_H

#include "docker/frame.h"

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Sends one frame whose payload is a followed by b. Ends the sandbox when the host is gone. */
void cbx_tell_host(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* Reports the regular files of /workspace that changed since then. False when there were more than
 * it reports. */
bool cbx_report_files(const struct timespec *since);

/* Kills every process but this one and `keep`, until there is none. */
void cbx_kill_others(pid_t keep);

/* How often the kernel killed something in this container for memory; 0 when it cannot be told. */
long cbx_count_oom_kills(void);

#endif
