/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the command kernel. It runs in a sandbox, exchanges frames
 * with the supervisor, and starts other programs: one shell for the whole session (shell.c), or
 * a compiler and the compiled program (command_program.c). Their output goes directly to the
 * supervisor's pipes. They have only the descriptors 0, 1 and 2; 0 is inherited from this
 * process, the input of the run (docker/inside/supervisor/supervisor_input.c). */
#ifndef CBX_DOCKER_INSIDE_COMMAND_COMMAND_H
#define CBX_DOCKER_INSIDE_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The folder for the files of runs; there is one kernel per sandbox. */
#define CBX_COMMAND_FOLDER "/tmp/codebox"

/* The descriptor of the channel to the supervisor. */
enum { CBX_COMMAND_CONTROL = 3 };

/* A run, valid for the length of the call. */
struct cbx_command_run {
    const char *source; /* terminated */
    size_t len;
    const char *file_name;        /* name of the program's file; "" = none given */
    const char *const *arguments; /* after the name, NULL at the end */
    uint32_t refused;             /* refusals of the guard: bits of policies/guard/guard.def */
};

struct cbx_command_kernel {
    /* Called before the first run; false ends the kernel. */
    bool (*start)(void);
    /* Called after a change of the environment of programs; NULL = programs are started with the
     * new environment anyway. */
    void (*changed)(void);
    /* Runs a source, reports errors in an ERROR frame, returns the exit status. */
    int (*run)(const struct cbx_command_run *run);
};
extern const struct cbx_command_kernel cbx_command_shell, cbx_command_program;

/* Sets the variables of a VARIABLES frame, each terminated by NUL, in this process's
 * environment. */
void cbx_command_set_variables(char *variables, size_t len);

/* Selects the row of languages.def; false if there is none of this name. */
bool cbx_command_select_program(const char *name);

/* Sends a frame to the supervisor. Ends the process if the channel is closed. */
void cbx_command_send(uint8_t type, const void *payload, size_t len);

/* Sends an ERROR frame: `text` is the traceback, line by line. Bytes that are not UTF-8 become '?'.
 */
void cbx_command_send_error(const char *ename, const char *evalue, const char *text, size_t len);

/* Ends this process with that status: the supervisor then reports the session as lost. */
void cbx_command_end_as(int wait_status) __attribute__((noreturn));

/* Writes a file into the folder; false if it does not fit. */
bool cbx_command_write(const char *path, const char *bytes, size_t len);

/* True if the program of this descriptor has neither an executable stack nor memory that is both
 * writable and executable. False for a file that is no program of x86-64. */
bool cbx_command_has_plain_memory(int program);

/* --- command_accept.c, command_confine.c: files of the workspace as code ---------------------- */

/* Adds SHA-256 values to the set of accepted files. */
void cbx_command_accept(const uint8_t *hashes, size_t len);
bool cbx_command_has_accepted(void);

/* Copies the values, also later ones, to the memory of the shell, which has this size. */
struct cbx_shell_accepted;
void cbx_command_share_accepted(struct cbx_shell_accepted *with, size_t size);

/* Returns the bytes of a regular file that was accepted, allocated; NULL if it was not, or does
 * not exist. The returned bytes are the hashed ones. */
char *cbx_command_read_accepted(const char *path, size_t *len);

/* Makes a Landlock ruleset for a compiler, a descriptor: it allows reading files of the image
 * and of the folder of the run. -1 if Linux has no Landlock. */
int cbx_command_confinement(void);

/* --- processes -------------------------------------------------------------------------------- */

/* cbx_command_block_signals blocks the signals that cbx_command_wait handles, before the first
 * program; false if that is impossible. cbx_command_drop_interrupt drops an interrupt that
 * arrived without a program. */
bool cbx_command_block_signals(void);
void cbx_command_drop_interrupt(void);

/* Starts a program in its own process group, at `cwd`, with these descriptors as 0, 1 and 2; -1
 * means /dev/null for 0, and inherited for 1 and 2. `program` is a descriptor to execute, or -1
 * for `path`, or argv[0] if that is NULL. `preload` is a library for it (NULL: none). `env` is
 * added to the environment (NULL: nothing), the `passed` descriptors become `passed_at` and
 * following. Returns its process id, or -1. */
struct cbx_command_start {
    const char *const *argv;
    const char *path, *preload;
    char *const *env;
    const char *cwd;
    int in, out, err, program;
    const int *confinement; /* Landlock ruleset (cbx_confine_enter), or NULL */
    /* enum cbx_program_kind: a program of the caller, in a domain of its own and with the filter
     * of that kind; 0 = a program of the image */
    unsigned guard;
    bool needs_guard; /* true to fail if the filter cannot be installed */
    /* true to let Linux refuse memory that becomes executable, if Linux can (6.3, PR_SET_MDWE) */
    bool keeps_code;
    const int *passed;
    size_t passed_count;
    int passed_at;
};
pid_t cbx_command_start(const struct cbx_command_start *start);

/* Waits until the process has ended (*status) or the descriptor is readable (-1: none). An
 * interrupt of the supervisor is passed on as SIGINT to the process group (*interrupted), and
 * waiting continues. `repeat`: SIGINT is repeated while the process continues, as a shell that
 * is about to start a command may miss the first one. */
enum cbx_command_event { CBX_COMMAND_ENDED, CBX_COMMAND_READABLE };
enum cbx_command_event cbx_command_wait(pid_t pid, int fd, bool repeat, int *status,
                                        bool *interrupted);

/* Runs a program to its end and collects the first `size` bytes of its stdout and stderr; the rest
 * is dropped. Returns its wait status. */
int cbx_command_collect(const struct cbx_command_start *start, char *out, size_t size, size_t *len,
                        bool *interrupted);

/* Returns the exit code, or 128 + signal as in shells. */
int cbx_command_exit_code(int wait_status);

#endif
