/* SPDX-License-Identifier: MIT
 * The front's side of the channel. */
#include "gateway/ipc/wire/replica_channel.h"

#include "gateway/ipc/wire/ipc_wire.h"
#include "policies/base/auto.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TICK_MS = 500 };

/* A link that is awaited. */
struct wait {
    int64_t until_ms; /* time of cbx_clock_ms */
    bool (*goes_on)(const void *context);
    const void *context;
};

/* Returns the milliseconds until the next check; 0 = the wait ends. */
static int next_tick(const struct wait *wait)
{
    int64_t left = wait->until_ms - cbx_clock_ms();
    if (left <= 0 || (wait->goes_on != NULL && !wait->goes_on(wait->context))) {
        return 0;
    }
    return left < TICK_MS ? (int)left : TICK_MS;
}

static int send_socket(int channel, int passed, size_t index, const struct wait *wait,
                       struct cbx_err *err)
{
    int tick_ms, failed = CBX_ETIMEDOUT;
    while (failed == CBX_ETIMEDOUT && (tick_ms = next_tick(wait)) > 0) {
        failed =
            cbx_wire_send_fd_until(channel, passed, (char)index, cbx_clock_ms() + tick_ms, err);
    }
    return failed;
}

/* The line is read by single bytes: what follows is another reader's. */
static bool read_line(int fd, const struct wait *wait, char out[CBX_LINK_LINE_MAX])
{
    for (size_t len = 0; len + 1 < CBX_LINK_LINE_MAX;) {
        int tick_ms = next_tick(wait);
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        if (tick_ms == 0 || (poll(&ready, 1, tick_ms) < 0 && errno != EINTR)) {
            return false;
        }
        ssize_t n = recv(fd, out + len, 1, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            return false;
        }
        len += n > 0 ? 1 : 0;
        out[len] = '\0';
        if (len > 0 && out[len - 1] == '\n') {
            return true;
        }
    }
    return false;
}

int cbx_link_open(int channel, size_t index, bool (*goes_on)(const void *context),
                  const void *context, int *out, struct cbx_err *err)
{
    int pair[2];
    char line[CBX_LINK_LINE_MAX] = "";
    const struct wait wait = { .until_ms = cbx_clock_ms() + CBX_LINK_WAIT_MS,
                               .goes_on = goes_on,
                               .context = context };
    int failed = cbx_wire_pair(pair, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_FD own = pair[0];
    failed = send_socket(channel, pair[1], index, &wait, err);
    close(pair[1]);
    if (failed) {
        return cbx_fail(err, CBX_EIO, "the process of links takes no request");
    }
    if (!read_line(own, &wait, line)) {
        return cbx_fail(err, CBX_EIO, "the process of links does not answer");
    }
    if (strcmp(line, CBX_LINK_UP) != 0) {
        line[strcspn(line, "\n")] = '\0';
        return cbx_fail(err, CBX_EIO, "%s", line);
    }
    *out = cbx_fd_steal(&own);
    return 0;
}
