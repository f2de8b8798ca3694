/* SPDX-License-Identifier: MIT
 * The supervisor with simulated system calls, for the fuzz targets and its unit test: the harness
 * sets descriptors, processes and clock, so that no input can signal or start a process. Include it
 * once. Every frame that the supervisor sends to a host is checked. */
#ifndef CBX_FUZZ_SUPERVISOR_H
#define CBX_FUZZ_SUPERVISOR_H

#include "docker/inside/confine/confine.h"
#include "docker/inside/confine/harden.h"
#include "docker/inside/supervisor/guard_notifier.h"
#include "docker/inside/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORLD_CONTROL = 103, WORLD_OUT = 104, WORLD_ERR = 105, WORLD_PID = 4242 };

static struct {
    const uint8_t *from[4]; /* what can be read: host, control, stdout, stderr */
    size_t len[4];
    int64_t now_ms;
    int pipes;                /* made for the kernel that starts */
    bool has_input, no_input; /* the run has one; it cannot be passed on */
    size_t fed;               /* bytes of it */
    uint32_t input_flags;     /* at its end */
    bool dead;                /* cbx_die was reached */
    size_t budget;            /* how many bytes the host accepts */
    uint8_t *sent;            /* to the host */
    size_t sent_len, sent_size;
    size_t checked;     /* of it */
    size_t host_begins; /* the last host's bytes begin here */
    bool marked;        /* the next bytes are a mark */
    unsigned frames, dones;
    uint8_t to_kernel[4096]; /* to the kernel, as far as they fit */
    size_t to_kernel_len;
    void (*end)(void); /* called by cbx_die; NULL = jump to `died` */
    jmp_buf died;
} world;

static int slot(int fd)
{
    return fd == STDIN_FILENO ? 0 : fd == WORLD_CONTROL ? 1 : fd == WORLD_OUT ? 2 : 3;
}

