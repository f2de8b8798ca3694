/* SPDX-License-Identifier: MIT
 * The attached streams of a container: an upgraded HTTP connection. libcurl connects (with TLS);
 * this file writes the request and reads and writes all bytes after it. Without TLS it takes the
 * socket over from libcurl, because libcurl's handle needs a hundred times the memory of the
 * remaining state. */
#include "docker/engine/docker/docker_http.h"
#include "docker/engine/silence.h"
#include "policies/base/buf.h"
#include "policies/base/clock.h"
#include "policies/base/memory.h"
#include "policies/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEAD_MAX = 16 * 1024,
    SEND_TIMEOUT_MS = 10000,
    HEAD_TIMEOUT_MS = 30000, /* for an engine that replies to pings meanwhile */
    HEAD_POLL_MS = 1000,
};

struct cbx_attach {
    /* handle of a connection with TLS; NULL: bytes are sent through the socket unchanged */
    CURL *curl;
    int socket;
    pthread_mutex_t lock;   /* a libcurl handle must not be used by two threads at once */
    struct cbx_buf pending; /* bytes after the response head */
    int64_t received_ms;    /* time when bytes last arrived */
};

static int wait_for(struct cbx_attach *attach, short events, int timeout_ms)
{
    struct pollfd ready = { .fd = attach->socket, .events = events };
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

static CURLcode send_now(struct cbx_attach *attach, const void *bytes, size_t len, size_t *sent)
{
    if (attach->curl == NULL) {
        return code_of(send(attach->socket, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL), sent);
    }
    pthread_mutex_lock(&attach->lock);
    CURLcode code = curl_easy_send(attach->curl, bytes, len, sent);
    pthread_mutex_unlock(&attach->lock);
    return code;
}

static CURLcode receive_now(struct cbx_attach *attach, void *to, size_t size, size_t *received)
{
    if (attach->curl == NULL) {
        return code_of(recv(attach->socket, to, size, MSG_DONTWAIT), received);
    }
    pthread_mutex_lock(&attach->lock);
    CURLcode code = curl_easy_recv(attach->curl, to, size, received);
    pthread_mutex_unlock(&attach->lock);
    return code;
}

/* --- the streams ------------------------------------------------------------------------------ */

int cbx_attach_send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                         size_t *sent, struct cbx_err *err)
{
    int64_t deadline = cbx_clock_ms() + timeout_ms;
    for (;;) {
        *sent = 0;
        CURLcode code = send_now(attach, bytes, len, sent);
        if (code == CURLE_OK) {
            return 0;
        }
        if (code != CURLE_AGAIN) {
            return cbx_fail(err, CBX_EIO, "the connection to the sandbox is gone");
        }
        int64_t left = deadline - cbx_clock_ms();
        if (left <= 0 || wait_for(attach, POLLOUT, (int)left) <= 0) {
            return cbx_fail(err, CBX_ETIMEDOUT, "the sandbox does not read its input");
        }
    }
}

int cbx_attach_send(struct cbx_attach *attach, const void *bytes, size_t len, struct cbx_err *err)
{
    const char *p = bytes;
    while (len > 0) {
        size_t sent = 0;
        int failed = cbx_attach_send_some(attach, p, len, SEND_TIMEOUT_MS, &sent, err);
        if (failed == CBX_ETIMEDOUT) {
            return cbx_fail(err, CBX_EIO, "the sandbox does not read its input");
        }
        if (failed) {
            return failed;
        }
        p += sent;
        len -= sent;
    }
    return 0;
}

int cbx_attach_receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                       size_t *received, struct cbx_err *err)
{
    if (attach->pending.len > 0) {
        size_t n = attach->pending.len < size ? attach->pending.len : size;
        memcpy(to, attach->pending.p, n);
        cbx_buf_consume(&attach->pending, n);
        *received = n;
        return 0;
    }
    cbx_buf_done(&attach->pending);
    int64_t deadline = cbx_clock_ms() + timeout_ms;
    for (;;) {
        *received = 0;
        CURLcode code = receive_now(attach, to, size, received);
        if (code == CURLE_OK) {
            attach->received_ms = cbx_clock_ms();
            return 0;
        }
        if (code != CURLE_AGAIN) {
            return cbx_fail(err, CBX_EIO, "the connection to the sandbox is gone");
        }
        int64_t left = timeout_ms < 0 ? -1 : deadline - cbx_clock_ms();
        if (timeout_ms >= 0 && left <= 0) {
            return cbx_fail(err, CBX_ETIMEDOUT, "the sandbox did not answer in time");
        }
        wait_for(attach, POLLIN, (int)left);
    }
}

