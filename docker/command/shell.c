/* SPDX-License-Identifier: MIT
 * Runs shell cells in one bash for the whole session, which reads commands from a pipe. A cell is a
 * file that bash sources, so an interrupt or an error ends the cell alone. The next command reports
 * the status through a FIFO. Where a cell ends the shell (`exit`, `set -e`), an EXIT trap saves the
 * state, and the next shell restores it. */
#include "docker/command/command.h"
#include "docker/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CELL  CBX_COMMAND_FOLDER "/cell"
#define ARGS  CBX_COMMAND_FOLDER "/arguments"
#define DONE  CBX_COMMAND_FOLDER "/done"
#define STATE CBX_COMMAND_FOLDER "/state"

static struct {
    pid_t pid; /* 0 = none */
    int to, done;
    bool uncertain; /* the last cell was interrupted: the shell may have been killed without notice
                     */
} shell = { .to = -1, .done = -1 };

static bool write_line(const char *line)
{
    return write(shell.to, line, strlen(line)) == (ssize_t)strlen(line);
}

/* Opened for reading and writing, so that it never reaches its end. The old FIFO is unlinked, so
 * that no process can write a status into the new one by a descriptor of the old. */
static bool open_fifo(void)
{
    if (shell.done >= 0) {
        close(shell.done);
    }
    mkdir(CBX_COMMAND_FOLDER, 0700);
    unlink(DONE);
    shell.done = mkfifo(DONE, 0600) == 0 ? open(DONE, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
    return shell.done >= 0;
}

/* The status that the shell reported; -1 = not complete yet. */
static int read_report(void)
{
    char text[16];
    ssize_t n = read(shell.done, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    char *end;
    long code = strtol(text, &end, 10);
    return n > 1 && *end == '\n' ? (int)(code & 255) : -1;
}

/* Waits until the shell reports a status, or has ended (then *ended). */
static int wait_for_report(int *status, bool *ended, bool *interrupted)
{
    for (;;) {
        if (cbx_command_wait(shell.pid, shell.done, true, status, interrupted) ==
            CBX_COMMAND_ENDED) {
            *ended = true;
            return -1;
        }
        int code = read_report();
        if (code >= 0) {
            return code;
        }
    }
}

static void clear_shell(void)
{
    close(shell.to);
    shell.to = -1;
    shell.pid = 0;
}

static bool start_shell(void)
{
    static const char *const argv[] = { "/bin/bash",   "--norc", "--noprofile",
                                        "--noediting", "-i",     NULL };
    int ends[2], status = 0, err = fcntl(2, F_DUPFD, 16);
    bool ended = false, interrupted = false;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (err < 0 || null < 0 || !open_fifo() || pipe2(ends, O_CLOEXEC) < 0) {
        return false;
    }
    /* The warnings of an interactive bash without a terminal, and its first prompt, go to
     * /dev/null. The first command sets stderr. */
    struct cbx_command_start start = {
        .argv = argv, .cwd = "/workspace", .in = ends[0], .out = -1, .err = null, .program = -1
    };
    shell.pid = cbx_command_start(&start);
    shell.to = ends[1];
    close(ends[0]);
    close(null);
    close(err);
    char line[128];
    snprintf(line, sizeof(line),
             "PS1= PS2=; exec 2>&%d %d>&-; . /codebox/kernels/bash_session.sh\n", err, err);
    if (shell.pid < 0 || !write_line(line) || wait_for_report(&status, &ended, &interrupted) < 0) {
        clear_shell();
        return false;
    }
    return true;
}

/* Reports a syntax error before any command runs. */
static bool check_syntax(int *code, bool *interrupted)
{
    static const char *const argv[] = { "/bin/bash", "-O", "extglob", "-n", CELL, NULL };
    struct cbx_command_start start = {
        .argv = argv, .cwd = CBX_COMMAND_FOLDER, .in = -1, .program = -1
    };
    char text[4096];
    size_t len;
    int status = cbx_command_collect(&start, text, sizeof(text) - 1, &len, interrupted);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    text[len] = '\0';
    text[strcspn(text, "\n")] = '\0';
    const char *what =
        strncmp(text, CELL ": ", sizeof(CELL) + 1) == 0 ? text + sizeof(CELL) + 1 : text;
    *code = *interrupted ? 130 : 2;
    cbx_command_send_error(*interrupted ? "Interrupted" : "SyntaxError", what, what, strlen(what));
    return false;
}

/* Makes sure that a shell runs: after the end of one, the next with its state. False when there is
 * no state. */
static bool ensure_shell(void)
{
    int status;
    bool ended = false, interrupted = false;
    if (shell.uncertain &&
        (!write_line("echo 0 >" DONE "\n") || wait_for_report(&status, &ended, &interrupted) < 0)) {
        clear_shell();
    }
    shell.uncertain = false;
    return shell.pid > 0 || (access(STATE, R_OK) == 0 && start_shell());
}

/* Quoted, so that the shell expands nothing in it. */
static void put_word(FILE *out, const char *word)
{
    putc('\'', out);
    for (; *word != '\0'; word++) {
        fputs(*word == '\'' ? "'\\''" : (const char[]){ *word, '\0' }, out);
    }
    putc('\'', out);
}

/* Writes the commands that set $0, $1 and on; false when they do not fit into /tmp. */
static bool write_arguments(const struct cbx_command_run *run)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return false;
    }
    if (run->file_name[0] != '\0') {
        fputs("BASH_ARGV0=", out);
        put_word(out, run->file_name);
    }
    fputs("\nset --", out);
    for (size_t i = 0; run->arguments[i] != NULL; i++) {
        putc(' ', out);
        put_word(out, run->arguments[i]);
    }
    putc('\n', out);
    bool written = fclose(out) == 0 && cbx_command_write(ARGS, text, size);
    free(text);
    return written;
}

static int run(const struct cbx_command_run *run)
{
    bool has_arguments = run->file_name[0] != '\0' || run->arguments[0] != NULL;
    int code = 1, status = 0;
    bool ended = false, interrupted = false;
    if (!ensure_shell()) {
        cbx_command_end_as(1 << 8);
    }
    if (!cbx_command_write(CELL, run->source, run->len) ||
        (has_arguments && !write_arguments(run))) {
        cbx_command_send_error("Error", "the source does not fit into /tmp", "", 0);
        return 1;
    }
    if (!check_syntax(&code, &interrupted)) {
        return code;
    }
    unlink(STATE);
    if ((has_arguments && !write_line(". " ARGS "\n")) ||
        !write_line(". " CELL " </dev/null\n"
                    "{ __codebox_report \"$?\"; } 9>&2 2>/dev/null\n")) {
        cbx_command_end_as(1 << 8);
    }
    code = wait_for_report(&status, &ended, &interrupted);
    shell.uncertain = interrupted;
    if (!ended) {
        return code;
    }
    clear_shell();
    if (access(STATE, R_OK) != 0 || !start_shell()) {
        cbx_command_end_as(status); /* the session is lost */
    }
    return interrupted ? 130 : cbx_command_exit_code(status);
}

const struct cbx_command_kernel cbx_command_shell = { start_shell, run };
