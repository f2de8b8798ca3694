/* SPDX-License-Identifier: MIT
 * Messages between the processes of the gateway. */
#include "gateway/ipc/wire/ipc_wire.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

void cbx_message_init(struct cbx_message *message)
{
    message->header = NULL;
    cbx_buf_init(&message->bytes, CBX_WIRE_BYTES_MAX);
}

void cbx_message_done(struct cbx_message *message)
{
    json_decref(message->header);
    message->header = NULL;
    cbx_buf_done(&message->bytes);
}

static void advance(struct msghdr *message, size_t sent)
{
    while (message->msg_iovlen > 0 && sent >= message->msg_iov->iov_len) {
        sent -= message->msg_iov->iov_len;
        message->msg_iov++;
        message->msg_iovlen--;
    }
    if (message->msg_iovlen > 0) {
        message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + sent;
        message->msg_iov->iov_len -= sent;
    }
}

int cbx_wire_send(int fd, const json_t *header, struct cbx_str bytes, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_WIRE_HEADER_MAX);
    if (cbx_json_write(&text, header) != 0 || bytes.len > CBX_WIRE_BYTES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "a message between processes is too large");
    }
    uint32_t lengths[2] = { (uint32_t)text.len, (uint32_t)bytes.len };
    struct iovec parts[3] = {
        { .iov_base = lengths, .iov_len = sizeof(lengths) },
        { .iov_base = text.p, .iov_len = text.len },
        { .iov_base = (void *)(uintptr_t)bytes.p, .iov_len = bytes.len },
    };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = bytes.len > 0 ? 3 : 2 };
    while (message.msg_iovlen > 0) {
        ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return cbx_fail(err, CBX_EIO, "sending to another process: %s", strerror(errno));
        }
        advance(&message, (size_t)n);
    }
    return 0;
}

/* Waits until the descriptor is readable, at most until a time of cbx_clock_ms (-1 = none). */
static int await_readable(int fd, int64_t deadline, struct cbx_err *err)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    while (deadline >= 0) { /* without a deadline the read itself blocks */
        int64_t left = deadline - cbx_clock_ms();
        int n = left > 0 ? poll(&ready, 1, (int)left) : 0;
        if (n > 0) {
            return 0;
        }
        if (n == 0 || errno != EINTR) {
            return cbx_fail(err, CBX_ETIMEDOUT, "no answer in time from another process");
        }
    }
    return 0;
}

/* Reads at most `len` bytes once. Returns the number of bytes, or a negative code. */
static ssize_t receive_some(int fd, void *to, size_t len, int flags, int64_t deadline,
                            struct cbx_err *err)
{
    for (;;) {
        int failed = await_readable(fd, deadline, err);
        if (failed) {
            return failed;
        }
        ssize_t n = recv(fd, to, len, flags);
        if (n > 0) {
            return n;
        }
        if (n == 0 || errno != EINTR) {
            return cbx_fail(err, CBX_EIO, "another process ended");
        }
    }
}

