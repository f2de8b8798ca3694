/* SPDX-License-Identifier: MIT
 * PID 1 of every sandbox. Starts the kernel, relays frames between it and the host, keeps the clock
 * and the caps, kills what does not end, reaps what dies. Static, no library but libc. Everything
 * that the kernel says is hostile: the program that runs shares its process. Ends, and the
 * container with it, when the host closes its end of the stream. */
#include "docker/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What starts which kernel. The container's command names a row. */
static const struct kernel {
    const char *name;
    const char *const argv[6];
} kernels[] = {
#define CBX_KERNEL(name, ...) { name, { __VA_ARGS__, NULL } },
#define CBX_RUNS(language, kernel)
#include "docker/languages.def"
#undef CBX_KERNEL
#undef CBX_RUNS
};

enum { GRACE_MS = 1000, CHUNK_BYTES = 65536 };

/* A frame that is on its way in, from the host or the kernel. */
struct inbox {
    uint8_t *bytes;
    size_t len, size;
};

enum phase { IDLE, STARTING, RUNNING, STOPPING };

static struct {
    const struct kernel *kernel;
    pid_t pid; /* of the kernel, 0 = none */
    int control, out, err, children;
    struct inbox host, from_kernel;
    enum phase phase;
    bool ready, timed_out;
    uint8_t *held; /* a RUN that came before the kernel was ready */
    size_t held_len;
    struct cbx_frame_run run;
    struct cbx_frame_done done;
    uint64_t output_left, files_left;
    int64_t began_ms, deadline_ms; /* 0 = none */
    struct timespec began_wall;
    long oom_kills;
} s = { .control = -1, .out = -1, .err = -1 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void die(void)
{
    kill(-1, SIGKILL);
    _exit(1);
}

static bool write_all(int fd, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            if (errno == EAGAIN) {
                struct pollfd ready = { .fd = fd, .events = POLLOUT };
                poll(&ready, 1, GRACE_MS);
            }
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

static void make_head(uint8_t head[CBX_FRAME_HEAD_BYTES], uint8_t type, size_t len)
{
    uint32_t n = (uint32_t)len;
    head[0] = type;
    memcpy(head + 1, &n, 4);
}

void cbx_tell_host(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    uint8_t head[CBX_FRAME_HEAD_BYTES];
    make_head(head, type, a_len + b_len);
    if (!write_all(STDOUT_FILENO, head, sizeof(head)) || !write_all(STDOUT_FILENO, a, a_len) ||
        !write_all(STDOUT_FILENO, b, b_len)) {
        die();
    }
}

/* --- the kernel process ----------------------------------------------------------------------- */

/* The kernel is the first to go when memory runs out, so that somebody is left to tell. */
static void offer_to_oom(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "1000", 4);
        close(fd);
    }
}

static void exec_kernel(const int control[2], const int out[2], const int err[2])
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_DUMPABLE, 1);
    offer_to_oom();
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    dup2(control[1], 3);
    if (control[1] == 3) {
        fcntl(3, F_SETFD, 0);
    }
    close_range(4, ~0u, 0);
    setsid();
    execv(s.kernel->argv[0], (char *const *)(uintptr_t)s.kernel->argv);
    _exit(127);
}

