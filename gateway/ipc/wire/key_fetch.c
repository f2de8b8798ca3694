/* SPDX-License-Identifier: MIT
 * Messages about keys of issuers. */
#include "gateway/ipc/wire/key_fetch.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* A message must fit the socket buffer for any default size of the host. */
enum { PART_MAX = 16 * 1024 };

/* No process is that old; sums with times do not overflow. */
#define AGE_MAX_MS (INT64_C(1) << 40)

struct message {
    struct cbx_key_answer head;
    char bytes[PART_MAX];
};

int cbx_key_channel(int out[2], struct cbx_err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        return cbx_fail(err, CBX_EIO, "socketpair: %s", strerror(errno));
    }
    out[0] = pair[0];
    out[1] = pair[1];
    return 0;
}

bool cbx_key_request_send(int fd, const struct cbx_key_request *request)
{
    return send(fd, request, sizeof(*request), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)sizeof(*request);
}

bool cbx_key_request_take(int fd, struct cbx_key_request *out)
{
    return recv(fd, out, sizeof(*out), MSG_DONTWAIT | MSG_TRUNC) == (ssize_t)sizeof(*out) &&
           out->number != 0;
}

bool cbx_key_answer_send(int fd, struct cbx_key_answer answer, struct cbx_str bytes)
{
    struct message message;
    answer.bytes = (uint32_t)bytes.len;
    answer.at = 0;
    do {
        size_t left = bytes.len - answer.at;
        answer.part = (uint32_t)(left < PART_MAX ? left : PART_MAX);
        message.head = answer;
        if (answer.part > 0) {
            memcpy(message.bytes, bytes.p + answer.at, answer.part);
        }
        size_t len = sizeof(message.head) + answer.part;
        ssize_t sent;
        while ((sent = send(fd, &message, len, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
        }
        if (sent != (ssize_t)len) {
            return false;
        }
        answer.at += answer.part;
    } while (answer.at < bytes.len);
    return true;
}

/* True if the fields of the message are consistent. */
static bool is_valid(const struct message *m, ssize_t len)
{
    const struct cbx_key_answer *a = &m->head;
    return len >= (ssize_t)sizeof(*a) && a->event >= CBX_KEYS_STARTED &&
           a->event <= CBX_KEYS_FAILED && a->bytes <= CBX_JWKS_MAX && a->part <= PART_MAX &&
           (size_t)len == sizeof(*a) + a->part && a->at <= a->bytes &&
           a->part <= a->bytes - a->at && a->age_ms >= 0 && a->age_ms <= AGE_MAX_MS &&
           memchr(a->reason, '\0', sizeof(a->reason)) != NULL;
}

/* Adds a part to the answer that it continues. True if the answer is then complete. */
static bool add_part(struct cbx_key_reading *r, const struct message *m)
{
    const struct cbx_key_answer *a = &m->head;
    bool continues = r->head.event == a->event && r->head.number == a->number &&
                     r->head.bytes == a->bytes && r->bytes.len == a->at;
    if (a->at == 0) {
        r->head = *a;
        cbx_buf_reset(&r->bytes);
    } else if (!continues) {
        r->head = (struct cbx_key_answer){ 0 };
        return false;
    }
    cbx_buf_add_bytes(&r->bytes, m->bytes, a->part);
    return r->bytes.len == a->bytes;
}

bool cbx_key_answer_take(int fd, struct cbx_key_reading *reading)
{
    struct message m;
    ssize_t n;
    while ((n = recv(fd, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC)) > 0 ||
           (n < 0 && errno == EINTR)) {
        if (n > 0 && !is_valid(&m, n)) {
            reading->head = (struct cbx_key_answer){ 0 };
        } else if (n > 0 && add_part(reading, &m)) {
            return true;
        }
    }
    return false;
}
