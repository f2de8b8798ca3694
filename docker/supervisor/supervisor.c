/* SPDX-License-Identifier: MIT
 * PID 1 of every sandbox. Starts the kernel, relays frames between it and the host, keeps the clock
 * and the caps, kills what does not end, reaps what dies. Static, no library but libc. Everything
 * that the kernel says is hostile: the program that runs shares its process.
 *
 * A host may die and another one take over: what a run says is kept (report.c), and the sandbox
 * lives as long as the lease that the last host gave it. Nothing here blocks but a file operation,
 * so the clock holds whatever host and program do. */
#include "docker/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What starts which kernel. The container's command names a row. */
static const struct kernel {
    const char *name;
    const char *const argv[7];
} kernels[] = {
#define CBX_KERNEL(name, ...) { name, { __VA_ARGS__, NULL } },
#define CBX_RUNS(language, kernel)
#include "docker/languages.def"
#undef CBX_KERNEL
#undef CBX_RUNS
};

enum {
    GRACE_MS = 400,  /* between asking a program to end and ending it, which takes as long again */
    SIGNAL_MS = 30,  /* between telling a kernel of an interrupt and a signal to all that it runs */
    SETTLE_MS = 150, /* how long a kernel is watched that says it ended in time, */
    SETTLE_LOOKS = 4,       /* and how often while it still runs */
    FIRST_LEASE_MS = 60000, /* until a host attaches */
    CPU_TICK_MS = 100,
    CROWD = 32, /* processes; each that is asked to end would take its time of what is left */
    KERNEL_START_MS = 20000,
    CHUNK_BYTES = 65536,
    REST_BYTES = 1024 * 1024, /* what is still read of a pipe when its run ends */
};

/* A frame that is on its way in, from the host or the kernel. */
struct inbox {
    uint8_t *bytes;
    size_t len, size;
};

/* STARTING: a run waits for the kernel. STOPPING: it was asked to end. SETTLING: it says that it
 * did, after its time was over. */
enum phase { IDLE, STARTING, RUNNING, STOPPING, SETTLING };

static struct {
    const struct kernel *kernel;
    pid_t pid; /* of the kernel, 0 = none */
    int control, out, err, children;
    struct inbox host, from_kernel;
    struct cbx_bytes to_kernel; /* what it has not taken yet */
    size_t taken;
    uint8_t key[CBX_FRAME_KEY_BYTES];
    bool has_key;
    uint8_t tag[CBX_FRAME_TAG_MAX];
    size_t tag_len;
    int64_t lease_ms; /* when it ends */
    enum phase phase;
    bool ready;
    uint32_t over;         /* why the run was asked to end: CBX_DONE_TIMEOUT, CBX_DONE_CPU, or 0 */
    struct cbx_bytes held; /* a RUN that came before the kernel was ready */
    struct cbx_frame_run run; /* the last one; its id is empty when the host has its result */
    struct cbx_frame_done done;
    int64_t began_ms, deadline_ms, signal_ms; /* 0 = none */
    uint64_t began_cpu_ms, settle_cpu_ms;
    int looks;
    struct timespec began_wall;
    long oom_kills;
} s = { .control = -1, .out = -1, .err = -1 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

_Noreturn void cbx_die(void)
{
    kill(-1, SIGKILL);
    _exit(1);
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
    setpriority(PRIO_PROCESS, 0, 10); /* whatever it forks, the supervisor's turn comes first */
    execv(s.kernel->argv[0], (char *const *)(uintptr_t)s.kernel->argv);
    _exit(127);
}

static void start_kernel(void)
{
    int control[2], out[2], err[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0 ||
        pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) {
        cbx_die();
    }
    pid_t pid = fork();
    if (pid == 0) {
        exec_kernel(control, out, err);
    }
    close(control[1]);
    close(out[1]);
    close(err[1]);
    if (pid < 0) {
        cbx_die();
    }
    s.pid = pid;
    s.control = control[0];
    s.out = out[0];
    s.err = err[0];
    fcntl(s.control, F_SETFL, O_NONBLOCK);
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
    cbx_bytes_free(&s.to_kernel);
    s.taken = 0;
}

/* --- to the kernel ------------------------------------------------------------------------------
 */

/* A program may have made its kernel deaf; then the frame stays here until the deadline. */
static void tell_kernel(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    uint32_t len = (uint32_t)(a_len + b_len);
    cbx_bytes_add(&s.to_kernel, &type, 1);
    cbx_bytes_add(&s.to_kernel, &len, sizeof(len));
    cbx_bytes_add(&s.to_kernel, a, a_len);
    cbx_bytes_add(&s.to_kernel, b, b_len);
}

static void feed_kernel(void)
{
    while (s.control >= 0 && s.taken < s.to_kernel.len) {
        ssize_t n = send(s.control, s.to_kernel.p + s.taken, s.to_kernel.len - s.taken,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return; /* full, or it died, which SIGCHLD tells */
        }
        s.taken += (size_t)n;
    }
    cbx_bytes_free(&s.to_kernel);
    s.taken = 0;
}

/* --- what comes out --------------------------------------------------------------------------- */

static bool is_running(void)
{
    return s.phase == RUNNING || s.phase == STOPPING || s.phase == SETTLING;
}

/* Reads what lies in a pipe, at most `most` bytes so that a flood cannot hold up the clock. */
static void drain(int *fd, uint8_t type, size_t most)
{
    static uint8_t chunk[CHUNK_BYTES];
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
        if (is_running()) {
            cbx_report_output(type, chunk, (size_t)n);
        }
        most = (size_t)n < most ? most - (size_t)n : 0;
    }
}