int64_t cbx_attach_silent_ms(struct cbx_attach *attach)
{
    struct tcp_info info = { 0 };
    socklen_t size = sizeof(info);
    bool given_up = getsockopt(attach->socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                    info.tcpi_state == TCP_CLOSE;
    int64_t silent_ms = cbx_clock_ms() - attach->received_ms;
    return given_up && info.tcpi_last_ack_recv < silent_ms ? info.tcpi_last_ack_recv : silent_ms;
}

/* --- the upgrade ------------------------------------------------------------------------------ */

/* Receives bytes of the response head, while the engine replies to pings. */
static int receive_head(struct cbx_engine *engine, struct cbx_attach *attach, char *to, size_t size,
                        size_t *received, struct cbx_err *err)
{
    int64_t began = cbx_clock_ms(), heard_ms = began;
    int failed = CBX_ETIMEDOUT;
    while (failed == CBX_ETIMEDOUT && cbx_clock_ms() - began < HEAD_TIMEOUT_MS) {
        failed = cbx_attach_receive(attach, to, size, HEAD_POLL_MS, received, err);
        if (failed == CBX_ETIMEDOUT && cbx_engine_check(engine, &heard_ms, NULL) != 0) {
            return cbx_engine_silent(engine, err);
        }
    }
    if (failed || *received == 0) {
        return cbx_fail(err, CBX_EENGINE,
                        "the sandbox engine did not open the container's streams");
    }
    return 0;
}

/* Reads the response head; bytes after it stay in `pending`. */
static int read_head(struct cbx_engine *engine, struct cbx_attach *attach, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, HEAD_MAX);
    const char *end = NULL;
    while (end == NULL) {
        char chunk[4096];
        size_t n = 0;
        int failed = receive_head(engine, attach, chunk, sizeof(chunk), &n, err);
        if (failed) {
            return failed;
        }
        if (cbx_buf_add_bytes(&head, chunk, n) != 0) {
            return cbx_fail(err, CBX_EENGINE,
                            "the sandbox engine did not open the container's streams");
        }
        end = memmem(head.p, head.len, "\r\n\r\n", 4);
    }
    struct cbx_str line = cbx_buf_str(&head);
    if (!cbx_str_starts(line, CBX_STR("HTTP/1.1 101")) &&
        !cbx_str_starts(line, CBX_STR("HTTP/1.1 200"))) {
        const char *message = strstr(end, "\"message\":\"");
        message = message != NULL ? message + 11 : "";
        cbx_fail(err, CBX_EENGINE, "the sandbox engine did not open the container's streams");
        cbx_err_detail(err, "%.*s %.*s", (int)strcspn(head.p, "\r\n"), head.p,
                       (int)strcspn(message, "\""), message);
        return CBX_EENGINE;
    }
    size_t used = (size_t)(end - head.p) + 4;
    if (head.len == used) {
        return 0;
    }
    return cbx_buf_add_bytes(&attach->pending, head.p + used, head.len - used);
}

/* A CURLOPT_CLOSESOCKETFUNCTION: libcurl does not close a socket that was taken over. */
static int close_unless_taken(void *context, curl_socket_t socket)
{
    const struct cbx_attach *attach = context;
    return attach->curl == NULL ? 0 : close(socket);
}

/* Connects before any byte is sent, so the connection has no other state than the socket. */
static int connect_engine(struct cbx_engine *engine, const char *url, struct cbx_attach *attach,
                          struct cbx_err *err)
{
    curl_socket_t socket = -1;
    attach->curl = cbx_engine_handle(engine);
    curl_easy_setopt(attach->curl, CURLOPT_URL, url);
    curl_easy_setopt(attach->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(attach->curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(attach->curl, CURLOPT_CLOSESOCKETFUNCTION, close_unless_taken);
    curl_easy_setopt(attach->curl, CURLOPT_CLOSESOCKETDATA, attach);
    CURLcode code = curl_easy_perform(attach->curl);
    if (code != CURLE_OK ||
        curl_easy_getinfo(attach->curl, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK) {
        return cbx_engine_unreachable(engine, code, "", err);
    }
    attach->socket = socket;
    if (strncmp(url, "https:", 6) != 0) {
        fcntl(socket, F_SETFD, FD_CLOEXEC);
        curl_easy_cleanup(cbx_steal(&attach->curl));
    }
    return 0;
}

int cbx_engine_container_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                                struct cbx_err *err)
{
    CBX_AUTO(attach) attach = cbx_new(sizeof(*attach));
    attach->socket = -1;
    cbx_buf_init(&attach->pending, HEAD_MAX);
    pthread_mutex_init(&attach->lock, NULL);
    char url[1024], path[160], request[1400];
    snprintf(path, sizeof(path), "/containers/%.64s/attach?stream=1&stdin=1&stdout=1&stderr=1", id);
    cbx_engine_url(engine, path, url, sizeof(url));
    int failed = connect_engine(engine, url, attach, err);
    if (failed) {
        return failed;
    }
    const char *target = strstr(url, "://");
    target = target != NULL ? strchr(target + 3, '/') : NULL;
    snprintf(request, sizeof(request),
             "POST %s HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: "
             "tcp\r\nContent-Length: 0\r\n\r\n",
             target != NULL ? target : "/");
    failed = cbx_attach_send(attach, request, strlen(request), err);
    if (failed) {
        return failed;
    }
    failed = read_head(engine, attach, err);
    if (!failed) {
        *out = cbx_steal(&attach);
    }
    return failed;
}

void cbx_attach_free(struct cbx_attach *attach)
{
    if (attach == NULL) {
        return;
    }
    if (attach->curl == NULL && attach->socket >= 0) {
        close(attach->socket);
    }
    curl_easy_cleanup(attach->curl);
    cbx_buf_done(&attach->pending);
    pthread_mutex_destroy(&attach->lock);
    free(attach);
}
