/* SPDX-License-Identifier: MIT
 * The attached streams of a container: an upgraded HTTP connection. libcurl connects (with TLS);
 * this file writes the request and reads and writes all bytes after it. */
#include "docker/engine_http.h"
#include "policies/base/buf.h"
#include "policies/base/clock.h"
#include "policies/base/str.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 16 * 1024, ATTACH_TIMEOUT_MS = 10000 };

struct cbx_attach {
    CURL *curl;
    curl_socket_t socket;
    pthread_mutex_t lock;   /* a libcurl handle must not be used by two threads at once */
    struct cbx_buf pending; /* bytes after the response head */
    int64_t received_ms;    /* when bytes last arrived */
};

static int wait_for(struct cbx_attach *attach, short events, int timeout_ms)
{
    struct pollfd ready = { .fd = attach->socket, .events = events };
    int n;
    while ((n = poll(&ready, 1, timeout_ms)) < 0 && errno == EINTR) {
    }
    return n;
}

int cbx_attach_send(struct cbx_attach *attach, const void *bytes, size_t len, struct cbx_err *err)
{
    const char *p = bytes;
    while (len > 0) {
        size_t sent = 0;
        pthread_mutex_lock(&attach->lock);
        CURLcode code = curl_easy_send(attach->curl, p, len, &sent);
        pthread_mutex_unlock(&attach->lock);
        if (code == CURLE_AGAIN) {
            if (wait_for(attach, POLLOUT, ATTACH_TIMEOUT_MS) <= 0) {
                return cbx_fail(err, CBX_EIO, "the sandbox does not read its input");
            }
            continue;
        }
        if (code != CURLE_OK) {
            return cbx_fail(err, CBX_EIO, "the connection to the sandbox is gone");
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
    int64_t deadline = cbx_clock_ms() + timeout_ms;
    for (;;) {
        *received = 0;
        pthread_mutex_lock(&attach->lock);
        CURLcode code = curl_easy_recv(attach->curl, to, size, received);
        pthread_mutex_unlock(&attach->lock);
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

/* Reads the response head; bytes after it stay in `pending`. */
static int read_head(struct cbx_attach *attach, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, HEAD_MAX);
    const char *end = NULL;
    while (end == NULL) {
        char chunk[4096];
        size_t n = 0;
        int failed = cbx_attach_receive(attach, chunk, sizeof(chunk), ATTACH_TIMEOUT_MS, &n, err);
        if (failed || n == 0 || cbx_buf_add_bytes(&head, chunk, n) != 0) {
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
    return cbx_buf_add_bytes(&attach->pending, head.p + used, head.len - used);
}

int cbx_engine_container_attach(struct cbx_engine *engine, const char *id, struct cbx_attach **out,
                                struct cbx_err *err)
{
    CBX_AUTO(attach) attach = calloc(1, sizeof(*attach));
    if (attach == NULL) {
        abort();
    }
    cbx_buf_init(&attach->pending, HEAD_MAX);
    pthread_mutex_init(&attach->lock, NULL);
    attach->curl = cbx_engine_handle(engine);
    char url[1024], path[160], request[1400];
    snprintf(path, sizeof(path), "/containers/%.64s/attach?stream=1&stdin=1&stdout=1&stderr=1", id);
    cbx_engine_url(engine, path, url, sizeof(url));
    curl_easy_setopt(attach->curl, CURLOPT_URL, url);
    curl_easy_setopt(attach->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(attach->curl, CURLOPT_FRESH_CONNECT, 1L);
    CURLcode code = curl_easy_perform(attach->curl);
    if (code != CURLE_OK ||
        curl_easy_getinfo(attach->curl, CURLINFO_ACTIVESOCKET, &attach->socket) != CURLE_OK) {
        return cbx_engine_unreachable(engine, code, "", err);
    }
    const char *target = strstr(url, "://");
    target = target != NULL ? strchr(target + 3, '/') : NULL;
    snprintf(request, sizeof(request),
             "POST %s HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: "
             "tcp\r\nContent-Length: 0\r\n\r\n",
             target != NULL ? target : "/");
    int failed = cbx_attach_send(attach, request, strlen(request), err);
    failed = failed ? failed : read_head(attach, err);
    if (!failed) {
        *out = cbx_steal(&attach);
    }
    return failed;
}

void cbx_attach_free(struct cbx_attach *attach)
{
    if (attach != NULL) {
        curl_easy_cleanup(attach->curl);
        cbx_buf_done(&attach->pending);
        pthread_mutex_destroy(&attach->lock);
        free(attach);
    }
}
