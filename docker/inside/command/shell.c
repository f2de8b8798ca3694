/* SPDX-License-Identifier: MIT
 * Runs shell cells in one bash for the whole session. bash reads commands, which are the same
 * for each cell, from a socket of packets: a process that reads one of them skips a cell and
 * cannot cut a command. A cell is text in sealed memory that only this process can write, and
 * bash sources it, so an interrupt or an error ends only the cell. The next command reports the
 * status on a second socket, whose messages Linux marks with their sender. If a cell ends the
 * shell (`exit`, `set -e`), an EXIT trap sends the state, and the next shell restores it. */
#include "docker/inside/command/command.h"
#include "docker/inside/command/shell_state.h"
#include "docker/inside/confine/filter.h"
#include "docker/inside/shell_loader/shell_loader.h"
#include "docker/inside/wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A copy of bash that may be executed and not read. So Linux gives no other process of the
 * sandbox access to its memory and descriptors. */
#define BASH "/usr/libexec/codebox/bash"

/* The report socket, the memories and the input of cells are the shell's descriptors from 240
 * on. During a cell they are closed, and bash keeps copies from 10 on, which no program
 * inherits. */
enum { MEMORIES = CBX_SHELL_CELLS, PASSED = 3 + MEMORIES, PASSED_AT = 240, SAVED_AT = 10 };
_Static_assert(PASSED_AT + 1 == CBX_SHELL_CELLS_AT &&
                   PASSED_AT + PASSED - 2 == CBX_SHELL_ACCEPTED_AT &&
                   PASSED_AT + PASSED - 1 == CBX_SHELL_INPUT_AT,
               "the library expects them there");
#define CLOSED "240<&- 241<&- 242<&- 243<&- 244<&- 245<&- <&247 247<&-"
#define REPORT "{ __codebox_report \"$?\" \"$SHELLOPTS\"; } 9>&2 2>/dev/null\n"

/* Maximum size of a saved state; the largest memory has space for the commands made of it. */
enum { STATE_MAX = 8 * 1024 * 1024 };

static struct {
    pid_t pid; /* 0 = none */
    int to, from;
    /* true after the last cell was interrupted: the shell may have been killed without notice */
    bool uncertain;
} shell = { .to = -1, .from = -1 };

/* Memory with text for the shell. bash reads all of it, so there are several sizes. */
static struct memory {
    int fd;
    size_t size;
    char *at;
} memories[MEMORIES], accepted; /* the accepted files, for the library in the shell */

struct text {
    char *p;
    size_t len;
    bool too_large; /* true if text that did not fit was dropped */
};

/* From the shell: the beginning of the next record, and the records of its state. */
static struct text unread, state;
static bool has_state;

/* --- text for the shell ----------------------------------------------------------------------- */

