/* SPDX-License-Identifier: MIT
 * Connections of programs to the proxy. A sandbox has no network but its own loopback; what connects to the proxy's port there is passed
 * on to the host as frames, and nothing else of a network is (docker/README.md, Network). */
#include "docker/supervisor/supervisor.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* A program that connects again and again costs frames, which a host that is slow does not read. */
    WAITING_MAX = 8 * 1024 * 1024,
};

static int listener = -1;
static uint32_t last_number;

bool cbx_network_open(void)
{
    if (listener >= 0) {
        return true;
    }
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(CBX_FRAME_PROXY_PORT),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int yes = 1;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
        bind(listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(listener, CBX_CONNECTIONS_MAX) < 0) {
        cbx_close(&listener);
        return false;
    }
    cbx_connections_send = cbx_reply;
    return true;
}

void cbx_network_reset(void)
{
    cbx_connections_reset();
}

int cbx_network_poll(struct pollfd *fds)
{
    if (listener < 0 || cbx_reply_waiting() > WAITING_MAX) {
        return 0;
    }
    bool accepts = cbx_connections_count() < CBX_CONNECTIONS_MAX;
    fds[0] = (struct pollfd){ .fd = accepts ? listener : -1, .events = POLLIN };
    return 1 + cbx_connections_poll(fds + 1);
}

static void accept_one(void)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    uint32_t number = ++last_number;
    if (!cbx_connections_add(number, fd)) {
        close(fd);
        return;
    }
    cbx_reply(CBX_FRAME_CONNECT, &number, sizeof(number), NULL, 0);
}

void cbx_network_serve(const struct pollfd *fds, int count)
{
    if (count > 0) {
        cbx_connections_serve(fds + 1, count - 1);
        if (fds[0].fd >= 0 && fds[0].revents != 0) {
            accept_one();
        }
    }
}

void cbx_network_take(uint8_t type, const uint8_t *payload, size_t len)
{
    cbx_connections_take(type, payload, len);
}
