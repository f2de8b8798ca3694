/* SPDX-License-Identifier: MIT
 * Messages between our own processes. */
#include "gateway/ipc/wire.h"

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

static int receive_exactly(int fd, void *to, size_t len, int64_t deadline, struct cbx_err *err)
{
    char *p = to;
    while (len > 0) {
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        int64_t left = deadline < 0 ? -1 : deadline - cbx_clock_ms();
        if (deadline >= 0) {
            int n = left > 0 ? poll(&ready, 1, (int)left) : 0;
            if (n < 0 && errno == EINTR) {
                continue;
            }
            if (n <= 0) {
                return cbx_fail(err, CBX_ETIMEDOUT, "no answer in time from another process");
            }
        }
        ssize_t n = read(fd, p, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return cbx_fail(err, CBX_EIO, "another process ended");
        }
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int cbx_wire_receive(int fd, int timeout_ms, struct cbx_message *out, struct cbx_err *err)
{
    int64_t deadline = timeout_ms < 0 ? -1 : cbx_clock_ms() + timeout_ms;
    uint32_t lengths[2];
    int failed = receive_exactly(fd, lengths, sizeof(lengths), deadline, err);
    if (failed) {
        return failed;
    }
    if (lengths[0] > CBX_WIRE_HEADER_MAX || lengths[1] > CBX_WIRE_BYTES_MAX) {
        return cbx_fail(err, CBX_EPROTO, "another process sent a message of %u and %u bytes",
                        lengths[0], lengths[1]);
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_WIRE_HEADER_MAX);
    struct cbx_message message;
    cbx_message_init(&message);
    char *header = cbx_buf_reserve(&text, lengths[0]);
    char *bytes = cbx_buf_reserve(&message.bytes, lengths[1]);
    failed = receive_exactly(fd, header, lengths[0], deadline, err);
    failed = failed ? failed : receive_exactly(fd, bytes, lengths[1], deadline, err);
    if (!failed) {
        message.bytes.len = lengths[1];
        message.bytes.p[lengths[1]] = '\0';
        struct cbx_str json = { .p = header, .len = lengths[0] };
        failed = cbx_json_parse(json, CBX_WIRE_HEADER_MAX, &message.header, err);
        if (failed || !json_is_object(message.header)) {
            failed = cbx_fail(err, CBX_EPROTO, "a message's header is no JSON object");
        }
    }
    if (failed) {
        cbx_message_done(&message);
        return failed;
    }
    cbx_message_done(out);
    *out = message;
    return 0;
}

int cbx_wire_pair(int out[2], struct cbx_err *err)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) < 0) {
        return cbx_fail(err, CBX_EIO, "socketpair: %s", strerror(errno));
    }
    return 0;
}

/* Room for exactly one descriptor, aligned as CMSG wants it. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int cbx_wire_send_fd(int fd, int passed, char tag, struct cbx_err *err)
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
    while ((n = sendmsg(fd, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    return n == 1 ? 0 : cbx_fail(err, CBX_EIO, "passing a descriptor: %s", strerror(errno));
}

int cbx_wire_receive_fd(int fd, int *passed, char *tag, struct cbx_err *err)
{
    union control control = { .bytes = { 0 } };
    struct iovec part = { .iov_base = tag, .iov_len = 1 };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    ssize_t n;
    while ((n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (n <= 0) {
        return cbx_fail(err, CBX_EIO, "another process ended");
    }
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    *passed = -1;
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        /* Alignment leaves room for a second one, which the kernel fills when it is sent: none of
         * several is ours to keep. */
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
