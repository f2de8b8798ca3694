/* SPDX-License-Identifier: MIT
 * Functions used by both kinds of the command kernel: frames to the supervisor, starting
 * programs and waiting for them. */
#include "docker/inside/command/command.h"

#include "docker/inside/confine/confine.h"
#include "docker/inside/confine/filter.h"
#include "docker/inside/wire/frame.h"
#include "policies/base/text/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEAT_MS = 150 };
static int signals = -1;

/* --- frames ----------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        p += n;
        len -= (size_t)n;
    }
    return true;
}

void cbx_command_send(uint8_t type, const void *payload, size_t len)
{
    uint8_t head[CBX_FRAME_HEAD_BYTES] = { type };
    uint32_t n = (uint32_t)len;
    memcpy(head + 1, &n, 4);
    if (!write_all(CBX_COMMAND_CONTROL, head, sizeof(head)) ||
        !write_all(CBX_COMMAND_CONTROL, payload, len)) {
        _exit(1);
    }
}

/* --- errors as JSON --------------------------------------------------------------------------- */

static void put_json(FILE *out, const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    putc('"', out);
    for (size_t i = 0; i < len;) {
        size_t n = cbx_utf8_bytes(text + i, len - i);
        if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\') {
            fprintf(out, "\\u%04x", p[i]);
        } else if (n == 0) {
            putc('?', out);
        } else {
            fwrite(text + i, 1, n, out);
        }
        i += n > 0 ? n : 1;
    }
    putc('"', out);
}

void cbx_command_send_error(const char *ename, const char *evalue, const char *text, size_t len)
{
    enum { TEXT_MAX = 32 * 1024, VALUE_MAX = 1024 }; /* six times as much fits into the frame */
    char *json = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&json, &size);
    if (out == NULL) {
        return;
    }
    len = len > TEXT_MAX ? TEXT_MAX : len;
    fputs("{\"ename\":", out);
    put_json(out, ename, strnlen(ename, VALUE_MAX));
    fputs(",\"evalue\":", out);
    put_json(out, evalue, strnlen(evalue, VALUE_MAX));
    fputs(",\"traceback\":[", out);
    for (size_t i = 0; i < len;) {
        const char *end = memchr(text + i, '\n', len - i);
        size_t line = end != NULL ? (size_t)(end - text) - i : len - i;
        put_json(out, text + i, line);
        i += line + 1;
        fputs(i < len ? "," : "", out);
    }
    fputs("]}", out);
    if (fclose(out) == 0) {
        cbx_command_send(CBX_FRAME_ERROR, json, size);
    }
    free(json);
}

/* --- processes -------------------------------------------------------------------------------- */

int cbx_command_exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void cbx_command_end_as(int status)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        kill(getpid(), SIGKILL); /* the supervisor checks whether memory was exhausted */
    }
    _exit(cbx_command_exit_code(status));
}

void cbx_command_set_variables(char *variables, size_t len)
{
    for (char *at = variables; at < variables + len; at += strlen(at) + 1) {
        char *value = strchr(at, '=');
        if (value != NULL) {
            *value = '\0';
            setenv(at, value + 1, 1);
            *value = '=';
        }
    }
}

bool cbx_command_write(const char *path, const char *bytes, size_t len)
{
    mkdir(CBX_COMMAND_FOLDER, 0700);
    unlink(path); /* a program may have left any file there */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write_all(fd, bytes, len);
    if (fd >= 0) {
        close(fd);
    }
    return written;
}

#ifndef PR_SET_MDWE /* Linux 6.3 */
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1ul
#endif