static void drain_both(size_t most)
{
    drain(&s.out, CBX_FRAME_STDOUT, most);
    drain(&s.err, CBX_FRAME_STDERR, most);
}

/* --- the life of a run ------------------------------------------------------------------------ */

static void finish(uint32_t status, int exit_code, int signal)
{
    drain_both(REST_BYTES);
    s.done.flags |= cbx_report_end_output();
    if (!cbx_report_files(&s.began_wall)) {
        s.done.flags |= CBX_DONE_FILES_CUT;
    }
    s.done.status = status;
    s.done.exit_code = exit_code;
    s.done.signal = signal;
    s.done.duration_ms = (uint64_t)(now_ms() - s.began_ms);
    s.done.cpu_ms = cbx_cpu_ms() - s.began_cpu_ms;
    s.done.stdout_bytes = cbx_report_written(CBX_FRAME_STDOUT);
    s.done.stderr_bytes = cbx_report_written(CBX_FRAME_STDERR);
    s.phase = IDLE;
    s.deadline_ms = 0;
    cbx_report_frame(CBX_FRAME_DONE, &s.done, sizeof(s.done), NULL, 0);
}

static void begin(const uint8_t *payload, size_t len)
{
    drain_both(REST_BYTES); /* what threads of earlier runs wrote is not this one's */
    s.over = 0;
    s.oom_kills = cbx_count_oom_kills();
    s.began_cpu_ms = cbx_cpu_ms();
    s.began_ms = now_ms();
    s.deadline_ms = s.began_ms + (int64_t)s.run.wall_ms;
    clock_gettime(CLOCK_REALTIME_COARSE, &s.began_wall);
    s.phase = RUNNING;
    tell_kernel(CBX_FRAME_RUN, payload, CBX_FRAME_KERNEL_HEAD_BYTES,
                payload + sizeof(struct cbx_frame_run), len - sizeof(struct cbx_frame_run));
    feed_kernel();
}

static void take_run(const uint8_t *payload, size_t len)
{
    struct cbx_frame_run run;
    if (s.phase != IDLE || len < sizeof(run)) {
        cbx_die(); /* the host breaks the protocol: it is not the host that we know */
    }
    memcpy(&run, payload, sizeof(run));
    run.language[sizeof(run.language) - 1] = '\0';
    run.id[sizeof(run.id) - 1] = '\0';
    s.run = run;
    s.done = (struct cbx_frame_done){ .exit_code = -1 };
    cbx_report_begin(run.output_bytes, run.files_bytes);
    if (s.pid == 0) {
        start_kernel();
    }
    if (s.ready) {
        begin(payload, len);
        return;
    }
    cbx_bytes_add(&s.held, payload, len);
    s.phase = STARTING;
    s.began_ms = now_ms();
    s.began_cpu_ms = cbx_cpu_ms();
    clock_gettime(CLOCK_REALTIME_COARSE, &s.began_wall);
    s.deadline_ms = s.began_ms + (int64_t)run.wall_ms + KERNEL_START_MS;
}

