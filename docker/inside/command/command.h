/* SPDX-License-Identifier: MIT
 * Shared by the files of the command kernel. It runs in a sandbox, exchanges frames with the
 * supervisor, and starts other programs: one shell for the whole session (shell.c), or a compiler
 * and the compiled program (command_program.c). Their output goes directly to the supervisor's pipes. They
 * have no descriptor but 0, 1 and 2; 0 is that of this process, the input of the run (docker/inside/supervisor/supervisor_input.c). */
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
    const char *file_name;        /* of the program; "" = none was given */
    const char *const *arguments; /* after the name, NULL at the end */
    uint32_t refused;             /* what the guard refuses: bits of policies/guard/guard.def */
};

struct cbx_command_kernel {
    /* Called before the first run; false ends the kernel. */
    bool (*start)(void);
    /* The environment of programs has changed; NULL = programs are started with it anyway. */
    void (*changed)(void);
    /* Runs a source, reports errors in an ERROR frame, returns the exit status. */
    int (*run)(const struct cbx_command_run *run);
};
extern const struct cbx_command_kernel cbx_command_shell, cbx_command_program;

/* Sets the variables of a VARIABLES frame, each terminated by NUL, in this process's environment. */
void cbx_command_set_variables(char *variables, size_t len);

/* Selects the row of languages.def; false when there is none of this name. */
bool cbx_command_select_program(const char *name);

/* Sends a frame to the supervisor. Ends the process when the channel is closed. */
void cbx_command_send(uint8_t type, const void *payload, size_t len);

/* Sends an ERROR frame: `text` is the traceback, line by line. Bytes that are not UTF-8 become '?'.
 */
void cbx_command_send_error(const char *ename, const char *evalue, const char *text, size_t len);

/* Ends this process with that status, so that the supervisor reports the session as lost. */
void cbx_command_end_as(int wait_status) __attribute__((noreturn));

/* Writes a file into the folder; false when it does not fit. */
bool cbx_command_write(const char *path, const char *bytes, size_t len);

/* Whether the program that the descriptor is open for has neither an executable stack nor memory that can be both written and executed. False
 * for what is no program of x86-64. */
bool cbx_command_has_plain_memory(int program);

/* --- command_accept.c, command_confine.c: files of the workspace as code ----------------------- */

/* Adds SHA-256 values to those of the accepted files. */
void cbx_command_accept(const uint8_t *hashes, size_t len);
bool cbx_command_has_accepted(void);

/* Copies them, also later ones, to the memory of the shell, which has this size. */
struct cbx_shell_accepted;
void cbx_command_share_accepted(struct cbx_shell_accepted *with, size_t size);

/* The bytes of a regular file that were accepted, allocated; NULL when they were not, or there is
 * no such file. What is returned is what was hashed. */
char *cbx_command_read_accepted(const char *path, size_t *len);

/* A Landlock ruleset for a compiler, a descriptor: it reads files of the image and of the folder of
 * the run. -1 when Linux has none. */
int cbx_command_confinement(void);

/* --- processes --------------------------------------------------------------------------------- */

/* Blocks the signals that cbx_command_wait handles, before the first program; false when that is
 * impossible. cbx_command_drop_interrupt drops an interrupt that no program was there for. */
bool cbx_command_block_signals(void);
void cbx_command_drop_interrupt(void);

/* Starts a program in its own process group, at `cwd`, with these descriptors as 0, 1 and 2; -1
 * means /dev/null for 0, and inherited for 1 and 2. `program` is a descriptor to execute, or -1 for
 * `path`, or argv[0] where that is NULL. `preload` is a library for it (NULL: none). `env` is added to the environment (NULL: nothing), the
 * `passed` descriptors become `passed_at` and on. Returns its process, or -1. */
struct cbx_command_start {
    const char *const *argv;
    const char *path, *preload;
    char *const *env;
    const char *cwd;
    int in, out, err, program;
    const int *confinement; /* a ruleset (cbx_confine_enter), or NULL */
    unsigned
        guard; /* enum cbx_program_kind: a program of the caller, in a domain of its own and with
                               the filter of that kind; 0 = one of ours */
    bool needs_guard; /* it does not start where the filter cannot be had */
    bool
        keeps_code; /* Linux refuses it memory that becomes executable, where Linux can (6.3, PR_SET_MDWE) */
    const int *passed;
    size_t passed_count;
    int passed_at;
};
pid_t cbx_command_start(const struct cbx_command_start *start);

/* Waits until the process has ended (*status) or the descriptor is readable (-1: none). An
 * interrupt of the supervisor is passed on as SIGINT to the process group (*interrupted), and
 * waiting continues. `repeat`: SIGINT is repeated while the process continues, as a shell that is
 * about to start a command may miss the first one. */
enum cbx_command_event { CBX_COMMAND_ENDED, CBX_COMMAND_READABLE };
enum cbx_command_event cbx_command_wait(pid_t pid, int fd, bool repeat, int *status,
                                        bool *interrupted);

/* Runs a program to its end and collects the first `size` bytes of its stdout and stderr; the rest
 * is dropped. Returns its wait status. */
int cbx_command_collect(const struct cbx_command_start *start, char *out, size_t size, size_t *len,
                        bool *interrupted);

/* The exit code, or 128 + signal as in shells. */
int cbx_command_exit_code(int wait_status);

#endif