static ssize_t world_read(int fd, void *to, size_t size)
{
    size_t *len = &world.len[slot(fd)], n = *len < size ? *len : size;
    if (n == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(to, world.from[slot(fd)], n);
    world.from[slot(fd)] += n;
    *len -= n;
    return (ssize_t)n;
}

static ssize_t world_write(int fd, const void *p, size_t size)
{
    size_t n = size < world.budget ? size : world.budget;
    if (fd != STDOUT_FILENO) {
        abort(); /* it writes to no other descriptor */
    }
    if (n == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (world.sent_size - world.sent_len < n) {
        world.sent_size = 2 * (world.sent_len + n);
        world.sent = realloc(world.sent, world.sent_size);
    }
    memcpy(world.sent + world.sent_len, p, n);
    world.sent_len += n;
    world.budget -= n;
    return (ssize_t)n;
}

static ssize_t world_send(int fd, const void *p, size_t size, int flags)
{
    size_t n = size > 3000 ? 3000 : size, room = sizeof(world.to_kernel) - world.to_kernel_len;
    (void)fd;
    (void)flags;
    memcpy(world.to_kernel + world.to_kernel_len, p, n < room ? n : room);
    world.to_kernel_len += n < room ? n : room;
    return (ssize_t)n;
}

static int world_kill(pid_t pid, int number)
{
    (void)number;
    if (pid != -1 && pid != WORLD_PID && pid != -WORLD_PID) {
        abort(); /* a process outside of the simulation */
    }
    return 0;
}

static pid_t world_fork(void)
{
    world.pipes = 0;
    return WORLD_PID;
}

static pid_t world_waitpid(pid_t pid, int *status, int options)
{
    (void)pid;
    (void)status;
    (void)options;
    errno = ECHILD;
    return -1;
}

static int world_socketpair(int domain, int type, int protocol, int fds[2])
{
    (void)domain;
    (void)type;
    (void)protocol;
    fds[0] = WORLD_CONTROL;
    fds[1] = 113;
    return 0;
}

static int world_pipe(int fds[2], int flags)
{
    (void)flags;
    fds[0] = world.pipes++ == 0 ? WORLD_OUT : WORLD_ERR;
    fds[1] = 114;
    return 0;
}

static int world_clock(clockid_t clock, struct timespec *out)
{
    (void)clock;
    *out = (struct timespec){ .tv_sec = world.now_ms / 1000,
                              .tv_nsec = world.now_ms % 1000 * 1000000 };
    return 0;
}

/* Descriptors with bytes to read are ready. */
static int world_poll(struct pollfd *fds, nfds_t count)
{
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        bool has = fds[i].fd >= 0 && world.len[slot(fds[i].fd)] > 0;
        fds[i].revents = has ? POLLIN : 0;
        ready += has;
    }
    return ready;
}

static int world_dup(int from, int to)
{
    (void)from;
    (void)to;
    abort(); /* nothing is started */
}

static int world_nothing(void)
{
    return 0;
}

static _Noreturn void world_exit(int status)
{
    (void)status;
    world.dead = true;
    if (world.end != NULL) {
        world.end();
    }
    longjmp(world.died, 1);
}

void cbx_file_note_begin(struct timespec *out)
{
    *out = (struct timespec){ 0 };
}

bool cbx_file_report_changed(const struct timespec *since)
{
    uint64_t size = 3;
    (void)since;
    cbx_report_frame(CBX_FRAME_FILE, &size, sizeof(size), "a.txt", 5);
    return true;
}

bool cbx_process_is_foreign(pid_t pid)
{
    return pid == WORLD_PID + 1;
}

void cbx_kill_others(pid_t keep)
{
    (void)keep;
}

int cbx_count_processes(void)
{
    return 2;
}

uint64_t cbx_memory_limit(void)
{
    return (uint64_t)512 << 20;
}

long cbx_count_oom_kills(void)
{
    return 0;
}

uint64_t cbx_cpu_ms(void)
{
    return (uint64_t)world.now_ms / 2;
}

uint64_t cbx_process_cpu_ms(pid_t pid)
{
    (void)pid;
    return (uint64_t)world.now_ms / 16;
}

bool cbx_process_is_running(pid_t pid)
{
    return pid % 2 != 0;
}

void cbx_folders_read(void)
{
}

void cbx_folders_report(void)
{
    uint32_t code = 0;
    cbx_reply(CBX_FRAME_ANSWER, &code, sizeof(code), NULL, 0);
}

static void answer_nothing(const uint8_t *payload, size_t len)
{
    uint32_t code = payload == NULL || len > CBX_FRAME_DATA_MAX ? EINVAL : 0;
    cbx_reply(CBX_FRAME_ANSWER, &code, sizeof(code), NULL, 0);
}

void cbx_file_put(const uint8_t *payload, size_t len)
{
    answer_nothing(payload, len);
}

void cbx_file_get(const uint8_t *payload, size_t len)
{
    answer_nothing(payload, len);
}

void cbx_file_list(const uint8_t *payload, size_t len)
{
    answer_nothing(payload, len);
}

void cbx_file_delete(const uint8_t *payload, size_t len)
{
    answer_nothing(payload, len);
}

/* No program calls the guard here (tests/unit/docker/inside/supervisor/test_guard_calls.c). */
int cbx_filter_receive(int socket, int *listener)
{
    (void)socket;
    *listener = -1;
    return 0;
}

bool cbx_filter_install(enum cbx_program_kind kind, int socket)
{
    (void)kind;
    (void)socket;
    abort();
}

int cbx_guard_decide(struct cbx_listener *listener, const struct seccomp_notif *call)
{
    (void)listener;
    (void)call;
    abort();
}

const struct cbx_place *cbx_places(size_t *count)
{
    *count = 0;
    return NULL;
}

int cbx_confine_new(const struct cbx_place *rows, size_t count)
{
    (void)rows;
    (void)count;
    abort();
}

bool cbx_confine_enter(int ruleset)
{
    (void)ruleset;
    abort();
}

/* Without a network: docker/inside/wire/wire_connections.c has tests of its own. */
bool cbx_network_open(void)
{
    return true;
}

void cbx_network_reset(void)
{
}

int cbx_network_poll(struct pollfd *fds)
{
    (void)fds;
    return 0;
}

void cbx_network_serve(const struct pollfd *fds, int count)
{
    (void)fds;
    (void)count;
}

void cbx_network_take(uint8_t type, const uint8_t *payload, size_t len)
{
    (void)type;
    (void)payload;
    (void)len;
}

/* Without a pipe: docker/inside/supervisor/supervisor_input.c has tests of its own. */
void cbx_input_open(int *theirs)
{
    *theirs = 115;
}

void cbx_input_close(void)
{
}

void cbx_input_submit(bool has_input)
{
    world.has_input = has_input;
}

bool cbx_input_begin(void)
{
    return !world.no_input;
}

void cbx_input_take(uint8_t type, const uint8_t *payload, size_t len)
{
    (void)payload;
    world.fed += type == CBX_FRAME_FEED ? len : 0;
}

void cbx_input_stop(void)
{
    world.has_input = false;
}

uint32_t cbx_input_end(void)
{
    world.has_input = false;
    return world.input_flags;
}

bool cbx_input_is_awaited(void)
{
    return world.has_input;
}

void cbx_input_reset(void)
{
}

void cbx_input_poll(struct pollfd *fd)
{
    fd->fd = -1;
}

void cbx_input_flush(void)
{
}

#define read                                    world_read
#define write                                   world_write
#define send                                    world_send
#define kill                                    world_kill
#define fork                                    world_fork
#define waitpid                                 world_waitpid
#define socketpair                              world_socketpair
#define pipe2                                   world_pipe
#define clock_gettime                           world_clock
#define close(fd)                               world_nothing()
#define fcntl(...)                              world_nothing()
#define poll(fds, count, wait_ms)               ((void)(wait_ms), world_poll(fds, count))
#define signalfd(...)                           world_nothing()
#define prctl(...)                              world_nothing()
#define setsockopt(fd, level, name, value, len) ((void)(value), world_nothing())
#define sigprocmask(...)                        world_nothing()
#define execv(...)                              ((void)(control), (void)(guard), (void)(input), abort())
#define setsid()                                abort()
#define dup2                                    world_dup
#define _exit                                   world_exit
#define main                                    supervisor_main
#define cbx_harden()                            true
int supervisor_main(int argc, char **argv);
#include "docker/inside/supervisor/supervisor_accept.c"
#include "docker/inside/wire/wire.c"
_Noreturn void cbx_die(void)
{
    kill(-1, SIGKILL);
    _exit(1);
}
#include "docker/inside/supervisor/supervisor_report.c"
#include "docker/inside/supervisor/supervisor_variables.c"
/* A host that attaches skips everything before its mark. */
static void world_reply_mark(const uint8_t mark[CBX_FRAME_MARK_BYTES])
{
    cbx_reply_mark(mark);
    world.checked = world.sent_len;
    world.marked = true;
}
#include "docker/inside/supervisor/guard_notifier.c"
#define cbx_reply_mark world_reply_mark
#include "docker/inside/supervisor/kernel.c"
#include "docker/inside/supervisor/supervisor.c"
#include "docker/inside/supervisor/supervisor_host.c"
#include "docker/inside/supervisor/supervisor_run.c"
#undef cbx_reply_mark
#undef main
#undef read
#undef write

/* Every whole frame that has been sent is one that a supervisor may send. */
static void check_sent(void)
{
    if (world.marked && world.sent_len - world.checked >= CBX_FRAME_MARK_BYTES) {
        if (memcmp(world.sent + world.checked, h.key, sizeof(h.key)) != 0) {
            abort();
        }
        world.checked += CBX_FRAME_MARK_BYTES;
        world.host_begins = world.checked;
        world.marked = false;
    }
    while (!world.marked && world.sent_len - world.checked >= CBX_FRAME_HEAD_BYTES) {
        const uint8_t *at = world.sent + world.checked;
        uint32_t len;
        memcpy(&len, at + 1, sizeof(len));
        if ((int64_t)len > cbx_frame_limit(at[0], 's')) {
            abort();
        }
        if (world.sent_len - world.checked - CBX_FRAME_HEAD_BYTES < len) {
            return;
        }
        world.checked += CBX_FRAME_HEAD_BYTES + len;
        world.frames++;
        world.dones += at[0] == CBX_FRAME_DONE;
    }
}

/* A supervisor that has started its kernel. */
static void begin_world(void)
{
    free(h.inbox.bytes);
    free(cbx_kernel.from.bytes);
    cbx_bytes_free(&cbx_kernel.to);
    cbx_bytes_free(&cbx_run.held);
    cbx_report_clear();
    cbx_bytes_free(&r.replies);
    cbx_bytes_free(&r.late);
    memset(&cbx_accepted, 0, sizeof(cbx_accepted));
    memset(&r, 0, sizeof(r));
    free(world.sent);
    memset(&world, 0, sizeof(world));
    memset(&s, 0, sizeof(s));
    memset(&h, 0, sizeof(h));
    h.listener = -1;
    cbx_host = (struct cbx_host){ .in = STDIN_FILENO, .out = STDOUT_FILENO };
    memset(&cbx_kernel, 0, sizeof(cbx_kernel));
    memset(&cbx_run, 0, sizeof(cbx_run));
    cbx_kernel.control = cbx_kernel.out = cbx_kernel.err = -1;
    cbx_kernel_select("python");
    world.now_ms = 1000;
    world.budget = SIZE_MAX;
    s.lease_ms = cbx_now_ms() + FIRST_LEASE_MS;
    cbx_kernel_start();
}

/* What serve() does each time, with what there is to read. Where serve() would let output
 * accumulate, the time for that passes. */
__attribute__((unused)) static void turn(void)
{
    if (is_gathering(world.now_ms)) {
        world.now_ms = s.paced_ms - READ_BURST;
    }
    if (time_left() < 0) {
        abort();
    }
    if (check_deadlines()) {
        return;
    }
    if (world.len[0] > 0 && !cbx_host_read(take_host_frame)) {
        cbx_die();
    }
    take_output(cbx_kernel.control >= 0 && world.len[1] > 0 ? POLLIN : 0);
    cbx_kernel_flush();
    if (!cbx_report_send()) {
        cbx_die();
    }
    check_sent();
}

#endif
