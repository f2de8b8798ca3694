/* SPDX-License-Identifier: MIT
 * Connections of programs to the proxy. A sandbox has no network but its own loopback;
 * connections to the proxy's port there are forwarded to the host as frames, and no other
 * network traffic is (docker/egress/README.md). */
#include "docker/inside/supervisor/supervisor.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* A program that connects repeatedly costs frames, which a slow host does not read. */
    WAITING_MAX = 8 * 1024 * 1024,
};

static int listener = -1;
static uint32_t last_number;

/* Connections beyond CBX_CONNECTIONS_MAX, which have no frames: each receives a refusal after
 * its request has arrived. Closing the socket earlier would reset the connection, and the
 * program might never read the refusal. */
static struct {
    int fd; /* 0 = free; descriptor 0 is the kernel's */
    bool answered;
} refused[CBX_NETWORK_REFUSED_MAX];
static int oldest; /* of a full table: the next connection replaces it */

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

static void drop_refused(int slot)
{
    if (refused[slot].fd > 0) {
        close(refused[slot].fd);
    }
    refused[slot].fd = 0;
    refused[slot].answered = false;
}

void cbx_network_reset(void)
{
    cbx_connections_reset();
    for (int i = 0; i < CBX_NETWORK_REFUSED_MAX; i++) {
        drop_refused(i);
    }
}

static void keep_refused(int fd)
{
    int slot = 0;
    while (slot < CBX_NETWORK_REFUSED_MAX && refused[slot].fd > 0) {
        slot++;
    }
    if (slot == CBX_NETWORK_REFUSED_MAX) {
        slot = oldest;
        oldest = (oldest + 1) % CBX_NETWORK_REFUSED_MAX;
        drop_refused(slot);
    }
    refused[slot].fd = fd;
}

/* The program's request, or its end, has arrived. Its contents do not matter. */
static void answer_refused(int slot)
{
    char request[4096], text[160], answer[512];
    ssize_t n = recv(refused[slot].fd, request, sizeof(request), 0);
    if (n <= 0) {
        drop_refused(slot);
        return;
    }
    if (refused[slot].answered) {
        return;
    }
    int bytes = snprintf(text, sizeof(text),
                         "the sandbox has %d connections open, and no more are possible at the "
                         "same time: close one first\n",
                         CBX_CONNECTIONS_MAX);
    int len = snprintf(answer, sizeof(answer),
                       "HTTP/1.1 503 Too Many Connections\r\nContent-Type: text/plain\r\n"
                       "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
                       bytes, text);
    refused[slot].answered = true;
    if (send(refused[slot].fd, answer, (size_t)len, MSG_NOSIGNAL) != len ||
        shutdown(refused[slot].fd, SHUT_WR) < 0) {
        drop_refused(slot);
    }
}

int cbx_network_poll(struct pollfd *fds)
{
    if (listener < 0 || cbx_reply_waiting() > WAITING_MAX) {
        return 0;
    }
    int count = 0;
    fds[count++] = (struct pollfd){ .fd = listener, .events = POLLIN };
    for (int i = 0; i < CBX_NETWORK_REFUSED_MAX; i++) {
        fds[count++] =
            (struct pollfd){ .fd = refused[i].fd > 0 ? refused[i].fd : -1, .events = POLLIN };
    }
    return count + cbx_connections_poll(fds + count);
}

static void accept_one(void)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    uint32_t number = ++last_number;
    if (!cbx_connections_add(number, fd)) {
        keep_refused(fd);
        return;
    }
    cbx_reply(CBX_FRAME_CONNECT, &number, sizeof(number), NULL, 0);
}

void cbx_network_serve(const struct pollfd *fds, int count)
{
    enum { FIXED = 1 + CBX_NETWORK_REFUSED_MAX };
    if (count < FIXED) {
        return;
    }
    cbx_connections_serve(fds + FIXED, count - FIXED);
    for (int i = 0; i < CBX_NETWORK_REFUSED_MAX; i++) {
        if (fds[1 + i].fd > 0 && fds[1 + i].revents != 0) {
            answer_refused(i);
        }
    }
    if (fds[0].revents != 0) {
        accept_one();
    }
}

void cbx_network_take(uint8_t type, const uint8_t *payload, size_t len)
{
    cbx_connections_take(type, payload, len);
}
