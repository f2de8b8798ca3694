/* SPDX-License-Identifier: MIT
 * Sets of parts between the master and the other processes. */
#include "gateway/ipc/master/reload.h"

#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ALIGN = 16 };

/* Header of a part; the bytes of the part follow and are padded to ALIGN. */
struct head {
    char name[CBX_RELOAD_NAME_MAX + 1];
    uint64_t processes, len;
};
/* Header of a message; the parts follow. */
struct message {
    uint64_t first_number, len;
};
static const char taken = 'y', refused = 'n', serves = 'r';

int cbx_reload_add(struct cbx_buf *set, const struct cbx_reload_part *part, struct cbx_err *err)
{
    static const char padding[ALIGN];
    struct head head = { .processes = part->processes, .len = part->bytes.len };
    snprintf(head.name, sizeof(head.name), "%s", part->name);
    cbx_buf_add_bytes(set, &head, sizeof(head));
    cbx_buf_add(set, part->bytes);
    cbx_buf_add_bytes(set, padding, (ALIGN - part->bytes.len % ALIGN) % ALIGN);
    if (set->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "what is loaded has more than %zu bytes", set->max_bytes);
    }
    return 0;
}

bool cbx_reload_next(struct cbx_str *rest, struct cbx_reload_part *out)
{
    struct head head;
    if (rest->len < sizeof(head)) {
        return false;
    }
    memcpy(&head, rest->p, sizeof(head));
    size_t room = rest->len - sizeof(head);
    if (head.len > room || memchr(head.name, '\0', sizeof(head.name)) == NULL) {
        return false;
    }
    size_t padded = head.len + (ALIGN - head.len % ALIGN) % ALIGN;
    *out = (struct cbx_reload_part){ .processes = (unsigned)head.processes };
    memcpy(out->name, head.name, sizeof(out->name));
    out->bytes = cbx_str_sub(*rest, sizeof(head), sizeof(head) + head.len);
    *rest = cbx_str_sub(*rest, sizeof(head) + (padded < room ? padded : room), rest->len);
    return true;
}

void cbx_reload_tell_ready(int fd)
{
    send(fd, &serves, 1, MSG_NOSIGNAL);
}

bool cbx_reload_is_ready(int fd)
{
    char answer = 0;
    return recv(fd, &answer, 1, MSG_DONTWAIT) == 1 && answer == serves;
}

/* --- the master ------------------------------------------------------------------------------- */

/* Waits until the descriptor is ready. */
static int await(int fd, short events, int64_t deadline_ms, struct cbx_err *err)
{
    struct pollfd ready = { .fd = fd, .events = events };
    int64_t left = deadline_ms - cbx_clock_ms();
    int n = left > 0 ? poll(&ready, 1, (int)left) : 0;
    if (n > 0 || (n < 0 && errno == EINTR)) {
        return 0;
    }
    return cbx_fail(err, CBX_ETIMEDOUT, "it does not answer");
}

static int send_all(int fd, struct cbx_str bytes, int64_t deadline_ms, struct cbx_err *err)
{
    while (bytes.len > 0) {
        int failed = await(fd, POLLOUT, deadline_ms, err);
        if (failed) {
            return failed;
        }
        ssize_t n = send(fd, bytes.p, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return cbx_fail(err, CBX_EIO, "sending to it: %s", strerror(errno));
        }
        bytes = cbx_str_sub(bytes, n > 0 ? (size_t)n : 0, bytes.len);
    }
    return 0;
}

static int send_message(int fd, uint64_t first_number, struct cbx_str parts, int64_t deadline,
                        struct cbx_err *err)
{
    struct message head = { .first_number = first_number, .len = parts.len };
    struct cbx_str first = { .p = (const char *)&head, .len = sizeof(head) };
    int failed = send_all(fd, first, deadline, err);
    if (failed) {
        return failed;
    }
    return send_all(fd, parts, deadline, err);
}

int cbx_reload_send(int fd, enum cbx_reload_process process, uint64_t first_number,
                    struct cbx_str set, int timeout_ms, struct cbx_err *err)
{
    int64_t deadline = cbx_clock_ms() + timeout_ms;
    struct cbx_reload_part part;
    CBX_AUTO_DONE(buf) own;
    cbx_buf_init(&own, CBX_RELOAD_BYTES_MAX);
    int failed = 0;
    cbx_buf_reserve(&own, 2 * set.len); /* a buffer that grows leaves copies of secrets behind */
    while (!failed && cbx_reload_next(&set, &part)) {
        if ((part.processes & process) != 0) {
            failed = cbx_reload_add(&own, &part, err);
        }
    }
    if (!failed) {
        failed = send_message(fd, first_number, cbx_buf_str(&own), deadline, err);
    }
    explicit_bzero(own.p, own.len);
    char answer = 0;
    ssize_t n = -1;
    while (!failed && (n < 0 || answer == serves)) {
        failed = await(fd, POLLIN, deadline, err);
        answer = 0;
        n = failed ? 0 : read(fd, &answer, 1);
        if (n < 0 && errno != EINTR) {
            return cbx_fail(err, CBX_EIO, "its answer: %s", strerror(errno));
        }
    }
    if (failed) {
        return failed;
    }
    if (answer != taken) {
        return cbx_fail(err, CBX_ESTATE, "it could not take the new set over");
    }
    return 0;
}

/* --- the other processes ---------------------------------------------------------------------- */

static bool read_all(int fd, void *into, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = read(fd, (char *)into + at, len - at);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool apply_all(const struct cbx_reload_listener *l, uint64_t first_number,
                      struct cbx_str rest)
{
    struct cbx_reload_part part;
    struct cbx_err err = { 0 };
    while (cbx_reload_next(&rest, &part)) {
        if (l->apply(l->context, &part, first_number, &err) != 0) {
            cbx_log(CBX_LOG_ERROR, "reload: %s: %s", part.name,
                    cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
            return false;
        }
    }
    return rest.len == 0;
}

/* Received sets, kept as long as the process: applied parts borrow from them. */
struct kept {
    struct kept *next;
    _Alignas(ALIGN) char bytes[];
};

static void *listen_for_sets(void *context)
{
    static struct kept *all; /* used by the listener's thread alone */
    const struct cbx_reload_listener *l = context;
    struct message head;
    while (read_all(l->fd, &head, sizeof(head)) && head.len <= CBX_RELOAD_BYTES_MAX) {
        struct kept *set =
            aligned_alloc(ALIGN, (sizeof(*set) + head.len + ALIGN) & ~(size_t)(ALIGN - 1));
        if (set == NULL || !read_all(l->fd, set->bytes, head.len)) {
            free(set);
            break;
        }
        set->next = all;
        all = set;
        bool applied =
            apply_all(l, head.first_number, (struct cbx_str){ .p = set->bytes, .len = head.len });
        if (send(l->fd, applied ? &taken : &refused, 1, MSG_NOSIGNAL) != 1) {
            break;
        }
    }
    return NULL;
}

bool cbx_reload_listen(const struct cbx_reload_listener *listener)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, listen_for_sets, (void *)(uintptr_t)listener) != 0) {
        return false;
    }
    pthread_detach(thread);
    return true;
}
