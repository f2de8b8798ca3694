/* SPDX-License-Identifier: MIT
 * Connections that are forwarded as frames. */
#include "docker/inside/wire/wire_connections.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void (*cbx_connections_send)(uint8_t, const void *, size_t, const void *, size_t);

/* A direction ends separately: `read_ended` if the socket has no more bytes, `write_ended` if
 * the other side has no more and all are written. */
static struct connection {
    int fd; /* -1 = free */
    uint32_t number;
    uint32_t window; /* number of bytes that may be sent to the other side */
    uint32_t owed;   /* number of bytes written to the socket since the last GRANT */
    struct cbx_bytes out;
    size_t written; /* number of written bytes of `out` */
    bool read_ended, end_received, write_ended;
    bool shut; /* true after cbx_connections_end: later bytes of the other side are dropped */
} table[CBX_CONNECTIONS_MAX];
static bool initialised;

static void initialise(void)
{
    for (int i = 0; !initialised && i < CBX_CONNECTIONS_MAX; i++) {
        table[i].fd = -1;
    }
    initialised = true;
}

static struct connection *find(uint32_t number)
{
    for (int i = 0; initialised && i < CBX_CONNECTIONS_MAX; i++) {
        if (table[i].fd >= 0 && table[i].number == number) {
            return &table[i];
        }
    }
    return NULL;
}

int cbx_connections_slot(uint32_t number)
{
    const struct connection *c = find(number);
    return c != NULL ? (int)(c - table) : -1;
}

int cbx_connections_count(void)
{
    int count = 0;
    for (int i = 0; initialised && i < CBX_CONNECTIONS_MAX; i++) {
        count += table[i].fd >= 0;
    }
    return count;
}

bool cbx_connections_add(uint32_t number, int fd)
{
    initialise();
    for (int i = 0; find(number) == NULL && i < CBX_CONNECTIONS_MAX; i++) {
        if (table[i].fd < 0) {
            table[i] =
                (struct connection){ .fd = fd, .number = number, .window = CBX_FRAME_WINDOW };
            return true;
        }
    }
    return false;
}

static void drop(struct connection *c)
{
    cbx_bytes_free(&c->out);
    cbx_close(&c->fd);
}

void cbx_connections_reset(void)
{
    for (int i = 0; initialised && i < CBX_CONNECTIONS_MAX; i++) {
        drop(&table[i]);
    }
}

static void send_close(const struct connection *c, uint32_t how)
{
    const struct cbx_frame_close close = { .connection = c->number, .how = how };
    cbx_connections_send(CBX_FRAME_CLOSE, &close, sizeof(close), NULL, 0);
}

static void abort_connection(struct connection *c)
{
    send_close(c, CBX_CLOSE_ALL);
    drop(c);
}

static void drop_ended(struct connection *c)
{
    if (c->read_ended && c->write_ended) {
        drop(c);
    }
}

/* --- the socket ------------------------------------------------------------------------------- */

static bool is_for_later(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EINTR || errno == EINPROGRESS);
}

static void read_socket(struct connection *c)
{
    uint8_t bytes[CBX_FRAME_PART_MAX];
    ssize_t n = recv(c->fd, bytes, c->window < sizeof(bytes) ? c->window : sizeof(bytes), 0);
    if (n > 0) {
        c->window -= (uint32_t)n;
        cbx_connections_send(CBX_FRAME_PART, &c->number, sizeof(c->number), bytes, (size_t)n);
    } else if (n == 0) {
        c->read_ended = true;
        send_close(c, CBX_CLOSE_END);
        drop_ended(c);
    } else if (!is_for_later(n)) {
        abort_connection(c);
    }
}

static void write_socket(struct connection *c)
{
    ssize_t n = c->written < c->out.len
                    ? send(c->fd, c->out.p + c->written, c->out.len - c->written, MSG_NOSIGNAL)
                    : 0;
    if (n < 0) {
        if (!is_for_later(n)) {
            abort_connection(c);
        }
        return;
    }
    c->written += (size_t)n;
    c->owed += (uint32_t)n;
    if (c->written == c->out.len) {
        cbx_bytes_free(&c->out);
        c->written = 0;
    }
    if (c->owed >= CBX_FRAME_WINDOW / 2 && !c->end_received) {
        const struct cbx_frame_grant grant = { .connection = c->number, .bytes = c->owed };
        c->owed = 0;
        cbx_connections_send(CBX_FRAME_GRANT, &grant, sizeof(grant), NULL, 0);
    }
    if (c->end_received && c->out.len == 0 && !c->write_ended) {
        c->write_ended = true;
        shutdown(c->fd, SHUT_WR);
        drop_ended(c);
    }
}