static void kernel_is_ready(void)
{
    s.ready = true;
    if (s.phase == STARTING) {
        struct cbx_bytes held = s.held;
        s.held = (struct cbx_bytes){ 0 };
        begin(held.p, held.len);
        cbx_bytes_free(&held);
    }
}

/* Nothing of the run survives: every process but this one. */
static void kill_all(void)
{
    kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
    drain_both(REST_BYTES);
    forget_kernel();
    cbx_bytes_free(&s.held);
    s.done.flags |= CBX_DONE_LOST;
}

/* As a terminal does it: the kernel and what runs in its foreground. */
static void signal_kernel(int number)
{
    if (s.pid > 0 && kill(-s.pid, number) < 0) {
        kill(s.pid, number);
    }
}

static void stop_run(uint32_t over, int grace_ms)
{
    s.phase = STOPPING;
    s.over = over;
    s.deadline_ms = now_ms() + grace_ms;
    /* First in a way that no state is lost by; a signal follows where that is not heard. */
    tell_kernel(CBX_FRAME_INTERRUPT, NULL, 0, NULL, 0);
    feed_kernel();
    s.signal_ms = now_ms() + SIGNAL_MS;
}

/* Its time is over and it says that it has ended. If it goes on computing all the same, in a thread
 * or behind a forged FINISH, it is ended. */
static void settle(void)
{
    uint64_t used = cbx_process_cpu_ms(s.pid) - s.settle_cpu_ms;
    bool busy = used > (uint64_t)SETTLE_MS / 3 * (unsigned)++s.looks,
         runs = cbx_process_runs(s.pid);
    if (runs && !busy && s.looks < SETTLE_LOOKS) {
        s.deadline_ms = now_ms() + SETTLE_MS; /* on a machine that is busy, what is left of it */
        return;
    }
    if (busy || runs) {
        kill_all();
    }
    finish(s.over, -1, busy || runs ? SIGKILL : 0);
}

/* First the deadline: ask. Then the grace: no more asking. */
static void clock_ran_out(void)
{
    if (s.phase == RUNNING && cbx_count_processes() < CROWD) {
        stop_run(CBX_DONE_TIMEOUT, GRACE_MS);
    } else if (s.phase == SETTLING) {
        settle();
    } else {
        uint32_t over = s.phase == STOPPING ? s.over : CBX_DONE_TIMEOUT;
        kill_all();
        finish(over != 0 ? over : CBX_DONE_KILLED, -1, SIGKILL);
    }
}

static void check_cpu(void)
{
    if (s.phase == RUNNING && s.run.cpu_ms > 0 && cbx_cpu_ms() - s.began_cpu_ms >= s.run.cpu_ms) {
        stop_run(CBX_DONE_CPU, GRACE_MS);
    }
}

static void interrupt(void)
{
    if (s.phase == RUNNING) {
        stop_run(0, 3 * GRACE_MS);
    }
}

static void run_finished(int32_t code)
{
    if (s.over == 0) {
        finish(CBX_DONE_ENDED, code >= 0 && code <= 255 ? code : -1, 0);
        return;
    }
    cbx_kill_others(s.pid); /* the kernel obeyed; what it had started did not hear of it */
    s.settle_cpu_ms = cbx_process_cpu_ms(s.pid);
    s.phase = SETTLING;
    s.looks = 0;
    s.deadline_ms = now_ms() + SETTLE_MS;
}