/* Only this mapping can write it: the seal is set after the mapping. */
static bool make_memory(size_t size, struct memory *out)
{
    struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };
    getrlimit(RLIMIT_FSIZE, &most);
    size = size < most.rlim_cur ? size : (size_t)most.rlim_cur;
    int fd = memfd_create("cell", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)size) < 0) {
        return false;
    }
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *out = (struct memory){ .fd = fd, .size = size, .at = at };
    return at != MAP_FAILED &&
           fcntl(fd, F_ADD_SEALS,
                 F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

static bool make_memories(void)
{
    size_t size = 4096;
    for (size_t i = 0; i < MEMORIES; i++, size *= 8) {
        if (!make_memory(size, &memories[i])) {
            return false;
        }
    }
    if (!make_memory(sizeof(struct cbx_shell_accepted), &accepted)) {
        return false;
    }
    cbx_command_share_accepted((struct cbx_shell_accepted *)(void *)accepted.at, accepted.size);
    return true;
}

/* Makes a memory for programs that read it once: it has exactly these bytes. -1 = it does not
 * fit. */
static int seal_text(const char *text, size_t len)
{
    int fd = memfd_create("cell", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool sealed =
        fd >= 0 && pwrite(fd, text, len, 0) == (ssize_t)len &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
    if (!sealed && fd >= 0) {
        close(fd);
    }
    return sealed ? fd : -1;
}

static bool send_line(const char *line)
{
    return send(shell.to, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line);
}

/* Has the shell source a text, and then run a line. The text is at the end of the memory, after
 * blanks, so that bash counts its lines, and detects its end, as in a file. False if no memory
 * is large enough. */
static bool submit(const char *text, size_t len, const char *redirections, const char *then)
{
    size_t i = 0;
    while (i < MEMORIES && memories[i].size < len) {
        i++;
    }
    if (i == MEMORIES) {
        return false;
    }
    char *start = memories[i].at + memories[i].size - len;
    memset(memories[i].at, ' ', memories[i].size - len);
    memcpy(start, text, len);
    char line[512];
    snprintf(line, sizeof(line), "\\. /dev/fd/%zu %s%s\n%s", SAVED_AT + 1 + i, CLOSED, redirections,
             then);
    if (!send_line(line)) {
        cbx_command_end_as(1 << 8);
    }
    return true;
}

/* --- records of the shell --------------------------------------------------------------------- */

static void append(struct text *to, const char *bytes, size_t len)
{
    if (to->len + len > STATE_MAX) {
        to->too_large = true;
        return;
    }
    char *p = realloc(to->p, to->len + len);
    if (p == NULL && to->len + len > 0) {
        abort();
    }
    memcpy(p + to->len, bytes, len);
    to->p = p;
    to->len += len;
}

static void clear_text(struct text *text)
{
    free(text->p);
    *text = (struct text){ 0 };
}

static void drop_state(void)
{
    clear_text(&state);
    has_state = false;
}

/* Takes the complete record in `unread`; returns its status, or -1. */
static int take_record(void)
{
    const char *record = unread.p;
    int code = -1;
    state.too_large |= unread.too_large;
    if (unread.too_large) {
        code = -1;
    } else if (record[0] == 's' && record[1] >= '0' && record[1] <= '9' && unread.len <= 5) {
        code = (int)(strtol(record + 1, NULL, 10) & 255);
    } else if (record[0] == 'B') {
        drop_state();
    } else if (record[0] == 'E') {
        has_state = true;
    } else {
        append(&state, record, unread.len);
    }
    clear_text(&unread);
    return code;
}

/* Receives at most `size` bytes from the shell itself; 0 = none are available. A process that
 * the shell forked has the socket too, and its messages are dropped. */
static size_t receive(char *to, size_t size)
{
    for (;;) {
        union {
            struct cmsghdr head;
            char bytes[CMSG_SPACE(sizeof(struct ucred))];
        } control;
        struct iovec part = { .iov_base = to, .iov_len = size };
        struct msghdr message = { .msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = sizeof(control) };
        ssize_t n = recvmsg(shell.from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return 0;
        }
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        struct ucred sender = { 0 };
        if (head != NULL && head->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&sender, CMSG_DATA(head), sizeof(sender));
        }
        if (sender.pid == shell.pid) {
            return (size_t)n;
        }
    }
}

/* Returns the status that the shell reported; -1 = none yet. */
static int read_report(void)
{
    char chunk[65536];
    int code = -1;
    for (size_t n; (n = receive(chunk, sizeof(chunk))) > 0;) {
        for (const char *at = chunk; at < chunk + n;) {
            const char *end = memchr(at, '\0', (size_t)(chunk + n - at));
            size_t len = (size_t)((end != NULL ? end + 1 : chunk + n) - at);
            append(&unread, at, len);
            int reported = end != NULL ? take_record() : -1;
            code = reported >= 0 ? reported : code;
            at += len;
        }
    }
    return code;
}

/* Waits until the shell reports a status, or has ended (then *ended). */
static int wait_for_report(int *status, bool *ended, bool *interrupted)
{
    for (;;) {
        bool is_over =
            cbx_command_wait(shell.pid, shell.from, true, status, interrupted) == CBX_COMMAND_ENDED;
        int code = read_report();
        if (is_over) {
            *ended = true;
            return -1;
        }
        if (code >= 0) {
            return code;
        }
    }
}

/* --- the shell -------------------------------------------------------------------------------- */

static void close_descriptor(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void clear_shell(void)
{
    close_descriptor(&shell.to);
    close_descriptor(&shell.from);
    clear_text(&unread);
    shell.pid = 0;
}

/* The sockets of a new shell: `in` and `report` are its ends. */
static bool open_sockets(int *in, int *report)
{
    int to[2], from[2];
    const int on = 1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, from) < 0 ||
        setsockopt(from[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0) {
        return false;
    }
    shell.to = to[0];
    shell.from = from[0];
    *in = to[1];
    *report = from[1];
    return true;
}

static bool execute_shell(char *const *env)
{
    static const char *const argv[] = { "/bin/bash",   "--norc", "--noprofile",
                                        "--noediting", "-i",     NULL };
    int in, passed[PASSED], err = fcntl(2, F_DUPFD, 16), input = fcntl(0, F_DUPFD_CLOEXEC, 16);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (err < 0 || input < 0 || null < 0 || !open_sockets(&in, &passed[0])) {
        return false;
    }
    for (size_t i = 0; i < MEMORIES; i++) {
        passed[1 + i] = memories[i].fd;
    }
    passed[1 + MEMORIES] = accepted.fd;
    passed[2 + MEMORIES] = input;
    /* The warnings of an interactive bash without a terminal, and its first prompt, go to
     * /dev/null. The first command sets stderr. */
    struct cbx_command_start start = { .argv = argv,
                                       .path = BASH,
                                       .preload = CBX_SHELL_LOADER,
                                       .env = env,
                                       .cwd = "/workspace",
                                       .in = in,
                                       .out = -1,
                                       .err = null,
                                       .program = -1,
                                       .passed = passed,
                                       .passed_count = PASSED,
                                       .passed_at = PASSED_AT,
                                       .guard = CBX_SHELL_BIT };
    shell.pid = cbx_command_start(&start);
    close(in);
    close(passed[0]);
    close(null);
    close(input);
    close(err);
    char line[192];
    snprintf(line, sizeof(line),
             "PS1= PS2=; [ ! -e /dev/fd/%d ] || \\exit 126; \\exec 2>&%d %d>&-; "
             "\\builtin . /codebox/kernels/bash_session.sh\n",
             CBX_SHELL_ACCEPTED_AT, err, err);
    return shell.pid > 0 && send_line(line);
}

/* Starts a shell with that state; NULL = without one. */
static bool start_with(const struct cbx_shell_restore *restore)
{
    int status = 0;
    bool ended = false, interrupted = false;
    bool started = execute_shell(restore != NULL ? restore->env : NULL) &&
                   (restore == NULL || submit(restore->script, restore->len, " 2>/dev/null", "")) &&
                   send_line("{ __codebox_report 0 \"$SHELLOPTS\"; } 2>/dev/null\n") &&
                   wait_for_report(&status, &ended, &interrupted) >= 0;
    if (!started) {
        clear_shell();
    }
    return started;
}

static bool start_shell(void)
{
    return make_memories() && start_with(NULL);
}

/* Starts a shell with the state of the previous one. False if there is no state, or it cannot be
 * restored. */
static bool restart_shell(void)
{
    static const char large[] = "codebox: the state of the shell is larger than 8 MiB; "
                                "the session starts anew\n",
                      malformed[] = "codebox: the state of the shell cannot be restored; "
                                    "the session starts anew\n";
    struct cbx_shell_restore restore = { 0 };
    bool restored = has_state && !state.too_large &&
                    cbx_shell_restore_read(state.p, state.len, &restore) && start_with(&restore);
    if (state.too_large) {
        cbx_command_send(CBX_FRAME_STDERR, large, sizeof(large) - 1);
    } else if (has_state && !restored) {
        cbx_command_send(CBX_FRAME_STDERR, malformed, sizeof(malformed) - 1);
    }
    cbx_shell_restore_done(&restore);
    drop_state();
    return restored;
}

/* Reports a syntax error before any command runs. */
static bool check_syntax(int cell, int *code, bool *interrupted)
{
    static const char *const argv[] = { "/bin/bash", "-O", "extglob", "-n", NULL };
    static const char prefix[] = "/bin/bash: ";
    struct cbx_command_start start = { .argv = argv, .cwd = "/", .in = cell, .program = -1 };
    char text[4096];
    size_t len;
    int status = cbx_command_collect(&start, text, sizeof(text) - 1, &len, interrupted);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    text[len] = '\0';
    text[strcspn(text, "\n")] = '\0';
    const char *what =
        strncmp(text, prefix, sizeof(prefix) - 1) == 0 ? text + sizeof(prefix) - 1 : text;
    *code = *interrupted ? 130 : 2;
    cbx_command_send_error(*interrupted ? "Interrupted" : "SyntaxError", what, what, strlen(what));
    return false;
}

/* Makes sure that a shell runs: after the end of one, starts the next with its state. False if
 * there is no state. */
static bool ensure_shell(void)
{
    int status;
    bool ended = false, interrupted = false;
    if (shell.uncertain && (!send_line("\\builtin printf 's0\\0' >&240\n") ||
                            wait_for_report(&status, &ended, &interrupted) < 0)) {
        clear_shell();
    }
    shell.uncertain = false;
    return shell.pid > 0 || restart_shell();
}

/* Writes a quoted word, in which the shell expands nothing. */
static void put_word(FILE *out, const char *word)
{
    putc('\'', out);
    for (; *word != '\0'; word++) {
        fputs(*word == '\'' ? "'\\''" : (const char[]){ *word, '\0' }, out);
    }
    putc('\'', out);
}

/* Has the shell set $0, $1 and following; false if they do not fit. */
static bool set_arguments(const struct cbx_command_run *run)
{
    char *text = NULL;
    size_t size = 0;
    int status;
    bool ended = false, interrupted = false;
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
    bool done = fclose(out) == 0 && submit(text, size, "", "\\builtin printf 's0\\0' >&240\n") &&
                wait_for_report(&status, &ended, &interrupted) >= 0;
    free(text);
    return done;
}

static int run(const struct cbx_command_run *run)
{
    bool has_arguments = run->file_name[0] != '\0' || run->arguments[0] != NULL;
    int code = 1, status = 0;
    bool ended = false, interrupted = false;
    if (!ensure_shell()) {
        cbx_command_end_as(1 << 8);
    }
    int cell = seal_text(run->source, run->len);
    bool is_correct = cell >= 0 && check_syntax(cell, &code, &interrupted);
    bool is_stored = cell >= 0;
    close_descriptor(&cell);
    if (is_stored && !is_correct) {
        return code;
    }
    drop_state();
    if (!is_stored || (has_arguments && !set_arguments(run)) ||
        !submit(run->source, run->len, "", REPORT)) {
        cbx_command_send_error("Error", "the source does not fit into memory", "", 0);
        return 1;
    }
    code = wait_for_report(&status, &ended, &interrupted);
    shell.uncertain = interrupted;
    if (!ended) {
        return code;
    }
    clear_shell();
    if (!restart_shell()) {
        cbx_command_end_as(status); /* the session is lost */
    }
    return interrupted ? 130 : cbx_command_exit_code(status);
}

/* No cell has run in the shell yet: starts another shell with the variables. */
static void change_variables(void)
{
    int status;
    if (shell.pid > 0) {
        kill(shell.pid, SIGKILL);
        waitpid(shell.pid, &status, 0);
        clear_shell();
    }
    if (!start_with(NULL)) {
        cbx_command_end_as(1 << 8);
    }
}

const struct cbx_command_kernel cbx_command_shell = { .start = start_shell,
                                                      .changed = change_variables,
                                                      .run = run };