int cbx_connections_poll(struct pollfd *fds)
{
    int count = 0;
    for (int i = 0; initialised && i < CBX_CONNECTIONS_MAX; i++) {
        const struct connection *c = &table[i];
        short events = (short)((!c->read_ended && c->window > 0 ? POLLIN : 0) |
                               (c->out.len > 0 ? POLLOUT : 0));
        /* Without events poll(2) would report a hang-up again and again. */
        if (c->fd >= 0 && events != 0) {
            fds[count++] = (struct pollfd){ .fd = c->fd, .events = events };
        }
    }
    return count;
}

static struct connection *find_socket(int fd)
{
    for (int i = 0; i < CBX_CONNECTIONS_MAX; i++) {
        if (table[i].fd == fd) {
            return &table[i];
        }
    }
    return NULL;
}

void cbx_connections_serve(const struct pollfd *fds, int count)
{
    for (int i = 0; i < count; i++) {
        struct connection *c = fds[i].revents != 0 ? find_socket(fds[i].fd) : NULL;
        if (c != NULL && c->out.len > 0 && (fds[i].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
            write_socket(c);
        }
        if (c != NULL && c->fd >= 0 && !c->read_ended && c->window > 0 &&
            (fds[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0) {
            read_socket(c);
        }
    }
}

/* --- frames ----------------------------------------------------------------------------------- */

static void take_part(struct connection *c, const uint8_t *bytes, size_t len)
{
    if (c->shut) {
        return;
    }
    if (c->end_received || c->owed + (c->out.len - c->written) + len > CBX_FRAME_WINDOW) {
        abort_connection(c);
        return;
    }
    if (c->written > 0) {
        memmove(c->out.p, c->out.p + c->written, c->out.len - c->written);
        c->out.len -= c->written;
        c->written = 0;
    }
    cbx_bytes_add(&c->out, bytes, len);
    write_socket(c);
}

void cbx_connections_write(uint32_t number, const uint8_t *bytes, size_t len)
{
    struct connection *c = find(number);
    if (c != NULL) {
        take_part(c, bytes, len);
    }
}

void cbx_connections_end(uint32_t number, const void *last, size_t len)
{
    struct connection *c = find(number);
    if (c == NULL) {
        return;
    }
    cbx_bytes_free(&c->out);
    c->written = 0;
    c->shut = true;
    if (len > 0 && len <= c->window && !c->read_ended) {
        c->window -= (uint32_t)len;
        cbx_connections_send(CBX_FRAME_PART, &c->number, sizeof(c->number), last, len);
    }
    if (shutdown(c->fd, SHUT_RDWR) < 0) {
        abort_connection(c);
    } else if (!c->read_ended) {
        c->read_ended = true;
        send_close(c, CBX_CLOSE_END);
        drop_ended(c);
    }
}

static void take_grant(struct connection *c, const uint8_t *payload)
{
    struct cbx_frame_grant grant;
    memcpy(&grant, payload, sizeof(grant));
    if (grant.bytes > CBX_FRAME_WINDOW - c->window) {
        abort_connection(c);
        return;
    }
    c->window += grant.bytes;
}

static void take_close(struct connection *c, const uint8_t *payload)
{
    struct cbx_frame_close close;
    memcpy(&close, payload, sizeof(close));
    if (close.how != CBX_CLOSE_END) {
        drop(c);
        return;
    }
    c->end_received = true;
    write_socket(c);
}

void cbx_connections_take(uint8_t type, const uint8_t *payload, size_t len)
{
    uint32_t number = 0;
    struct connection *c = NULL;
    if (len >= sizeof(number)) {
        memcpy(&number, payload, sizeof(number));
        c = find(number);
    }
    if (c == NULL) {
        return;
    }
    if (type == CBX_FRAME_PART) {
        take_part(c, payload + sizeof(number), len - sizeof(number));
    } else if (type == CBX_FRAME_GRANT && len == sizeof(struct cbx_frame_grant)) {
        take_grant(c, payload);
    } else if (type == CBX_FRAME_CLOSE && len == sizeof(struct cbx_frame_close)) {
        take_close(c, payload);
    }
}
