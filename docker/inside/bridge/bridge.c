/* SPDX-License-Identifier: MIT
 * Forwards bytes between its standard streams, which lead to the host, and the supervisor's
 * socket. Ends when one side ends. Static, with only the C library. */
#include "docker/inside/bridge/bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 * 1024, CONNECT_TRIES = 1000, PAUSE_MS = 5 };

/* One direction. */
struct flow {
    int from, to;
    size_t begin, end; /* the bytes that were read and not written yet */
    char bytes[BLOCK_BYTES];
};

static bool is_transient(ssize_t n)
{
    return n < 0 && (errno == EINTR || errno == EAGAIN);
}

/* False if one of the sides has ended. */
static bool move(struct flow *flow, const struct pollfd *fd)
{
    if (fd->revents == 0) {
        return true;
    }
    bool writes = flow->begin < flow->end;
    ssize_t n;
    if (writes) {
        n = write(flow->to, flow->bytes + flow->begin, flow->end - flow->begin);
        flow->begin += n > 0 ? (size_t)n : 0;
    } else {
        n = read(flow->from, flow->bytes, sizeof(flow->bytes));
        flow->begin = 0;
        flow->end = n > 0 ? (size_t)n : 0;
    }
    return n > 0 || is_transient(n);
}

static struct pollfd poll_of(const struct flow *flow)
{
    if (flow->begin < flow->end) {
        return (struct pollfd){ .fd = flow->to, .events = POLLOUT };
    }
    return (struct pollfd){ .fd = flow->from, .events = POLLIN };
}

/* No call blocks except poll(2): a host may send a large file before it reads output. */
static void forward(int supervisor)
{
    static struct flow in, out;
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    fcntl(supervisor, F_SETFL, O_NONBLOCK);
    in = (struct flow){ .from = STDIN_FILENO, .to = supervisor };
    out = (struct flow){ .from = supervisor, .to = STDOUT_FILENO };
    for (;;) {
        struct pollfd fds[] = { poll_of(&in), poll_of(&out) };
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            return;
        }
        if (!move(&in, &fds[0]) || !move(&out, &fds[1])) {
            return;
        }
    }
}

/* The engine may start a bridge before the supervisor listens. */
static bool connect_supervisor(int fd)
{
    struct sockaddr_un address;
    socklen_t len = cbx_bridge_address(&address);
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    for (int tries = 0; tries < CONNECT_TRIES; tries++) {
        if (connect(fd, (const struct sockaddr *)&address, len) == 0) {
            return true;
        }
        if (errno != ECONNREFUSED) {
            return false;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

/* The key passes through this process's memory, which programs of the same user may not read. */
int main(void)
{
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
        return 2;
    }
    int supervisor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (supervisor < 0 || !connect_supervisor(supervisor)) {
        return 1;
    }
    forward(supervisor);
    return 0;
}
