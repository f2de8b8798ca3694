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

/* The line is read by single bytes: what follows is another reader's. */
static bool read_line(int fd, int64_t until_ms, char out[CBX_LINK_LINE_MAX])
{
    for (size_t len = 0; len + 1 < CBX_LINK_LINE_MAX;) {
        int64_t left = until_ms - cbx_clock_ms();
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        if (left <= 0 || (poll(&ready, 1, (int)left) < 0 && errno != EINTR)) {
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

int cbx_link_open(int channel, size_t index, int *out, struct cbx_err *err)
{
    int pair[2];
    char line[CBX_LINK_LINE_MAX] = "";
    int64_t until_ms = cbx_clock_ms() + CBX_LINK_WAIT_MS;
    int failed = cbx_wire_pair(pair, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_FD own = pair[0];
    failed = cbx_wire_send_fd_until(channel, pair[1], (char)index, until_ms, err);
    close(pair[1]);
    if (failed) {
        return cbx_fail(err, CBX_EIO, "the process of links takes no request");
    }
    if (!read_line(own, until_ms, line)) {
        return cbx_fail(err, CBX_EIO, "the process of links does not answer");
    }
    if (strcmp(line, CBX_LINK_UP) != 0) {
        line[strcspn(line, "\n")] = '\0';
        return cbx_fail(err, CBX_EIO, "%s", line);
    }
    *out = cbx_fd_steal(&own);
    return 0;
}