static int receive_exactly(int fd, void *to, size_t len, int64_t deadline, struct cbx_err *err)
{
    char *p = to;
    while (len > 0) {
        ssize_t n = receive_some(fd, p, len, 0, deadline, err);
        if (n < 0) {
            return (int)n;
        }
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

/* The lengths of a message, and its header and bytes in memory of these lengths. */
struct parts {
    uint32_t lengths[2];
    struct cbx_buf text;
    struct cbx_message message;
    char *header, *bytes;
};

static int make_room(struct parts *p, struct cbx_err *err)
{
    if (p->lengths[0] > CBX_WIRE_HEADER_MAX || p->lengths[1] > CBX_WIRE_BYTES_MAX) {
        return cbx_fail(err, CBX_EPROTO, "another process sent a message of %u and %u bytes",
                        p->lengths[0], p->lengths[1]);
    }
    p->header = cbx_buf_reserve(&p->text, p->lengths[0]);
    p->bytes = cbx_buf_reserve(&p->message.bytes, p->lengths[1]);
    return 0;
}

/* Reads header and bytes in one call: nearly every message arrives whole, so a message takes two
 * calls instead of three. */
static int receive_both(int fd, struct parts *p, int64_t deadline, struct cbx_err *err)
{
    struct iovec both[] = { { .iov_base = p->header, .iov_len = p->lengths[0] },
                            { .iov_base = p->bytes, .iov_len = p->lengths[1] } };
    struct msghdr message = { .msg_iov = both, .msg_iovlen = 2 };
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
    size_t got = n > 0 ? (size_t)n : 0;
    size_t header = got < p->lengths[0] ? got : p->lengths[0], bytes = got - header;
    int failed = receive_exactly(fd, p->header + header, p->lengths[0] - header, deadline, err);
    if (failed) {
        return failed;
    }
    return receive_exactly(fd, p->bytes + bytes, p->lengths[1] - bytes, deadline, err);
}

static int receive_parts(int fd, struct parts *p, int64_t deadline, struct cbx_err *err)
{
    int failed = receive_exactly(fd, p->lengths, sizeof(p->lengths), deadline, err);
    if (failed) {
        return failed;
    }
    failed = make_room(p, err);
    if (failed) {
        return failed;
    }
    return receive_both(fd, p, deadline, err);
}

static int parse_header(struct parts *p, struct cbx_err *err)
{
    struct cbx_str json = { .p = p->header, .len = p->lengths[0] };
    p->message.bytes.len = p->lengths[1];
    p->message.bytes.p[p->lengths[1]] = '\0';
    int failed = cbx_json_parse(json, CBX_WIRE_HEADER_MAX, &p->message.header, err);
    if (failed || !json_is_object(p->message.header)) {
        return cbx_fail(err, CBX_EPROTO, "a message's header is no JSON object");
    }
    return 0;
}

int cbx_wire_receive(int fd, int timeout_ms, struct cbx_message *out, struct cbx_err *err)
{
    int64_t deadline = timeout_ms < 0 ? -1 : cbx_clock_ms() + timeout_ms;
    struct parts p = { .header = NULL };
    cbx_buf_init(&p.text, CBX_WIRE_HEADER_MAX);
    cbx_message_init(&p.message);
    int failed = receive_parts(fd, &p, deadline, err);
    if (!failed) {
        failed = parse_header(&p, err);
    }
    cbx_buf_done(&p.text);
    if (failed) {
        cbx_message_done(&p.message);
        return failed;
    }
    cbx_message_done(out);
    *out = p.message;
    return 0;
}

int cbx_wire_pair(int out[2], struct cbx_err *err)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) < 0) {
        return cbx_fail(err, CBX_EIO, "socketpair: %s", strerror(errno));
    }
    return 0;
}

/* Control message buffer for exactly one descriptor, with the alignment of CMSG. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_fd(int fd, int passed, char tag, int flags, struct cbx_err *err)
{
    union control control = { .bytes = { 0 } };
    struct iovec part = { .iov_base = &tag, .iov_len = 1 };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &passed, sizeof(int));
    ssize_t n;
    while ((n = sendmsg(fd, &message, MSG_NOSIGNAL | flags)) < 0 && errno == EINTR) {
    }
    if (n < 0 && errno == EAGAIN) {
        return cbx_fail(err, CBX_ETIMEDOUT, "another process takes no descriptor");
    }
    if (n != 1) {
        return cbx_fail(err, CBX_EIO, "passing a descriptor: %s", strerror(errno));
    }
    return 0;
}

int cbx_wire_send_fd(int fd, int passed, char tag, struct cbx_err *err)
{
    return send_fd(fd, passed, tag, 0, err);
}

int cbx_wire_send_fd_until(int fd, int passed, char tag, int64_t until_ms, struct cbx_err *err)
{
    struct pollfd ready = { .fd = fd, .events = POLLOUT };
    int64_t left;
    int failed;
    while ((failed = send_fd(fd, passed, tag, MSG_DONTWAIT, err)) == CBX_ETIMEDOUT &&
           (left = until_ms - cbx_clock_ms()) > 0) {
        poll(&ready, 1, (int)left);
    }
    return failed;
}

static int receive_fd(int fd, int *passed, char *tag, int flags, struct cbx_err *err)
{
    union control control = { .bytes = { 0 } };
    struct iovec part = { .iov_base = tag, .iov_len = 1 };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    ssize_t n;
    while ((n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | flags)) < 0 && errno == EINTR) {
    }
    if (n < 0 && errno == EAGAIN) {
        return cbx_fail(err, CBX_ETIMEDOUT, "another process passed no descriptor");
    }
    if (n <= 0) {
        return cbx_fail(err, CBX_EIO, "another process ended");
    }
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    *passed = -1;
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        /* The alignment leaves space for a second descriptor, and Linux fills it if the sender
         * passed two: several descriptors are all closed. */
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            memcpy(passed, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            if (count > 1) {
                cbx_fd_auto(passed);
            }
        }
    }
    return 0;
}

int cbx_wire_receive_fd(int fd, int *passed, char *tag, struct cbx_err *err)
{
    return receive_fd(fd, passed, tag, 0, err);
}

int cbx_wire_receive_fd_now(int fd, int *passed, char *tag, struct cbx_err *err)
{
    return receive_fd(fd, passed, tag, MSG_DONTWAIT, err);
}
