/* SPDX-License-Identifier: MIT
 * Shared by the files of the guard. */
#ifndef CBX_DOCKER_SUPERVISOR_GUARD_H
#define CBX_DOCKER_SUPERVISOR_GUARD_H

#include "docker/inside/filter.h"
#include "docker/supervisor/supervisor.h"

/* A filter's listener. */
struct cbx_listener {
    int fd;
    unsigned kind; /* enum cbx_program_kind */
    bool starts;   /* the next execve(2) is that of the program itself */
};

struct seccomp_notif;

/* What a call is answered with: 0 = it continues, or a negative errno; a refusal that the policy asks for is
 * noted. */
int cbx_guard_decide(struct cbx_listener *listener, const struct seccomp_notif *call);

/* Notes a refusal for the result. The first of a kind is reported at once. Ends the run when the policy wants
 * that. */
void cbx_guard_note(uint32_t refusal, const char *what);

/* Replaces what is no printable ASCII. */
void cbx_guard_printable(char *text);

#endif
