/* SPDX-License-Identifier: MIT
 * A server on a free loopback port, and a client of blocking sockets that reads HTTP/1.1 responses.
 * Include it once. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_HTTP_RIG_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_HTTP_RIG_H

#include "gateway/front/http/http_server.h"
#include "policies/base/buf.h"
#include "policies/base/time/deadline.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RIG_BODY_MAX = 1000, RIG_WAIT_MS = 20000, RIG_RESPONSE_MAX = 64 * 1024 * 1024 };

static struct {
    struct cbx_http_server *server;
    uint16_t port;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} rig = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Waits until `condition` holds; it is evaluated with the rig's lock held. */
#define RIG_AWAIT(condition)                                                                       \
    do {                                                                                           \
        pthread_mutex_lock(&rig.lock);                                                             \
        bool in_time_ = true;                                                                      \
        while (!(condition) && in_time_) {                                                         \
            in_time_ = cbx_cond_wait_ms(&rig.changed, &rig.lock, RIG_WAIT_MS);                     \
        }                                                                                          \
        pthread_mutex_unlock(&rig.lock);                                                           \
        if (!in_time_) {                                                                           \
            fail_msg("never happened: %s", #condition);                                            \
        }                                                                                          \
    } while (0)

/* Runs a statement with the rig's lock held, and wakes RIG_AWAIT. */
#define RIG_SET(statement)                                                                         \
    do {                                                                                           \
        pthread_mutex_lock(&rig.lock);                                                             \
        statement;                                                                                 \
        pthread_cond_broadcast(&rig.changed);                                                      \
        pthread_mutex_unlock(&rig.lock);                                                           \
    } while (0)

static inline void rig_refuse(int status, const char *detail, struct cbx_http_response *out)
{
    out->status = status;
    out->json = json_pack("{s:s}", "detail", detail);
}

/* Zero is the default of a limit. */
static inline void rig_start_limited(cbx_http_handler *handler, int threads,
                                     struct cbx_http_limits limits)
{
    static const char *const reserved[] = { "/healthz", NULL };
    struct cbx_err err;
    cbx_cond_init(&rig.changed);
    int listening = cbx_http_listen("127.0.0.1", 0, &rig.port, &err);
    assert_true(listening >= 0);
    struct cbx_http_config config = { .listening = listening,
                                      .port = rig.port,
                                      .max_body_bytes = RIG_BODY_MAX,
                                      .threads = threads,
                                      .reserved_paths = reserved,
                                      .limits = limits,
                                      .handler = handler,
                                      .refuse = rig_refuse };
    assert_int_equal(cbx_http_server_new(&config, &rig.server, &err), 0);
    assert_int_equal(cbx_http_server_port(rig.server), rig.port);
}

static inline void rig_start(cbx_http_handler *handler, int threads)
{
    rig_start_limited(handler, threads, (struct cbx_http_limits){ 0 });
}

static inline void rig_stop(void)
{
    cbx_http_server_free(cbx_steal(&rig.server));
    pthread_cond_destroy(&rig.changed);
}

/* --- the client ------------------------------------------------------------------------------- */

static inline int client_connect(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(rig.port),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    struct timeval wait = { .tv_sec = RIG_WAIT_MS / 1000 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* False when the server has closed the connection. */
static inline bool client_send(int fd, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return false;
        }
        text += n;
        len -= (size_t)n;
    }
    return true;
}

/* A request that has a Host and nothing else. */
static inline bool client_send_line(int fd, const char *line)
{
    char text[256];
    snprintf(text, sizeof(text), "%s\r\nHost: 127.0.0.1:%u\r\n\r\n", line, rig.port);
    return client_send(fd, text);
}

/* A request with a body of its length; `fields` are more header lines, each with its line end. */
static inline void client_request(int fd, const char *line, const char *fields, const char *body)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_buf_printf(&text, "%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: %zu\r\n%s\r\n%s",
                   line, rig.port, strlen(body), fields, body);
    assert_true(client_send(fd, text.p));
}

static inline void client_get(int fd, const char *path)
{
    char line[128];
    snprintf(line, sizeof(line), "GET %s", path);
    client_request(fd, line, "", "");
}

struct response {
    int status;      /* 0: the connection ended before the response was complete */
    char head[8192]; /* status line and header fields */
    struct cbx_buf body;
};

static inline void drop_response(struct response *r)
{
    cbx_buf_done(&r->body);
}
#define RESPONSE(name)                                                                             \
    __attribute__((cleanup(drop_response))) struct response name = { 0 };                          \
    cbx_buf_init(&name.body, RIG_RESPONSE_MAX)

static inline bool receive_bytes(int fd, struct cbx_buf *to, size_t len)
{
    char chunk[16384];
    while (len > 0) {
        ssize_t n = recv(fd, chunk, len < sizeof(chunk) ? len : sizeof(chunk), 0);
        if (n <= 0) {
            return false;
        }
        cbx_buf_add_bytes(to, chunk, (size_t)n);
        len -= (size_t)n;
    }
    return true;
}

/* Bytes up to and with `end`, terminated. */
static inline bool receive_until(int fd, const char *end, char *to, size_t size)
{
    size_t n = 0, len = strlen(end);
    while (n < len || memcmp(to + n - len, end, len) != 0) {
        if (n + 1 >= size || recv(fd, to + n, 1, 0) != 1) {
            return false;
        }
        to[++n] = '\0';
    }
    return true;
}

static inline bool receive_chunks(int fd, struct cbx_buf *to)
{
    char line[64], end[2];
    for (;;) {
        if (!receive_until(fd, "\r\n", line, sizeof(line))) {
            return false;
        }
        size_t len = strtoul(line, NULL, 16);
        if (!receive_bytes(fd, to, len) || recv(fd, end, 2, MSG_WAITALL) != 2) {
            return false;
        }
        if (len == 0) {
            return true;
        }
    }
}

/* The head of a response; false when the connection ended before. */
static inline bool client_receive_head(int fd, struct response *r)
{
    r->status = 0;
    r->head[0] = '\0';
    cbx_buf_reset(&r->body);
    if (!receive_until(fd, "\r\n\r\n", r->head, sizeof(r->head))) {
        return false;
    }
    r->status = (int)strtol(r->head + strlen("HTTP/1.1 "), NULL, 10);
    return true;
}

/* Reads one response; its status is 0 when the connection ends before. */
static inline void client_receive(int fd, struct response *r)
{
    if (!client_receive_head(fd, r)) {
        return;
    }
    const char *length = strcasestr(r->head, "\r\nContent-Length: ");
    bool chunked = strcasestr(r->head, "\r\nTransfer-Encoding: chunked") != NULL;
    bool whole =
        chunked ? receive_chunks(fd, &r->body)
                : receive_bytes(fd, &r->body, length != NULL ? strtoul(length + 18, NULL, 10) : 0);
    r->status = whole ? r->status : 0;
}

static inline bool client_is_closed(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);
    return n == 0 || (n < 0 && errno == ECONNRESET);
}

#endif
