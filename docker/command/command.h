/* SPDX-License-Identifier: MIT
 * What the files of the kernel for commands share. It runs in a sandbox, speaks frames with the
 * supervisor, and has other programs do the work: a shell that stays (shell.c), or a compiler and
 * what it makes (program.c). Their output goes to the supervisor's pipes without passing through
 * here. They get no descriptor but 0, 1 and 2. */
#ifndef CBX_DOCKER_COMMAND_COMMAND_H
#define CBX_DOCKER_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Everything that a run needs on disk; one kernel per sandbox. */
#define CBX_COMMAND_FOLDER "/tmp/codebox"

/* A run, valid for the length of the call. */
struct cbx_command_run {
    const char *source; /* terminated */
    size_t len;
    const char *file_name;        /* of the program; "" = none was given */
    const char *const *arguments; /* behind it, NULL at the end */
};

struct cbx_command_kernel {
    /* Before the first run; false: it cannot work. */
    bool (*start)(void);
    /* Runs a source, reports what is wrong with it in an ERROR frame, returns the exit status. */
    int (*run)(const struct cbx_command_run *run);
};
extern const struct cbx_command_kernel cbx_command_shell, cbx_command_program;

/* Chooses the row of languages.def; false when there is none of this name. */
bool cbx_command_choose_program(const char *name);

/* A frame to the supervisor. Ends the process when nobody reads any more. */
void cbx_command_send(uint8_t type, const void *payload, size_t len);

/* An ERROR frame: `text` is the traceback, line by line. Bytes that are not UTF-8 become '?'. */
void cbx_command_send_error(const char *ename, const char *evalue, const char *text, size_t len);

/* Ends this process as the other one ended, which tells the supervisor that the session is lost. */
void cbx_command_end_as(int wait_status) __attribute__((noreturn));

/* Writes a file into the folder; false when it does not fit. */
bool cbx_command_write(const char *path, const char *bytes, size_t len);

/* Starts a program in its own process group, at `cwd`, with these descriptors as 0, 1 and 2; -1 is
 * /dev/null for 0, and ours for the others. `program` is a descriptor to execute, or -1 for
 * argv[0]. Returns its process, or -1. */
struct cbx_command_start {
    const char *const *argv;
    const char *cwd;
    int in, out, err, program;
};
pid_t cbx_command_start(const struct cbx_command_start *start);

/* Waits for one of these: the process has ended (*status), a descriptor can be read (-1: none), the
 * supervisor interrupts: then the group has been told, and waiting goes on. `insist`: it is told
 * again while it goes on, as a shell that is just about to start a command may miss it. */
enum cbx_command_event { CBX_COMMAND_ENDED, CBX_COMMAND_READABLE };
enum cbx_command_event cbx_command_wait(pid_t pid, int fd, bool insist, int *status,
                                        bool *interrupted);

/* Runs it to its end and keeps the first `size` bytes of what it writes to stdout and stderr; the
 * rest is read and dropped. Returns its wait status. */
int cbx_command_collect(const struct cbx_command_start *start, char *out, size_t size, size_t *len,
                        bool *interrupted);

/* 128 + signal, as shells have it. */
int cbx_command_exit_code(int wait_status);

#endif
