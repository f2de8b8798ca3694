/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the guard. */
#ifndef CBX_DOCKER_INSIDE_SUPERVISOR_GUARD_NOTIFIER_H
#define CBX_DOCKER_INSIDE_SUPERVISOR_GUARD_NOTIFIER_H

#include "docker/inside/confine/filter.h"
#include "docker/inside/supervisor/supervisor.h"

/* A filter's listener. */
struct cbx_listener {
    int fd;
    unsigned kind; /* enum cbx_program_kind */
    bool starts;   /* true if the next execve(2) is the start of the program itself */
};

struct seccomp_notif;
struct seccomp_data;

/* A call to decide. */
struct cbx_guard_call {
    const struct cbx_listener *listener;
    const struct cbx_call_row *row;
    const struct seccomp_data *data;
    pid_t pid;        /* the thread that calls */
    uint32_t refusal; /* CBX_GUARD_... */
    /* description for the report of a refusal; empty: none is reported */
    char what[CBX_FRAME_BLOCKED_MAX];
    bool always; /* true if refused under any policy */
};

/* The result of a decision: 0 = the call continues, CBX_GUARD_ANSWERED = it returns 0 without
 * reaching Linux, or a negative errno; a refusal by the policy is noted. */
enum { CBX_GUARD_ANSWERED = 1 };
int cbx_guard_decide(struct cbx_listener *listener, const struct seccomp_notif *call);

/* --- guard_calls.c, for guard_files.c --- */

/* True if the policy refuses the call's action. */
bool cbx_guard_refuses(const struct cbx_guard_call *call);

/* Reads a text in the memory of the waiting process, at most size - 1 bytes; out is terminated.
 * False if the memory cannot be read, as with the session's shell
 * (docker/inside/command/shell.c). */
bool cbx_guard_read_memory(pid_t pid, uint64_t address, char *out, size_t size);

/* Writes the name that the shell's library put into the registers (docker/inside/shell_loader):
 * the program's name if it is in a folder of programs, else the beginning of its path. `out` has
 * space for CBX_WORDS_BYTES + 1 bytes. */
void cbx_guard_unpack(const struct seccomp_data *data, char *out);

/* --- guard_files.c --- */

/* Decides a call whose arguments are paths, as cbx_guard_decide. Sets `refusal` and `what` of
 * the call. */
int cbx_guard_decide_paths(struct cbx_guard_call *call);

/* --- guard_notifier.c --- */

/* Notes a refusal for the result. The first of a kind is reported at once. Ends the run if the
 * policy requires it. */
void cbx_guard_note(uint32_t refusal, const char *what);

/* Replaces bytes that are no printable ASCII. */
void cbx_guard_printable(char *text);

#endif
