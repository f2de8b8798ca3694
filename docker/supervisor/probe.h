/* SPDX-License-Identifier: MIT
 * What the parts of the probe know of each other. The probe stands where a hostile program would
 * stand, tries what must not work, and says of each attempt what became of it. Arguments are such
 * that an attempt which gets through does no harm: an answer other than "not permitted" or "no such
 * call" means that the kernel's own code was reached. */
#ifndef CBX_DOCKER_SUPERVISOR_PROBE_H
#define CBX_DOCKER_SUPERVISOR_PROBE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum cbx_outcome { CBX_REACHED = 0, CBX_UNKNOWN, CBX_HELD };

/* One line: "name<TAB>outcome<TAB>what happened". */
__attribute__((format(printf, 3, 4))) void cbx_say(const char *name, enum cbx_outcome outcome,
                                                   const char *format, ...);

/* Held when `held`, else reached, with one text for both. */
#define cbx_say_if(held, name, ...) cbx_say(name, (held) ? CBX_HELD : CBX_REACHED, __VA_ARGS__)

/* Calls `attempt` in a child, for what it does may kill or change the one who does it. 0 when it
 * returned 0 or more, its errno when it returned less, minus a signal when it died of one. */
int cbx_try(long (*attempt)(void *), void *context);

/* Whether this result of cbx_try is a refusal. */
bool cbx_is_refused(int result);

/* "EPERM", "killed by signal 31", "it worked"; borrowed until the next call. */
const char *cbx_result_text(int result);

/* Runs an attempt and says what became of it: it must be refused. */
void cbx_must_refuse(const char *name, long (*attempt)(void *), void *context);

/* Whether PID 1 lives and is not stopped. */
bool cbx_pid1_lives(void);

/* The parts. */
void cbx_probe_identity(void);
void cbx_probe_calls(void);
void cbx_probe_sockets(void);
void cbx_probe_processes(void);
void cbx_probe_files(void);
void cbx_probe_mounts(void);

#endif
