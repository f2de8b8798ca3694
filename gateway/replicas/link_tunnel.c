/* SPDX-License-Identifier: MIT
 * A tunnel: one buffer for each direction, and a socket is read only while its buffer is empty, so
 * a slow reader stops its writer. */
#include "gateway/replicas/link_tunnel.h"

#include "policies/base/time/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE_BYTES = 16 * 1024, TICK_MS = 1000, SILENT_MS = 8000 };

struct direction {
    char bytes[PIECE_BYTES];
    size_t at, len; /* bytes that are not written yet: at..len */
};

struct tunnel {
    int front;
    SSL *link;
    int64_t silent_ms; /* time from which on nothing of the link was acknowledged; 0 = none */
    struct direction to_link, to_front;
    bool link_ended, broken;
    short link_wants; /* further events that the library needs to continue */
};

static bool is_empty(const struct direction *d)
{
    return d->at == d->len;
}

/* True if the call can be repeated later; `usual` is the event that it waits for most times, and
 * for which wait_for_events asks anyway. */
static bool may_continue(struct tunnel *t, int result, short usual)
{
    short wants = 0;
    switch (SSL_get_error(t->link, result)) {
    case SSL_ERROR_WANT_READ:
        wants = POLLIN;
        break;
    case SSL_ERROR_WANT_WRITE:
        wants = POLLOUT;
        break;
    default:
        ERR_clear_error();
        return false;
    }
    t->link_wants = (short)(t->link_wants | (wants != usual ? wants : 0));
    return true;
}

static void read_link(struct tunnel *t)
{
    struct direction *d = &t->to_front;
    int n = SSL_read(t->link, d->bytes, sizeof(d->bytes));
    if (n > 0) {
        d->at = 0;
        d->len = (size_t)n;
    } else if (!may_continue(t, n, POLLIN)) {
        t->link_ended = true;
    }
}

static void write_link(struct tunnel *t)
{
    struct direction *d = &t->to_link;
    int n = SSL_write(t->link, d->bytes + d->at, (int)(d->len - d->at));
    if (n > 0) {
        d->at += (size_t)n;
    } else if (!may_continue(t, n, POLLOUT)) {
        t->broken = true;
    }
}

static bool is_later(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void read_front(struct tunnel *t)
{
    struct direction *d = &t->to_link;
    ssize_t n = read(t->front, d->bytes, sizeof(d->bytes));
    if (n > 0) {
        d->at = 0;
        d->len = (size_t)n;
    } else if (!is_later(n)) {
        t->broken = true; /* the front gives the request up, or has the whole response */
    }
}

static void write_front(struct tunnel *t)
{
    struct direction *d = &t->to_front;
    ssize_t n = send(t->front, d->bytes + d->at, d->len - d->at, MSG_NOSIGNAL);
    if (n > 0) {
        d->at += (size_t)n;
    } else if (!is_later(n)) {
        t->broken = true;
    }
}

/* A socket without a wanted event is left out: its end would be reported again and again. So is a
 * link that has ended, for which bytes of the front may be left. */
static void wait_for_events(const struct tunnel *t, struct pollfd events[2])
{
    short front = 0, link = t->link_wants;
    front = (short)(front | (is_empty(&t->to_link) ? POLLIN : 0));
    front = (short)(front | (is_empty(&t->to_front) ? 0 : POLLOUT));
    link = (short)(link | (is_empty(&t->to_link) ? 0 : POLLOUT));
    link = (short)(link | (is_empty(&t->to_front) ? POLLIN : 0));
    link = t->link_ended ? (short)0 : link;
    events[0] = (struct pollfd){ .fd = front != 0 ? t->front : -1, .events = front };
    events[1] = (struct pollfd){ .fd = link != 0 ? SSL_get_fd(t->link) : -1, .events = link };
    /* bytes that the library has read already raise no event */
    bool has_bytes = is_empty(&t->to_front) && SSL_pending(t->link) > 0;
    while (poll(events, 2, has_bytes ? 0 : TICK_MS) < 0 && errno == EINTR) {
    }
    if (has_bytes) {
        events[1].revents |= POLLIN;
    }
}

/* True if bytes of the link have had no acknowledgement for SILENT_MS. A slow reader acknowledges
 * as well, whatever room it has. Other sockets than TCP have no such state. */
static bool is_silent(struct tunnel *t)
{
    struct tcp_info info = { 0 };
    socklen_t size = sizeof(info);
    int64_t now = cbx_clock_ms();
    if (getsockopt(SSL_get_fd(t->link), IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
        info.tcpi_unacked == 0 || info.tcpi_last_ack_recv < 2 * TICK_MS) {
        t->silent_ms = 0;
        return false;
    }
    t->silent_ms = t->silent_ms > 0 ? t->silent_ms : now;
    return now - t->silent_ms >= SILENT_MS;
}

void cbx_tunnel_carry(int front, SSL *link)
{
    struct tunnel t = { .front = front, .link = link };
    while (!t.broken && !(t.link_ended && is_empty(&t.to_front))) {
        struct pollfd events[2];
        wait_for_events(&t, events);
        t.link_wants = 0;
        if (events[0].revents != 0 && !is_empty(&t.to_front)) {
            write_front(&t);
        }
        if (events[1].revents != 0 && is_empty(&t.to_front) && !t.link_ended) {
            read_link(&t);
        }
        if (events[0].revents != 0 && is_empty(&t.to_link) && !t.broken) {
            read_front(&t);
        }
        if (!is_empty(&t.to_link) && !t.broken && !t.link_ended) {
            write_link(&t);
        }
        t.broken = t.broken || is_silent(&t);
    }
    SSL_shutdown(link); /* says that the bytes end here; its answer is not waited for */
    ERR_clear_error();
}
