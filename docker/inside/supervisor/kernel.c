/* SPDX-License-Identifier: MIT
 * The kernel's process: its start, and frames to it. */
#include "docker/inside/confine/confine.h"
#include "docker/inside/confine/filter.h"
#include "docker/inside/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* The command of each kernel. The container's command selects a row. */
static const struct {
    const char *name;
    const char *const argv[8];
} kernels[] = {
#define CBX_KERNEL(name, ...) { name, { __VA_ARGS__, NULL } },
#include "docker/kernels.def"
#undef CBX_KERNEL
};

struct cbx_kernel cbx_kernel = { .control = -1, .out = -1, .err = -1 };

bool cbx_kernel_select(const char *name)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (strcmp(name, kernels[i].name) == 0) {
            cbx_kernel.argv = kernels[i].argv;
        }
    }
    return cbx_kernel.argv != NULL;
}

/* The kernel is the first victim when memory runs out, so that the supervisor survives to report
 * it. */
static void offer_to_oom(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "1000", 4);
        close(fd);
    }
}

/* Returns the kind of filter of the kernel itself; 0 = the command kernel, which installs
 * filters in the programs that it starts. */
static unsigned kind_of_kernel(void)
{
    return strcmp(cbx_kernel.argv[0], "/codebox/command-kernel") == 0 ? 0
           : strcmp(cbx_kernel.argv[0], "/usr/bin/python3") == 0      ? CBX_PYTHON_BIT
                                                                      : CBX_NODE_BIT;
}

/* Without Landlock, only the container protects files. */
static void confine(void)
{
    size_t count;
    const struct cbx_place *rows = cbx_places(&count);
    int ruleset = cbx_confine_new(rows, count);
    if (ruleset >= 0) {
        cbx_confine_enter(ruleset);
        close(ruleset);
    }
}

static void exec_kernel(const int control[2], const int out[2], const int err[2], int guard,
                        int input)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_DUMPABLE, 1);
    offer_to_oom();
    int passed = fcntl(guard, F_DUPFD, CBX_FRAME_GUARD_FD + 1);
    dup2(input, 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    int channel = fcntl(control[1], F_DUPFD, CBX_FRAME_GUARD_FD + 1);
    dup2(channel, CBX_FRAME_CONTROL_FD);
    dup2(passed, CBX_FRAME_GUARD_FD);
    close_range(CBX_FRAME_GUARD_FD + 1, ~0u, 0);
    setsid();
    setpriority(PRIO_PROCESS, 0, 10); /* the supervisor is scheduled before its children */
    confine();
    if (kind_of_kernel() != 0) {
        cbx_filter_install(kind_of_kernel(), CBX_FRAME_GUARD_FD);
        close(CBX_FRAME_GUARD_FD);
    }
    execv(cbx_kernel.argv[0], (char *const *)(uintptr_t)cbx_kernel.argv);
    _exit(127);
}

void cbx_kernel_start(void)
{
    int control[2], out[2], err[2], guard, input, yes = 1;
    /* Linux gives the kernel the sender of received bytes (docker/inside/python_guard/inbox.c). */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0 ||
        setsockopt(control[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0 ||
        pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) {
        cbx_die();
    }
    cbx_guard_open(&guard);
    cbx_input_open(&input);
    pid_t pid = fork();
    if (pid == 0) {
        exec_kernel(control, out, err, guard, input);
    }
    close(control[1]);
    close(out[1]);
    close(err[1]);
    close(guard);
    close(input);
    if (pid < 0) {
        cbx_die();
    }
    cbx_kernel.pid = pid;
    cbx_kernel.control = control[0];
    cbx_kernel.out = out[0];
    cbx_kernel.err = err[0];
    fcntl(cbx_kernel.control, F_SETFL, O_NONBLOCK);
    fcntl(cbx_kernel.out, F_SETFL, O_NONBLOCK);
    fcntl(cbx_kernel.err, F_SETFL, O_NONBLOCK);
    cbx_kernel.from.len = 0;
    cbx_kernel.ready = false;
    cbx_kernel.accepted = 0;
    cbx_kernel.has_variables = false;
    cbx_kernel.offset = 0;
    memset(cbx_kernel.marks, 0, sizeof(cbx_kernel.marks));
}

void cbx_kernel_clear(void)
{
    cbx_close(&cbx_kernel.control);
    cbx_close(&cbx_kernel.out);
    cbx_close(&cbx_kernel.err);
    cbx_guard_close();
    cbx_input_close();
    cbx_kernel.pid = 0;
    cbx_kernel.ready = false;
    cbx_kernel.from.len = 0;
    cbx_bytes_free(&cbx_kernel.to);
    cbx_kernel.taken = 0;
}

/* --- to the kernel ---------------------------------------------------------------------------- */

void cbx_kernel_send(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    uint32_t len = (uint32_t)(a_len + b_len);
    if (type == CBX_FRAME_RUN || type == CBX_FRAME_ACCEPT) {
        unsigned at = cbx_kernel.mark++ % CBX_KERNEL_MARKS;
        cbx_kernel.marks[at].type = type;
        cbx_kernel.marks[at].offset = cbx_kernel.offset;
    }
    cbx_kernel.offset += CBX_FRAME_HEAD_BYTES + (uint64_t)len;
    cbx_bytes_add(&cbx_kernel.to, &type, 1);
    cbx_bytes_add(&cbx_kernel.to, &len, sizeof(len));
    cbx_bytes_add(&cbx_kernel.to, a, a_len);
    cbx_bytes_add(&cbx_kernel.to, b, b_len);
}

bool cbx_kernel_sent(uint8_t type, uint64_t offset)
{
    for (size_t i = 0; i < CBX_KERNEL_MARKS; i++) {
        if (type != 0 && cbx_kernel.marks[i].type == type && cbx_kernel.marks[i].offset == offset) {
            cbx_kernel.marks[i].type = 0;
            return true;
        }
    }
    return false;
}

void cbx_kernel_flush(void)
{
    while (cbx_kernel.control >= 0 && cbx_kernel.taken < cbx_kernel.to.len) {
        ssize_t n = send(cbx_kernel.control, cbx_kernel.to.p + cbx_kernel.taken,
                         cbx_kernel.to.len - cbx_kernel.taken, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return; /* the socket is full, or the kernel died and SIGCHLD follows */
        }
        cbx_kernel.taken += (size_t)n;
    }
    cbx_bytes_free(&cbx_kernel.to);
    cbx_kernel.taken = 0;
}
