/* SPDX-License-Identifier: MIT
 * The attached streams of a container: an upgraded HTTP connection. libcurl connects (with TLS);
 * this file writes the request and reads and writes all bytes after it. Without TLS it takes the
 * socket over from libcurl, because libcurl's handle needs a hundred times the memory of the
 * remaining state. */
#include "docker/engine/docker/docker_chunks.h"
#include "docker/engine/docker/docker_http.h"
#include "policies/base/buf.h"
#include "policies/base/memory.h"
#include "policies/base/str.h"
#include "policies/base/time/clock.h"

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
    PENDING_MAX = 1024 * 1024, /* more than a caller's buffer has */
    HEAD_TIMEOUT_MS = 30000,   /* for an engine that replies to pings meanwhile */
    HEAD_POLL_MS = 1000,
};

struct docker_attach {
    struct cbx_attach attach;
    /* handle of a connection with TLS; NULL: bytes are sent through the socket unchanged */
    CURL *curl;
    int socket;
    pthread_mutex_t lock; /* a libcurl handle must not be used by two threads at once */
    int64_t received_ms;  /* time when bytes last arrived */
    struct cbx_chunks chunks;
    /* Bytes that arrived with others and were not returned yet; `used` of them were. Empty while
     * no caller waits: a session costs no buffer. */
    struct cbx_buf pending;
    size_t used;
};

static struct docker_attach *stream_of(struct cbx_attach *attach)
{
    return (struct docker_attach *)attach;
}

static int wait_for(struct docker_attach *a, short events, int timeout_ms)
{
    struct pollfd ready = { .fd = a->socket, .events = events };
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

static CURLcode send_now(struct docker_attach *a, const void *bytes, size_t len, size_t *sent)
{
    if (a->curl == NULL) {
        return code_of(send(a->socket, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL), sent);
    }
    pthread_mutex_lock(&a->lock);
    CURLcode code = curl_easy_send(a->curl, bytes, len, sent);
    pthread_mutex_unlock(&a->lock);
    return code;
}

static CURLcode receive_now(struct docker_attach *a, void *to, size_t size, size_t *received)
{
    if (a->curl == NULL) {
        return code_of(recv(a->socket, to, size, MSG_DONTWAIT), received);
    }
    pthread_mutex_lock(&a->lock);
    CURLcode code = curl_easy_recv(a->curl, to, size, received);
    pthread_mutex_unlock(&a->lock);
    return code;
}

/* --- the streams ------------------------------------------------------------------------------ */

static int send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                     size_t *sent, struct cbx_err *err)
{
    struct docker_attach *a = stream_of(attach);
    int64_t deadline = cbx_clock_ms() + timeout_ms;
    for (;;) {
        *sent = 0;
        CURLcode code = send_now(a, bytes, len, sent);
        if (code == CURLE_OK) {
            return 0;
        }
        if (code != CURLE_AGAIN) {
            return cbx_fail(err, CBX_EIO, "the connection to the sandbox is gone");
        }
        int64_t left = deadline - cbx_clock_ms();
        if (left <= 0 || wait_for(a, POLLOUT, (int)left) <= 0) {
            return cbx_fail(err, CBX_ETIMEDOUT, "the sandbox does not read its input");
        }
    }
}

/* Receives bytes of the connection until the deadline (-1 = no limit); 0 bytes at its end. */
static int receive_bytes(struct docker_attach *a, void *to, size_t size, int64_t deadline,
                         size_t *received, struct cbx_err *err)
{
    for (;;) {
        *received = 0;
        CURLcode code = receive_now(a, to, size, received);
        if (code == CURLE_OK) {
            a->received_ms = cbx_clock_ms();
            return 0;
        }
        if (code != CURLE_AGAIN) {
            return cbx_fail(err, CBX_EIO, "the connection to the sandbox is gone");
        }
        int64_t left = deadline < 0 ? -1 : deadline - cbx_clock_ms();
        if (deadline >= 0 && left <= 0) {
            return cbx_fail(err, CBX_ETIMEDOUT, "the sandbox did not answer in time");
        }
        wait_for(a, POLLIN, (int)left);
    }
}

/* Takes a part of a chunk from the pending bytes into the buffer: 1; 0 if none is left. */
static int take_pending(struct docker_attach *a, void *to, size_t size,
                        struct cbx_attach_bytes *out, struct cbx_err *err)
{
    struct cbx_str all = cbx_buf_str(&a->pending);
    struct cbx_str rest = cbx_str_sub(all, a->used, a->used + size);
    size_t offered = rest.len;
    int got = cbx_chunks_next(&a->chunks, &rest, out, err);
    a->used += offered - rest.len;
    if (got > 0) {
        memcpy(to, out->bytes.p, out->bytes.len);
        out->bytes.p = to;
    }
    if (a->used == a->pending.len) {
        cbx_buf_done(&a->pending);
        a->used = 0;
    }
    return got;
}

