/* SPDX-License-Identifier: MIT
 * Bytes of an upgraded connection, with and without TLS. */
#include "docker/engine/upgrade.h"

#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* At most one TLS record (RFC 8446, section 5.1): few bytes are held. */
enum { RECORD_BYTES = 16 * 1024 };

void cbx_upgrade_init(struct cbx_upgrade *upgrade)
{
    *upgrade = (struct cbx_upgrade){ .socket = -1 };
    cbx_buf_init(&upgrade->held, RECORD_BYTES);
    pthread_mutex_init(&upgrade->lock, NULL);
}

void cbx_upgrade_done(struct cbx_upgrade *upgrade)
{
    if (upgrade->curl == NULL && upgrade->socket >= 0) {
        close(upgrade->socket);
    }
    curl_easy_cleanup(upgrade->curl);
    cbx_buf_done(&upgrade->held);
    pthread_mutex_destroy(&upgrade->lock);
}

static int wait_for(const struct cbx_upgrade *u, short events, int timeout_ms)
{
    struct pollfd ready = { .fd = u->socket, .events = events };
    int n;
    while ((n = poll(&ready, 1, timeout_ms)) < 0 && errno == EINTR) {
    }
    return n;
}

/* --- bytes: CURLE_AGAIN when none can go now -------------------------------------------------- */

static CURLcode code_of(ssize_t n, size_t *out)
{
    if (n < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? CURLE_AGAIN
                                                                         : CURLE_SEND_ERROR;
    }
    *out = (size_t)n;
    return CURLE_OK;
}

/* Call it with the lock held. After CURLE_AGAIN the TLS library needs the same call again, because it
 * may have sent a part of the record. The library is called only if the socket takes bytes, so a
 * message that finds no room is not begun. */
static CURLcode send_record(struct cbx_upgrade *u, const void *bytes, size_t len, size_t *sent)
{
    struct cbx_buf *held = &u->held;
    if (held->len > 0 && (len < held->len || memcmp(held->p, bytes, held->len) != 0)) {
        u->broken = true;
    }
    if (u->broken) {
        return CURLE_SEND_ERROR;
    }
    if (held->len == 0 && wait_for(u, POLLOUT, 0) <= 0) {
        return CURLE_AGAIN;
    }
    if (held->len == 0) {
        cbx_buf_add_bytes(held, bytes, len < RECORD_BYTES ? len : RECORD_BYTES);
    }
    CURLcode code = curl_easy_send(u->curl, held->p, held->len, sent);
    if (code != CURLE_AGAIN) {
        cbx_buf_done(held);
    }
    return code;
}

static CURLcode send_now(struct cbx_upgrade *u, const void *bytes, size_t len, size_t *sent)
{
    if (u->curl == NULL) {
        return code_of(send(u->socket, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL), sent);
    }
    pthread_mutex_lock(&u->lock);
    CURLcode code = send_record(u, bytes, len, sent);
    pthread_mutex_unlock(&u->lock);
    return code;
}

static CURLcode receive_now(struct cbx_upgrade *u, void *to, size_t size, size_t *received)
{
    if (u->curl == NULL) {
        return code_of(recv(u->socket, to, size, MSG_DONTWAIT), received);
    }
    pthread_mutex_lock(&u->lock);
    CURLcode code = curl_easy_recv(u->curl, to, size, received);
    pthread_mutex_unlock(&u->lock);
    return code;
}

int cbx_upgrade_send_some(struct cbx_upgrade *upgrade, const void *bytes, size_t len,
                          int timeout_ms, size_t *sent, struct cbx_err *err)
{
    int64_t deadline = cbx_clock_ms() + timeout_ms;
    for (;;) {
        *sent = 0;
        CURLcode code = send_now(upgrade, bytes, len, sent);
        if (code == CURLE_OK) {
            return 0;
        }
        if (code != CURLE_AGAIN && upgrade->broken) {
            return cbx_fail(err, CBX_EIO,
                            "the connection to the sandbox is broken: a message was sent in part");
        }
        if (code != CURLE_AGAIN) {
            return cbx_fail(err, CBX_EIO, "the connection to the sandbox is gone");
        }
        int64_t left = deadline - cbx_clock_ms();
        if (left <= 0 || wait_for(upgrade, POLLOUT, (int)left) <= 0) {
            return cbx_fail(err, CBX_ETIMEDOUT, "the sandbox does not read its input");
        }
    }
}