static void start_kernel(void)
{
    int control[2], out[2], err[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0 ||
        pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) {
        die();
    }
    pid_t pid = fork();
    if (pid == 0) {
        exec_kernel(control, out, err);
    }
    close(control[1]);
    close(out[1]);
    close(err[1]);
    s.pid = pid > 0 ? pid : 0;
    s.control = control[0];
    s.out = out[0];
    s.err = err[0];
    fcntl(s.out, F_SETFL, O_NONBLOCK);
    fcntl(s.err, F_SETFL, O_NONBLOCK);
    s.from_kernel.len = 0;
    s.ready = false;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void forget_kernel(void)
{
    close_fd(&s.control);
    close_fd(&s.out);
    close_fd(&s.err);
    s.pid = 0;
    s.ready = false;
    s.from_kernel.len = 0;
}

/* --- what comes out --------------------------------------------------------------------------- */

static void pass_output(uint8_t type, const uint8_t *bytes, size_t len)
{
    *(type == CBX_FRAME_STDOUT ? &s.done.stdout_bytes : &s.done.stderr_bytes) += len;
    size_t fits = len < s.output_left ? len : s.output_left;
    if (fits < len) {
        s.done.flags |= CBX_DONE_OUTPUT_CUT;
    }
    s.output_left -= fits;
    if (fits > 0) {
        cbx_tell_host(type, bytes, fits, NULL, 0);
    }
}

static void pass_bundle(uint8_t type, const uint8_t *bytes, size_t len)
{
    if (len > s.files_left) {
        s.done.flags |= CBX_DONE_FILES_CUT;
        return;
    }
    s.files_left -= len;
    cbx_tell_host(type, bytes, len, NULL, 0);
}

/* Reads what lies in a pipe, at most `most` bytes so that a flood cannot hold up the clock. */
static void drain(int *fd, uint8_t type, size_t most)
{
    uint8_t chunk[CHUNK_BYTES];
    while (*fd >= 0 && most > 0) {
        ssize_t n = read(*fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n == 0) {
            close_fd(fd);
        }
        if (n <= 0) {
            return;
        }
        if (s.phase == RUNNING || s.phase == STOPPING) {
            pass_output(type, chunk, (size_t)n);
        }
        most = (size_t)n < most ? most - (size_t)n : 0;
    }
}

/* --- the life of a run ------------------------------------------------------------------------ */

static void finish(uint32_t status, int exit_code, int signal)
{
    drain(&s.out, CBX_FRAME_STDOUT, 1024 * 1024);
    drain(&s.err, CBX_FRAME_STDERR, 1024 * 1024);
    if (!cbx_report_files(&s.began_wall)) {
        s.done.flags |= CBX_DONE_FILES_CUT;
    }
    s.done.status = status;
    s.done.exit_code = exit_code;
    s.done.signal = signal;
    s.done.duration_ms = (uint64_t)(now_ms() - s.began_ms);
    s.phase = IDLE;
    s.deadline_ms = 0;
    cbx_tell_host(CBX_FRAME_DONE, &s.done, sizeof(s.done), NULL, 0);
}

static void begin(const uint8_t *payload, size_t len)
{
    memcpy(&s.run, payload, sizeof(s.run));
    s.done = (struct cbx_frame_done){ .exit_code = -1 };
    s.output_left = s.run.output_bytes;
    s.files_left = s.run.files_bytes;
    s.timed_out = false;
    s.oom_kills = cbx_count_oom_kills();
    s.began_ms = now_ms();
    s.deadline_ms = s.began_ms + (int64_t)s.run.wall_ms;
    clock_gettime(CLOCK_REALTIME_COARSE, &s.began_wall);
    s.phase = RUNNING;
    uint8_t head[CBX_FRAME_HEAD_BYTES];
    make_head(head, CBX_FRAME_RUN, len);
    /* A kernel that does not read has died, or will at its deadline. */
    if (write_all(s.control, head, sizeof(head))) {
        write_all(s.control, payload, len);
    }
}

static void take_run(const uint8_t *payload, size_t len)
{
    if (s.phase != IDLE || len < sizeof(struct cbx_frame_run) ||
        payload[sizeof(struct cbx_frame_run) - 1] != '\0') {
        die(); /* the host breaks the protocol: it is not the host that we know */
    }
    if (s.pid == 0) {
        start_kernel();
    }
    if (s.ready) {
        begin(payload, len);
        return;
    }
    s.held = malloc(len);
    if (s.held == NULL) {
        die();
    }
    memcpy(s.held, payload, len);
    s.held_len = len;
    memcpy(&s.run, payload, sizeof(s.run));
    s.phase = STARTING;
    s.began_ms = now_ms();
    clock_gettime(CLOCK_REALTIME_COARSE, &s.began_wall);
    s.done = (struct cbx_frame_done){ .exit_code = -1 };
    s.deadline_ms = s.began_ms + (int64_t)s.run.wall_ms + 10000;
}

static void kernel_is_ready(void)
{
    s.ready = true;
    cbx_tell_host(CBX_FRAME_READY, NULL, 0, NULL, 0);
    if (s.phase == STARTING) {
        uint8_t *held = s.held;
        s.held = NULL;
        begin(held, s.held_len);
        free(held);
    }
}

/* Nothing of the run survives: every process but this one. */
static void kill_all(void)
{
    kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
    drain(&s.out, CBX_FRAME_STDOUT, 1024 * 1024);
    drain(&s.err, CBX_FRAME_STDERR, 1024 * 1024);
    forget_kernel();
    s.done.flags |= CBX_DONE_LOST;
}

/* First the deadline: ask. Then the grace: no more asking. */
static void clock_ran_out(void)
{
    if (s.phase == RUNNING) {
        s.phase = STOPPING;
        s.timed_out = true;
        s.deadline_ms = now_ms() + GRACE_MS;
        if (s.pid > 0) {
            kill(s.pid, SIGINT);
        }
        return;
    }
    bool timed_out = s.timed_out || s.phase == STARTING;
    free(s.held);
    s.held = NULL;
    kill_all();
    finish(timed_out ? CBX_DONE_TIMEOUT : CBX_DONE_KILLED, -1, SIGKILL);
}

static void interrupt(void)
{
    if (s.phase == RUNNING && s.pid > 0) {
        kill(s.pid, SIGINT);
        s.phase = STOPPING; /* not timed out: the deadline is only the grace now */
        s.deadline_ms = now_ms() + 2 * GRACE_MS;
    }
}

static void run_finished(int32_t code)
{
    if (s.timed_out) {
        cbx_kill_others(s.pid); /* the kernel obeyed; what it had started did not hear of it */
        finish(CBX_DONE_TIMEOUT, -1, 0);
    } else {
        finish(CBX_DONE_ENDED, code >= 0 && code <= 255 ? code : -1, 0);
    }
}

static void kernel_died(int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool oom = signal == SIGKILL && cbx_count_oom_kills() > s.oom_kills;
    bool running = s.phase != IDLE;
    /* What it had written and said before it died still counts. */
    drain(&s.out, CBX_FRAME_STDOUT, 1024 * 1024);
    drain(&s.err, CBX_FRAME_STDERR, 1024 * 1024);
    kill(-1, SIGKILL); /* what it leaves behind belongs to nobody */
    forget_kernel();
    s.done.flags |= CBX_DONE_LOST;
    free(s.held);
    s.held = NULL;
    if (running) {
        finish(s.timed_out ? CBX_DONE_TIMEOUT
               : oom       ? CBX_DONE_OOM
               : signal    ? CBX_DONE_KILLED
                           : CBX_DONE_ENDED,
               WIFEXITED(status) ? WEXITSTATUS(status) : -1, signal);
    }
}

static void protocol_broken(void)
{
    bool running = s.phase != IDLE;
    kill_all();
    if (running) {
        finish(CBX_DONE_PROTOCOL, -1, SIGKILL);
    }
}

/* --- frames ----------------------------------------------------------------------------------- */

static void take_kernel_frame(uint8_t type, const uint8_t *payload, size_t len)
{
    bool running = s.phase == RUNNING || s.phase == STOPPING;
    int32_t code;
    switch (type) {
    case CBX_FRAME_READY:
        if (!s.ready) {
            kernel_is_ready();
        }
        return;
    case CBX_FRAME_FINISH:
        if (running && len == sizeof(code)) {
            memcpy(&code, payload, sizeof(code));
            run_finished(code);
        }
        return;
    case CBX_FRAME_STDOUT:
    case CBX_FRAME_STDERR:
        if (running) {
            pass_output(type, payload, len);
        }
        return;
    case CBX_FRAME_DISPLAY:
    case CBX_FRAME_RESULT:
        if (running) {
            pass_bundle(type, payload, len);
        }
        return;
    default: /* ERROR */
        if (running) {
            cbx_tell_host(type, payload, len, NULL, 0);
        }
    }
}

static void take_host_frame(uint8_t type, const uint8_t *payload, size_t len)
{
    if (type == CBX_FRAME_RUN) {
        take_run(payload, len);
    } else {
        interrupt();
    }
}

/* Reads once and hands on every whole frame. False at the end of the stream or when the protocol is
 * broken. */
static bool read_frames(int fd, struct inbox *in, char direction,
                        void (*take)(uint8_t, const uint8_t *, size_t))
{
    if (in->size - in->len < CHUNK_BYTES) {
        in->size = in->len + 4 * CHUNK_BYTES;
        in->bytes = realloc(in->bytes, in->size);
        if (in->bytes == NULL) {
            die();
        }
    }
    ssize_t n = read(fd, in->bytes + in->len, in->size - in->len);
    if (n < 0 && errno == EINTR) {
        return true;
    }
    if (n <= 0) {
        return false;
    }
    in->len += (size_t)n;
    size_t at = 0;
    while (in->len - at >= CBX_FRAME_HEAD_BYTES) {
        uint32_t len;
        memcpy(&len, in->bytes + at + 1, 4);
        if ((int64_t)len > cbx_frame_limit(in->bytes[at], direction)) {
            return false;
        }
        if (in->len - at - CBX_FRAME_HEAD_BYTES < len) {
            break;
        }
        take(in->bytes[at], in->bytes + at + CBX_FRAME_HEAD_BYTES, len);
        if (in->len == 0) {
            return true; /* the kernel was forgotten meanwhile, and its inbox with it */
        }
        at += CBX_FRAME_HEAD_BYTES + len;
    }
    memmove(in->bytes, in->bytes + at, in->len - at);
    in->len -= at;
    return true;
}

static void reap(void)
{
    struct signalfd_siginfo info;
    (void)!read(s.children, &info, sizeof(info));
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s.pid) {
            /* Its last frames may still lie in the socket. */
            fcntl(s.control, F_SETFL, O_NONBLOCK);
            while (s.control >= 0 &&
                   read_frames(s.control, &s.from_kernel, 'c', take_kernel_frame)) {
            }
            if (s.pid == pid) {
                kernel_died(status);
            }
        }
    }
}