static int receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                   struct cbx_attach_bytes *out, struct cbx_err *err)
{
    struct docker_attach *a = stream_of(attach);
    int64_t deadline = timeout_ms < 0 ? -1 : cbx_clock_ms() + timeout_ms;
    *out = (struct cbx_attach_bytes){ 0 };
    for (;;) {
        int got = take_pending(a, to, size, out, err);
        if (got != 0) {
            return got < 0 ? got : 0;
        }
        size_t n = 0;
        int failed = receive_bytes(a, to, size, deadline, &n, err);
        if (failed || n == 0) {
            return failed;
        }
        struct cbx_str rest = { .p = to, .len = n };
        got = cbx_chunks_next(&a->chunks, &rest, out, err);
        if (got < 0) {
            return got;
        }
        if (cbx_buf_add(&a->pending, rest) != 0) {
            return cbx_fail(err, CBX_EPROTO, "the engine sent more bytes than there is room for");
        }
        if (got > 0) {
            return 0;
        }
    }
}

static int64_t silent_ms(struct cbx_attach *attach)
{
    struct docker_attach *a = stream_of(attach);
    struct tcp_info info = { 0 };
    socklen_t size = sizeof(info);
    bool given_up = getsockopt(a->socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                    info.tcpi_state == TCP_CLOSE;
    int64_t silent = cbx_clock_ms() - a->received_ms;
    return given_up && info.tcpi_last_ack_recv < silent ? info.tcpi_last_ack_recv : silent;
}

static void free_attach(struct cbx_attach *attach)
{
    struct docker_attach *a = stream_of(attach);
    if (a->curl == NULL && a->socket >= 0) {
        close(a->socket);
    }
    curl_easy_cleanup(a->curl);
    cbx_buf_done(&a->pending);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static const struct cbx_attach_ops ops = {
    .free = free_attach,
    .send_some = send_some,
    .receive = receive,
    .silent_ms = silent_ms,
};

/* --- the upgrade ------------------------------------------------------------------------------ */

/* Receives bytes of the response head, while the engine replies to pings. */
static int receive_head(struct cbx_docker *docker, struct docker_attach *a, char *to, size_t size,
                        size_t *received, struct cbx_err *err)
{
    int64_t began = cbx_clock_ms(), heard_ms = began;
    int failed = CBX_ETIMEDOUT;
    while (failed == CBX_ETIMEDOUT && cbx_clock_ms() - began < HEAD_TIMEOUT_MS) {
        failed = receive_bytes(a, to, size, cbx_clock_ms() + HEAD_POLL_MS, received, err);
        if (failed == CBX_ETIMEDOUT && cbx_engine_check(&docker->engine, &heard_ms, NULL) != 0) {
            return cbx_docker_silent(docker, err);
        }
    }
    if (failed || *received == 0) {
        return cbx_fail(err, CBX_EENGINE,
                        "the sandbox engine did not open the container's streams");
    }
    return 0;
}

/* Reads the response head; bytes after it stay in `pending`. */
static int read_head(struct cbx_docker *docker, struct docker_attach *a, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, HEAD_MAX);
    const char *end = NULL;
    while (end == NULL) {
        char chunk[4096];
        size_t n = 0;
        int failed = receive_head(docker, a, chunk, sizeof(chunk), &n, err);
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
    return cbx_buf_add_bytes(&a->pending, head.p + used, head.len - used);
}

/* A CURLOPT_CLOSESOCKETFUNCTION: libcurl does not close a socket that was taken over. */
static int close_unless_taken(void *context, curl_socket_t socket)
{
    const struct docker_attach *a = context;
    return a->curl == NULL ? 0 : close(socket);
}

/* Connects before any byte is sent, so the connection has no other state than the socket. */
static int connect_engine(struct cbx_docker *docker, const char *url, struct docker_attach *a,
                          struct cbx_err *err)
{
    curl_socket_t socket = -1;
    a->curl = cbx_docker_handle(docker);
    curl_easy_setopt(a->curl, CURLOPT_URL, url);
    curl_easy_setopt(a->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(a->curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(a->curl, CURLOPT_CLOSESOCKETFUNCTION, close_unless_taken);
    curl_easy_setopt(a->curl, CURLOPT_CLOSESOCKETDATA, a);
    CURLcode code = curl_easy_perform(a->curl);
    if (code != CURLE_OK ||
        curl_easy_getinfo(a->curl, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK) {
        return cbx_docker_unreachable(docker, code, "", err);
    }
    a->socket = socket;
    if (strncmp(url, "https:", 6) != 0) {
        fcntl(socket, F_SETFD, FD_CLOEXEC);
        curl_easy_cleanup(cbx_steal(&a->curl));
    }
    return 0;
}

int cbx_docker_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                      struct cbx_err *err)
{
    struct cbx_docker *docker = cbx_docker_of(engine);
    struct docker_attach *a = cbx_new(sizeof(*a));
    CBX_AUTO(attach) attach = &a->attach;
    attach->ops = &ops;
    a->socket = -1;
    cbx_buf_init(&a->pending, PENDING_MAX);
    pthread_mutex_init(&a->lock, NULL);
    char url[1024], path[160], request[1400];
    snprintf(path, sizeof(path), "/containers/%.64s/attach?stream=1&stdin=1&stdout=1&stderr=1", id);
    cbx_docker_url(docker, path, url, sizeof(url));
    int failed = connect_engine(docker, url, a, err);
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
    failed = read_head(docker, a, err);
    if (!failed) {
        *out = cbx_steal(&attach);
    }
    return failed;
}
