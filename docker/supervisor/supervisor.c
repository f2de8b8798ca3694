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
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    GRACE_MS = 400,  /* between asking a program to end and ending it, which takes as long again */
    SIGNAL_MS = 30,  /* between telling a kernel of an interrupt and a signal to all that it runs */
    SETTLE_MS = 150, /* how long a kernel is watched that says it ended in time, */
    SETTLE_LOOKS = 4,       /* and how often while it still runs */
    FIRST_LEASE_MS = 60000, /* until a host attaches */
    CPU_TICK_MS = 100,
    CROWD = 32, /* processes; each that is asked to end would take its time of what is left */
    KERNEL_START_MS = 20000,
    REST_BYTES = 1024 * 1024, /* what is still read of a pipe when its run ends */
};

/* STARTING: a run waits until the kernel is READY. STOPPING: it was asked to end. SETTLING: it says
 * that it did, after its time was over. */
enum phase { IDLE, STARTING, RUNNING, STOPPING, SETTLING };

static struct {
    int children;
    struct cbx_inbox host;
    uint8_t key[CBX_FRAME_KEY_BYTES];
    bool has_key;
    uint8_t tag[CBX_FRAME_TAG_MAX];
    size_t tag_len;
    int64_t lease_ms; /* when it ends */
    enum phase phase;
    uint32_t over;         /* why the run was asked to end: CBX_DONE_TIMEOUT, CBX_DONE_CPU, or 0 */
    struct cbx_bytes held; /* a RUN that came before the kernel was ready */
    bool warm, warming;    /* it is to import what programs need; it does */
    struct cbx_frame_run run; /* the last one; its id is empty when the host has its result */
    struct cbx_frame_done done;
    int64_t began_ms, deadline_ms, signal_ms; /* 0 = none */
    uint64_t began_cpu_ms, settle_cpu_ms;
    int looks;
    struct timespec began_wall;
    long oom_kills;
} s;

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

static bool is_running(void)
{
    return s.phase == RUNNING || s.phase == STOPPING || s.phase == SETTLING;
}

/* --- the life of a run ------------------------------------------------------------------------ */

static void finish(uint32_t status, int exit_code, int signal)
{
    cbx_kernel_drain(REST_BYTES, is_running());
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
    cbx_kernel_drain(REST_BYTES,
                     is_running()); /* what threads of earlier runs wrote is not this one's */
    s.over = 0;
    s.oom_kills = cbx_count_oom_kills();
    s.began_cpu_ms = cbx_cpu_ms();
    s.began_ms = now_ms();
    s.deadline_ms = s.began_ms + (int64_t)s.run.wall_ms;
    clock_gettime(CLOCK_REALTIME_COARSE, &s.began_wall);
    s.phase = RUNNING;
    cbx_kernel_tell(CBX_FRAME_RUN, payload, CBX_FRAME_KERNEL_HEAD_BYTES,
                    payload + sizeof(struct cbx_frame_run), len - sizeof(struct cbx_frame_run));
    cbx_kernel_feed();
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
    if (cbx_kernel.pid == 0) {
        cbx_kernel_start();
    }
    if (cbx_kernel.ready) {
        begin(payload, len);
        return;
    }
    if (s.warming) { /* at whatever comes, it leaves the rest of it */
        cbx_kernel_tell(CBX_FRAME_INTERRUPT, NULL, 0, NULL, 0);
        cbx_kernel_feed();
    }
    cbx_bytes_add(&s.held, payload, len);
    s.phase = STARTING;
    s.began_ms = now_ms();
    s.began_cpu_ms = cbx_cpu_ms();
    clock_gettime(CLOCK_REALTIME_COARSE, &s.began_wall);
    s.deadline_ms = s.began_ms + (int64_t)run.wall_ms + KERNEL_START_MS;
}

/* What runs meanwhile waits for READY, as when the kernel starts: its time is its own, and an
 * interrupt costs it and nothing else. */
static void warm_kernel(void)
{
    s.warm = !cbx_kernel.ready && cbx_kernel.pid > 0 && !s.warming;
    if (cbx_kernel.ready && s.phase == IDLE) {
        cbx_kernel.ready = false;
        s.warming = true;
        cbx_kernel_tell(CBX_FRAME_WARM, NULL, 0, NULL, 0);
        cbx_kernel_feed();
    }
}

static void kernel_is_ready(void)
{
    cbx_kernel.ready = true;
    s.warming = false;
    if (s.phase == STARTING) {
        struct cbx_bytes held = s.held;
        s.held = (struct cbx_bytes){ 0 };
        begin(held.p, held.len);
        cbx_bytes_free(&held);
    } else if (s.warm) {
        warm_kernel();
    }
}

/* Nothing of the run survives: every process but this one. */
static void kill_all(void)
{
    kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
    cbx_kernel_drain(REST_BYTES, is_running());
    cbx_kernel_forget();
    s.warm = s.warming = false;
    cbx_bytes_free(&s.held);
    s.done.flags |= CBX_DONE_LOST;
}

/* As a terminal does it: the kernel and what runs in its foreground. */
static void signal_kernel(int number)
{
    if (cbx_kernel.pid > 0 && kill(-cbx_kernel.pid, number) < 0) {
        kill(cbx_kernel.pid, number);
    }
}

static void stop_run(uint32_t over, int grace_ms)
{
    s.phase = STOPPING;
    s.over = over;
    s.deadline_ms = now_ms() + grace_ms;
    /* First in a way that no state is lost by; a signal follows where that is not heard. */
    cbx_kernel_tell(CBX_FRAME_INTERRUPT, NULL, 0, NULL, 0);
    cbx_kernel_feed();
    s.signal_ms = now_ms() + SIGNAL_MS;
}