static void kernel_died(int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool oom = signal == SIGKILL && cbx_count_oom_kills() > s.oom_kills;
    bool running = s.phase != IDLE;
    kill_all(); /* what it had written and said still counts; what it leaves belongs to nobody */
    if (running) {
        finish(s.over != 0 ? s.over
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

static void reset(void)
{
    uint32_t done = 0;
    bool running = s.phase != IDLE;
    kill_all();
    if (running) {
        finish(CBX_DONE_KILLED, -1, SIGKILL);
    }
    start_kernel();
    cbx_reply(CBX_FRAME_ANSWER, &done, sizeof(done), NULL, 0);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void take_kernel_frame(uint8_t type, const uint8_t *payload, size_t len)
{
    int32_t code;
    if (type == CBX_FRAME_READY && !s.ready) {
        kernel_is_ready();
    }
    if (!is_running()) {
        return;
    }
    switch (type) {
    case CBX_FRAME_FINISH:
        if (len == sizeof(code) && s.phase != SETTLING) {
            memcpy(&code, payload, sizeof(code));
            run_finished(code);
        }
        return;
    case CBX_FRAME_STDOUT:
    case CBX_FRAME_STDERR:
        cbx_report_output(type, payload, len);
        return;
    case CBX_FRAME_READY:
        return;
    default: /* DISPLAY, RESULT, ERROR, ASK */
        cbx_report_bundle(type, payload, len);
    }
}

static void say_hello(const uint8_t *nonce)
{
    uint8_t mark[CBX_FRAME_MARK_BYTES];
    memcpy(mark, s.key, sizeof(s.key));
    memcpy(mark + sizeof(s.key), nonce, CBX_FRAME_NONCE_BYTES);
    struct cbx_frame_hello hello = {
        .version = CBX_FRAME_VERSION,
        .run = s.run.id[0] == '\0' ? CBX_HELLO_IDLE
               : s.phase == IDLE   ? CBX_HELLO_ENDED
                                   : CBX_HELLO_RUNNING,
    };
    memcpy(hello.id, s.run.id, sizeof(hello.id));
    cbx_reply_mark(mark);
    cbx_reply(CBX_FRAME_HELLO, &hello, sizeof(hello), s.tag, s.tag_len);
}

static void renew_lease(const uint8_t *payload)
{
    uint32_t lease_ms;
    memcpy(&lease_ms, payload, sizeof(lease_ms));
    s.lease_ms = now_ms() + lease_ms;
}

static void forget_run(const uint8_t *payload, size_t len)
{
    if (s.phase == IDLE && len == sizeof(s.run.id) && memcmp(payload, s.run.id, len) == 0) {
        cbx_report_forget();
        s.run.id[0] = '\0';
    }
}

static void take_host_frame(uint8_t type, const uint8_t *payload, size_t len)
{
    switch (type) {
    case CBX_FRAME_ATTACH:
        if (len != CBX_FRAME_NONCE_BYTES + 4) {
            cbx_die();
        }
        renew_lease(payload + CBX_FRAME_NONCE_BYTES);
        say_hello(payload);
        return;
    case CBX_FRAME_LEASE:
        if (len == 4) {
            renew_lease(payload);
        }
        return;
    case CBX_FRAME_TAG:
        memcpy(s.tag, payload, len);
        s.tag_len = len;
        return;
    case CBX_FRAME_RUN:
        take_run(payload, len);
        return;
    case CBX_FRAME_FOLLOW:
        cbx_report_follow();
        return;
    case CBX_FRAME_ACK:
        forget_run(payload, len);
        return;
    case CBX_FRAME_INTERRUPT:
        interrupt();
        return;
    case CBX_FRAME_RESET:
        reset();
        return;
    case CBX_FRAME_INPUT:
    case CBX_FRAME_WARM:
        if (s.pid > 0 && (type == CBX_FRAME_WARM || s.phase == RUNNING)) {
            tell_kernel(type, payload, len, NULL, 0);
        }
        return;
    case CBX_FRAME_PUT:
        cbx_file_put(payload, len);
        return;
    case CBX_FRAME_GET:
        cbx_file_get(payload, len);
        return;
    case CBX_FRAME_LIST:
        cbx_file_list(payload, len);
        return;
    default:
        cbx_file_delete(payload, len);
    }
}

static bool read_more(int fd, struct inbox *in)
{
    if (in->size - in->len < CHUNK_BYTES) {
        in->size = in->len + 4 * CHUNK_BYTES;
        in->bytes = realloc(in->bytes, in->size);
        if (in->bytes == NULL) {
            cbx_die();
        }
    }
    ssize_t n = read(fd, in->bytes + in->len, in->size - in->len);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    in->len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* Hands on every whole frame. False when the protocol is broken. */
static bool take_frames(struct inbox *in, char direction,
                        void (*take)(uint8_t, const uint8_t *, size_t))
{
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

/* What other processes wrote before the kernel said something comes first. */
static bool read_kernel(void)
{
    if (!read_more(s.control, &s.from_kernel)) {
        return false;
    }
    drain_both(CHUNK_BYTES);
    return take_frames(&s.from_kernel, 'c', take_kernel_frame);
}

static void drop_front(struct inbox *in, size_t n)
{
    memmove(in->bytes, in->bytes + n, in->len - n);
    in->len -= n;
}

/* The first bytes of the stream are the key; wherever it stands again, a new host begins. */
static bool read_host(void)
{
    struct inbox *in = &s.host;
    size_t before = in->len;
    if (!read_more(STDIN_FILENO, in)) {
        return false;
    }
    if (!s.has_key) {
        if (in->len < sizeof(s.key)) {
            return true;
        }
        memcpy(s.key, in->bytes, sizeof(s.key));
        s.has_key = true;
        drop_front(in, sizeof(s.key));
        before = 0;
    }
    size_t from = before > sizeof(s.key) ? before - sizeof(s.key) : 0;
    for (uint8_t *found; from < in->len && (found = memmem(in->bytes + from, in->len - from, s.key,
                                                           sizeof(s.key))) != NULL;) {
        drop_front(in, (size_t)(found - in->bytes) + sizeof(s.key));
        from = 0;
    }
    return take_frames(in, 'h', take_host_frame);
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
            for (size_t before = 1; s.control >= 0 && before != 0;) {
                struct pollfd left = { .fd = s.control, .events = POLLIN };
                before = poll(&left, 1, 0) > 0 && (left.revents & POLLIN) != 0 && read_kernel();
            }
            if (s.pid == pid) {
                s.pid = 0;
                kernel_died(status);
            }
        }
    }
}

static int time_left(void)
{
    int64_t now = now_ms(), left = s.lease_ms - now;
    if (s.deadline_ms != 0 && s.deadline_ms - now < left) {
        left = s.deadline_ms - now;
    }
    if (s.phase == STOPPING && s.signal_ms != 0 && s.signal_ms - now < left) {
        left = s.signal_ms - now;
    }
    if (s.phase == RUNNING && s.run.cpu_ms > 0 && left > CPU_TICK_MS) {
        left = CPU_TICK_MS;
    }
    return left < 0 ? 0 : left > 1000000 ? 1000000 : (int)left;
}

/* Deadlines first: no flood of bytes comes before the clock. */
static bool keep_time(void)
{
    int64_t now = now_ms();
    if (now >= s.lease_ms) {
        cbx_die(); /* no host wants this sandbox any more */
    }
    check_cpu();
    if (s.phase == STOPPING && s.signal_ms != 0 && now >= s.signal_ms) {
        s.signal_ms = 0;
        signal_kernel(SIGINT);
    }
    if (s.deadline_ms != 0 && now >= s.deadline_ms) {
        clock_ran_out();
        return true;
    }
    return false;
}

static void take_control(short revents)
{
    if (revents == 0 || s.control < 0 || read_kernel()) {
        return;
    }
    if ((revents & POLLHUP) == 0) {
        protocol_broken();
    } else {
        close_fd(
            &s.control); /* it closed the channel or died: SIGCHLD or the deadline tells which */
    }
}

static void serve(void)
{
    for (;;) {
        short feeds = s.taken < s.to_kernel.len ? POLLOUT : 0;
        struct pollfd fds[] = {
            { .fd = STDIN_FILENO, .events = POLLIN },
            { .fd = cbx_report_pending() ? STDOUT_FILENO : -1, .events = POLLOUT },
            { .fd = s.control, .events = (short)(POLLIN | feeds) },
            { .fd = s.out, .events = POLLIN },
            { .fd = s.err, .events = POLLIN },
            { .fd = s.children, .events = POLLIN },
        };
        if (poll(fds, sizeof(fds) / sizeof(fds[0]), time_left()) < 0 && errno != EINTR) {
            cbx_die();
        }
        if (keep_time()) {
            continue;
        }
        if (fds[0].revents != 0 && !read_host()) {
            cbx_die(); /* an engine that closes the stream: nobody can come back */
        }
        drain_both(CHUNK_BYTES);
        if (fds[2].fd == s.control) {
            take_control(fds[2].revents & ~POLLOUT);
        }
        feed_kernel();
        if (fds[5].revents != 0) {
            reap();
        }
        if (!cbx_report_send()) {
            cbx_die();
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
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    s.lease_ms = now_ms() + FIRST_LEASE_MS;
    start_kernel();
    serve();
    return 0;
}