bool cbx_upgrade_holds(const struct cbx_upgrade *upgrade)
{
    return upgrade->held.len > 0;
}

int cbx_upgrade_receive(struct cbx_upgrade *upgrade, void *to, size_t size, int64_t deadline,
                        size_t *received, struct cbx_err *err)
{
    for (;;) {
        *received = 0;
        CURLcode code = receive_now(upgrade, to, size, received);
        if (code == CURLE_OK) {
            upgrade->received_ms = cbx_clock_ms();
            return 0;
        }
        if (code != CURLE_AGAIN) {
            return cbx_fail(err, CBX_EIO, "the connection to the sandbox is gone");
        }
        int64_t left = deadline < 0 ? -1 : deadline - cbx_clock_ms();
        if (deadline >= 0 && left <= 0) {
            return cbx_fail(err, CBX_ETIMEDOUT, "the sandbox did not answer in time");
        }
        wait_for(upgrade, POLLIN, (int)left);
    }
}

int64_t cbx_upgrade_silent_ms(const struct cbx_upgrade *upgrade)
{
    struct tcp_info info = { 0 };
    socklen_t size = sizeof(info);
    bool given_up = getsockopt(upgrade->socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                    info.tcpi_state == TCP_CLOSE;
    int64_t silent = cbx_clock_ms() - upgrade->received_ms;
    return given_up && info.tcpi_last_ack_recv < silent ? info.tcpi_last_ack_recv : silent;
}

/* --- the upgrade ------------------------------------------------------------------------------ */

int cbx_upgrade_receive_head(struct cbx_upgrade *upgrade, struct cbx_buf *head,
                             struct cbx_buf *rest, int64_t deadline, bool *complete,
                             struct cbx_err *err)
{
    char chunk[4096];
    size_t n = 0;
    *complete = false;
    int failed = cbx_upgrade_receive(upgrade, chunk, sizeof(chunk), deadline, &n, err);
    if (failed) {
        return failed;
    }
    if (n == 0) {
        return cbx_fail(err, CBX_EIO, "the connection to the sandbox is gone");
    }
    if (cbx_buf_add_bytes(head, chunk, n) != 0) {
        return cbx_fail(err, CBX_EPROTO, "the response head is too long");
    }
    const char *end = memmem(head->p, head->len, "\r\n\r\n", 4);
    if (end == NULL) {
        return 0;
    }
    *complete = true;
    size_t used = (size_t)(end - head->p) + 4;
    return cbx_buf_add_bytes(rest, head->p + used, head->len - used);
}

/* A CURLOPT_CLOSESOCKETFUNCTION: libcurl does not close a socket that was taken over. */
static int close_unless_taken(void *context, curl_socket_t socket)
{
    const struct cbx_upgrade *upgrade = context;
    return upgrade->curl == NULL ? 0 : close(socket);
}

CURLcode cbx_upgrade_connect(struct cbx_upgrade *upgrade, CURL *curl, const char *url)
{
    curl_socket_t socket = -1;
    upgrade->curl = curl;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, close_unless_taken);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, upgrade);
    CURLcode code = curl_easy_perform(curl);
    if (code == CURLE_OK) {
        code = curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &socket);
    }
    if (code != CURLE_OK) {
        return code;
    }
    upgrade->socket = socket;
    if (strncmp(url, "https:", 6) != 0) {
        fcntl(socket, F_SETFD, FD_CLOEXEC);
        curl_easy_cleanup(cbx_steal(&upgrade->curl));
    }
    return CURLE_OK;
}