/* Its time is over and it says that it has ended. If it goes on computing all the same, in a thread
 * or behind a forged FINISH, it is ended. */
static void settle(void)
{
    uint64_t used = cbx_process_cpu_ms(cbx_kernel.pid) - s.settle_cpu_ms;
    bool busy = used > (uint64_t)SETTLE_MS / 3 * (unsigned)++s.looks,
         runs = cbx_process_runs(cbx_kernel.pid);
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
    } else if (s.phase ==
               STARTING) { /* it never begins; the kernel that starts is the next one's */
        cbx_bytes_free(&s.held);
        finish(CBX_DONE_KILLED, -1, SIGINT);
    }
}

static void run_finished(int32_t code)
{
    if (s.over == 0) {
        finish(CBX_DONE_ENDED, code >= 0 && code <= 255 ? code : -1, 0);
        return;
    }
    cbx_kill_others(cbx_kernel.pid); /* the kernel obeyed; what it had started did not hear of it */
    s.settle_cpu_ms = cbx_process_cpu_ms(cbx_kernel.pid);
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
    cbx_kernel_start();
    cbx_reply(CBX_FRAME_ANSWER, &done, sizeof(done), NULL, 0);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void take_kernel_frame(uint8_t type, const uint8_t *payload, size_t len)
{
    int32_t code;
    if (type == CBX_FRAME_READY && !cbx_kernel.ready) {
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
        if (cbx_kernel.pid > 0 && s.phase == RUNNING) {
            cbx_kernel_tell(type, payload, len, NULL, 0);
        }
        return;
    case CBX_FRAME_WARM:
        warm_kernel();
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

static bool read_more(int fd, struct cbx_inbox *in)
{
    if (in->size - in->len < CBX_CHUNK_BYTES) {
        in->size = in->len + 4 * CBX_CHUNK_BYTES;
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

static void drop_front(struct cbx_inbox *in, size_t n)
{
    memmove(in->bytes, in->bytes + n, in->len - n);
    in->len -= n;
}

/* Hands on every whole frame among the first `end` bytes. False when the protocol is broken. */
static bool take_frames(struct cbx_inbox *in, size_t end, char direction,
                        void (*take)(uint8_t, const uint8_t *, size_t))
{
    size_t at = 0;
    while (end - at >= CBX_FRAME_HEAD_BYTES) {
        uint32_t len;
        memcpy(&len, in->bytes + at + 1, 4);
        if ((int64_t)len > cbx_frame_limit(in->bytes[at], direction)) {
            return false;
        }
        if (end - at - CBX_FRAME_HEAD_BYTES < len) {
            break;
        }
        take(in->bytes[at], in->bytes + at + CBX_FRAME_HEAD_BYTES, len);
        if (in->len == 0) {
            return true; /* the kernel was forgotten meanwhile, and its inbox with it */
        }
        at += CBX_FRAME_HEAD_BYTES + len;
    }
    drop_front(in, at);
    return true;
}

/* What other processes wrote before the kernel said something comes first. */
static bool read_kernel(void)
{
    if (!read_more(cbx_kernel.control, &cbx_kernel.from)) {
        return false;
    }
    cbx_kernel_drain(CBX_CHUNK_BYTES, is_running());
    return take_frames(&cbx_kernel.from, cbx_kernel.from.len, 'c', take_kernel_frame);
}

/* The first bytes of the stream are the key; wherever it stands again, a new host begins: the one
 * before it said all that is whole by then. */
static bool read_host(void)
{
    struct cbx_inbox *in = &s.host;
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
        size_t end = (size_t)(found - in->bytes), behind = in->len - end;
        if (!take_frames(in, end, 'h', take_host_frame)) {
            return false;
        }
        drop_front(in, in->len - behind + sizeof(s.key));
        from = 0;
    }
    return take_frames(in, in->len, 'h', take_host_frame);
}

static void reap(void)
{
    struct signalfd_siginfo info;
    (void)!read(s.children, &info, sizeof(info));
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == cbx_kernel.pid) {
            /* Its last frames may still lie in the socket. */
            for (size_t before = 1; cbx_kernel.control >= 0 && before != 0;) {
                struct pollfd left = { .fd = cbx_kernel.control, .events = POLLIN };
                before = poll(&left, 1, 0) > 0 && (left.revents & POLLIN) != 0 && read_kernel();
            }
            if (cbx_kernel.pid == pid) {
                cbx_kernel.pid = 0;
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
    if (revents == 0 || cbx_kernel.control < 0 || read_kernel()) {
        return;
    }
    if ((revents & POLLHUP) == 0) {
        protocol_broken();
    } else {
        cbx_close(
            &cbx_kernel
                 .control); /* it closed the channel or died: SIGCHLD or the deadline tells which */
    }
}

static void serve(void)
{
    for (;;) {
        short feeds = cbx_kernel.taken < cbx_kernel.to.len ? POLLOUT : 0;
        struct pollfd fds[] = {
            { .fd = STDIN_FILENO, .events = POLLIN },
            { .fd = cbx_report_pending() ? STDOUT_FILENO : -1, .events = POLLOUT },
            { .fd = cbx_kernel.control, .events = (short)(POLLIN | feeds) },
            { .fd = cbx_kernel.out, .events = POLLIN },
            { .fd = cbx_kernel.err, .events = POLLIN },
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
        cbx_kernel_drain(CBX_CHUNK_BYTES, is_running());
        if (fds[2].fd == cbx_kernel.control) {
            take_control(fds[2].revents & ~POLLOUT);
        }
        cbx_kernel_feed();
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
    if (argc != 2 || !cbx_kernel_pick(argv[1]) || prctl(PR_SET_DUMPABLE, 0) != 0) {
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
    cbx_kernel_start();
    serve();
    return 0;
}