static int time_left(void)
{
    if (s.deadline_ms == 0) {
        return -1;
    }
    int64_t left = s.deadline_ms - now_ms();
    return left < 0 ? 0 : left > 1000000 ? 1000000 : (int)left;
}

static void serve(void)
{
    for (;;) {
        struct pollfd fds[] = {
            { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = s.control, .events = POLLIN },
            { .fd = s.out, .events = POLLIN },        { .fd = s.err, .events = POLLIN },
            { .fd = s.children, .events = POLLIN },
        };
        if (poll(fds, 5, time_left()) < 0 && errno != EINTR) {
            die();
        }
        if (s.deadline_ms != 0 && now_ms() >= s.deadline_ms) {
            clock_ran_out();
            continue;
        }
        if (fds[0].revents != 0 && !read_frames(STDIN_FILENO, &s.host, 'h', take_host_frame)) {
            die();
        }
        drain(&s.out, CBX_FRAME_STDOUT, CHUNK_BYTES);
        drain(&s.err, CBX_FRAME_STDERR, CHUNK_BYTES);
        if (fds[1].revents != 0 && fds[1].fd == s.control && s.control >= 0 &&
            !read_frames(s.control, &s.from_kernel, 'c', take_kernel_frame)) {
            if ((fds[1].revents & POLLHUP) == 0) {
                protocol_broken();
            } else {
                close_fd(&s.control); /* it closed the channel or died: SIGCHLD or the deadline
                                         tells which */
            }
        }
        if (fds[4].revents != 0) {
            reap();
        }
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (strcmp(argv[1], kernels[i].name) == 0) {
            s.kernel = &kernels[i];
        }
    }
    if (s.kernel == NULL || prctl(PR_SET_DUMPABLE, 0) != 0) {
        return 2;
    }
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    s.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    uint32_t version = CBX_FRAME_VERSION;
    cbx_tell_host(CBX_FRAME_HELLO, &version, sizeof(version), NULL, 0);
    start_kernel();
    serve();
    return 0;
}