static void exec_program(const struct cbx_command_start *start)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    int in = start->in >= 0 ? start->in : open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool ready = dup2(in, 0) == 0 && (start->out < 0 || dup2(start->out, 1) == 1) &&
                 (start->err < 0 || dup2(start->err, 2) == 2) && chdir(start->cwd) == 0;
    for (size_t i = 0; i < start->passed_count; i++) {
        ready = ready && dup2(start->passed[i], start->passed_at + (int)i) >= 0;
    }
    ready = ready && (start->preload == NULL || setenv("LD_PRELOAD", start->preload, 1) == 0);
    for (size_t i = 0; start->env != NULL && start->env[i] != NULL; i++) {
        ready = ready && putenv(start->env[i]) == 0;
    }
    ready = ready && (start->confinement == NULL || cbx_confine_enter(*start->confinement));
    if (ready && start->guard != 0) {
        /* if Linux supports it: the program cannot access this process */
        cbx_confine_separate();
        if (!cbx_filter_install(start->guard, CBX_FRAME_GUARD_FD) && start->needs_guard) {
            dprintf(2, "the policy refuses what this sandbox cannot: its host kernel has no user "
                       "notification of seccomp (Linux 5.5 has it, gVisor does not)\n");
            _exit(126);
        }
    }
    if (ready && start->keeps_code) {
        prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
    }
    /* All other descriptors are close-on-exec. */
    if (ready && start->program >= 0) {
        char path[32];
        snprintf(path, sizeof(path), "/proc/self/fd/%d", start->program);
        execv(path, (char *const *)(uintptr_t)start->argv);
    } else if (ready) {
        execv(start->path != NULL ? start->path : start->argv[0],
              (char *const *)(uintptr_t)start->argv);
    }
    dprintf(2, "%s: %s\n", start->argv[0], strerror(errno));
    _exit(127);
}

pid_t cbx_command_start(const struct cbx_command_start *start)
{
    pid_t pid = fork();
    if (pid == 0) {
        exec_program(start);
    }
    if (pid > 0) {
        setpgid(pid, pid); /* in parent and child, as either may run first */
    }
    return pid;
}

bool cbx_command_block_signals(void)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ours, NULL);
    signal(SIGPIPE, SIG_IGN); /* the kernel survives the end of a shell */
    signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals >= 0;
}

/* Handles pending signals: SIGINT is passed on to the process group. */
static void take_signals(pid_t pid, bool *interrupted)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGINT && pid > 0) {
            *interrupted = true;
            kill(-pid, SIGINT);
        }
    }
}

void cbx_command_drop_interrupt(void)
{
    bool ignored = false;
    take_signals(0, &ignored);
}

enum cbx_command_event cbx_command_wait(pid_t pid, int fd, bool repeat, int *status,
                                        bool *interrupted)
{
    for (;;) {
        struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                                { .fd = signals, .events = POLLIN },
                                { .fd = CBX_COMMAND_CONTROL, .events = 0 } };
        if (waitpid(pid, status, WNOHANG) == pid) {
            return CBX_COMMAND_ENDED;
        }
        int ready = poll(fds, 3, repeat && *interrupted ? REPEAT_MS : -1);
        if (ready < 0 && errno != EINTR) {
            _exit(1);
        }
        if (ready == 0) {
            kill(-pid, SIGINT);
        }
        if ((fds[2].revents & (POLLHUP | POLLERR)) != 0) {
            _exit(0);
        }
        if (fds[0].revents != 0) {
            return CBX_COMMAND_READABLE;
        }
        if (fds[1].revents != 0) {
            take_signals(pid, interrupted);
        }
    }
}

int cbx_command_collect(const struct cbx_command_start *start, char *out, size_t size, size_t *len,
                        bool *interrupted)
{
    int ends[2], status = 0;
    *len = 0;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return 127 << 8;
    }
    struct cbx_command_start own = *start;
    own.out = own.err = ends[1];
    pid_t pid = cbx_command_start(&own);
    close(ends[1]);
    bool ended = pid < 0, open_end = true;
    status = ended ? 127 << 8 : 0;
    while (!ended || open_end) {
        if (open_end && (ended || cbx_command_wait(pid, ends[0], false, &status, interrupted) ==
                                      CBX_COMMAND_READABLE)) {
            char chunk[4096];
            ssize_t n = read(ends[0], chunk, sizeof(chunk));
            size_t fits = n > 0 && (size_t)n < size - *len ? (size_t)n : size - *len;
            open_end = n > 0;
            memcpy(out + *len, chunk, n > 0 ? fits : 0);
            *len += n > 0 ? fits : 0;
        } else if (open_end) {
            ended = true;
        } else {
            ended = cbx_command_wait(pid, -1, false, &status, interrupted) == CBX_COMMAND_ENDED;
        }
    }
    close(ends[0]);
    return status;
}
