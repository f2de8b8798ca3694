/* SPDX-License-Identifier: MIT
 * One attempt of the probe, and its outcome. The arguments of attempts are harmless if one
 * succeeds: a result other than "not permitted" or "no such call" means that code of the host
 * kernel was reached. */
#ifndef CBX_DOCKER_INSIDE_PROBE_PROBE_ATTEMPT_H
#define CBX_DOCKER_INSIDE_PROBE_PROBE_ATTEMPT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum cbx_outcome { CBX_REACHED = 0, CBX_UNKNOWN, CBX_HELD };

/* Prints one line: "name<TAB>outcome<TAB>description". */
__attribute__((format(printf, 3, 4))) void
cbx_attempt_report(const char *name, enum cbx_outcome outcome, const char *format, ...);

/* Reports HELD if `held`, else REACHED, with one text for both. */
#define cbx_attempt_report_if(held, name, ...)                                                     \
    cbx_attempt_report(name, (held) ? CBX_HELD : CBX_REACHED, __VA_ARGS__)

/* Calls `attempt` in a child, as it may kill or change its process. Returns 0 if it returned 0
 * or more, its errno if it returned less, the negative signal number if a signal killed it. */
int cbx_attempt_run(long (*attempt)(void *), void *context);

/* True if this result of cbx_attempt_run is a refusal. */
bool cbx_is_refused(int result);

/* Returns "EPERM", "killed by signal 31", "it worked"; borrowed until the next call. */
const char *cbx_result_text(int result);

/* Runs an attempt that must be refused, and reports the outcome. */
void cbx_attempt_must_fail(const char *name, long (*attempt)(void *), void *context);

/* True if PID 1 exists and is not stopped. */
bool cbx_pid1_is_running(void);

#endif
