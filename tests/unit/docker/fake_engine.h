/* SPDX-License-Identifier: MIT
 * An engine in the test process: a thread that answers the Engine API on a Unix socket, and behind
 * each attached container a scripted supervisor. It records the requests; a test sets the answers
 * in `fake` before a call. Include it once. */
#ifndef CBX_TESTS_UNIT_DOCKER_FAKE_ENGINE_H
#define CBX_TESTS_UNIT_DOCKER_FAKE_ENGINE_H

#include "docker/engine/engine.h"
#include "docker/inside/wire/frame.h"
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
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { FAKE_CONTAINERS = 64, FAKE_CONNECTIONS = 512, FAKE_WAIT_MS = 20000 };

struct fake_container {
    char id[CBX_CONTAINER_ID_CHARS + 1];
    bool running, removed;
    int fd; /* the attached stream; -1 = none */
    char key[CBX_FRAME_KEY_BYTES];
    bool has_key;
    char tag[CBX_FRAME_TAG_MAX];
    size_t tag_len;
    char run_id[CBX_FRAME_ID_BYTES];
    struct cbx_frame_run run;
    struct cbx_buf payload; /* payload of the last RUN, after its head */
    struct cbx_buf log;     /* the output of the run, for FOLLOW */
    char received[256];     /* types of the frames that the host sent, oldest first */
    uint32_t lease_ms;      /* lease of the last ATTACH or LEASE */
    unsigned leases;        /* LEASE frames received */
    struct cbx_buf fed;     /* the input of the run, */
    int fed_end;            /* 0 = more may come; else 1 + the byte of FEED_END */
    char create_body[64 * 1024];
};

static struct {
    /* The answers. */
    bool away;      /* the engine closes every connection */
    bool no_chunks; /* output of a container has no headers: it is no Docker */
    bool image_missing, oom, no_hello, silent, keeps_removed, half_answer;
    int create_status, start_status, attach_status;   /* 0 = as it should */
    const char *info;                                 /* the answer to /info */
    uint32_t hello_version;                           /* 0 = the right one */
    const char *before_mark;                          /* sent before the answer to ATTACH */
    void (*on_run)(struct fake_container *container); /* NULL = prints "ok\n" and ends */
    bool warms;                                       /* WARM is answered by READY */
    bool mute;                                        /* PING is not answered; */
    bool no_answer;                                   /* nor are PUT, GET, LIST, DELETE, RESET */
    bool paused;                                      /* state of the containers */
    bool throttled;       /* its containers have used up their quota all the time */
    int periods;          /* how often it was asked for that */
    bool hung;            /* the engine accepts connections and sends nothing */
    uint32_t answer_code; /* code of its replies to PUT, GET, LIST, DELETE, RESET */
    struct cbx_str answer;
    /* The record. */
    char calls[4096]; /* "create attach start ", in order */
    struct fake_container containers[FAKE_CONTAINERS];
    int count;

    char folder[64], socket[96], host[128];
    int listening;
    pthread_t acceptor, threads[FAKE_CONNECTIONS];
    int fds[FAKE_CONNECTIONS], connections;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} fake;

static void fake_note(const char *what)
{
    size_t used = strlen(fake.calls);
    snprintf(fake.calls + used, sizeof(fake.calls) - used, "%s ", what);
    pthread_cond_broadcast(&fake.changed);
}

/* Waits until `condition` holds; it is evaluated with the fake engine's lock held. */
#define FAKE_AWAIT(condition)                                                                      \
    do {                                                                                           \
        pthread_mutex_lock(&fake.lock);                                                            \
        bool in_time_ = true;                                                                      \
        while (!(condition) && in_time_) {                                                         \
            in_time_ = cbx_cond_wait_ms(&fake.changed, &fake.lock, FAKE_WAIT_MS);                  \
        }                                                                                          \
        pthread_mutex_unlock(&fake.lock);                                                          \
        if (!in_time_) {                                                                           \
            fail_msg("never happened: %s; calls: %s", #condition, fake.calls);                     \
        }                                                                                          \
    } while (0)

/* How many frames of this type a container has received. */
__attribute__((unused)) static int fake_received(const struct fake_container *c, uint8_t type)
{
    int count = 0;
    pthread_mutex_lock(&fake.lock);
    for (const char *at = c->received; *at != '\0'; at++) {
        count += (uint8_t)*at == type;
    }
    pthread_mutex_unlock(&fake.lock);
    return count;
}

/* --- the supervisor in a container ------------------------------------------------------------ */

static bool fake_read(int fd, void *to, size_t len)
{
    for (char *p = to; len > 0;) {
        ssize_t n = read(fd, p, len);
        if (n <= 0) {
            return false;
        }
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static void fake_write(int fd, const void *bytes, size_t len)
{
    for (const char *p = bytes; len > 0;) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return;
        }
        p += n;
        len -= (size_t)n;
    }
}

/* Sends output of a container as the engine does. */
static void fake_stream(struct fake_container *c, const void *bytes, size_t len)
{
    uint8_t head[8] = {
        1, 0, 0, 0, (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len
    };
    if (c->fd >= 0) {
        fake_write(c->fd, head, fake.no_chunks ? 0 : sizeof(head));
        fake_write(c->fd, bytes, len);
    }
}

static void fake_frame(struct cbx_buf *to, uint8_t type, const void *payload, size_t len)
{
    uint32_t bytes = (uint32_t)len;
    cbx_buf_add_char(to, (char)type);
    cbx_buf_add_bytes(to, &bytes, sizeof(bytes));
    cbx_buf_add_bytes(to, payload, len);
}

static void fake_send(struct fake_container *c, uint8_t type, const void *payload, size_t len)
{
    CBX_AUTO_DONE(buf) frame;
    cbx_buf_init(&frame, 1 << 20);
    fake_frame(&frame, type, payload, len);
    fake_stream(c, frame.p, frame.len);
}

/* A frame of the run: sent now, and again for FOLLOW. */
static void fake_say(struct fake_container *c, uint8_t type, const void *payload, size_t len)
{
    fake_frame(&c->log, type, payload, len);
    fake_send(c, type, payload, len);
}

static void fake_end_run(struct fake_container *c, uint32_t status, int32_t code)
{
    struct cbx_frame_done done = { .status = status, .exit_code = code, .duration_ms = 7 };
    fake_say(c, CBX_FRAME_DONE, &done, sizeof(done));
}

static void fake_hello(struct fake_container *c, const char *nonce)
{
    struct cbx_frame_hello hello = {
        .version = fake.hello_version != 0 ? fake.hello_version : CBX_FRAME_VERSION,
        .run = c->run_id[0] != '\0' ? CBX_HELLO_ENDED : CBX_HELLO_IDLE
    };
    char mark[CBX_FRAME_MARK_BYTES];
    CBX_AUTO_DONE(buf) payload;
    cbx_buf_init(&payload, 8192);
    memcpy(hello.id, c->run_id, sizeof(hello.id));
    cbx_buf_add_bytes(&payload, &hello, sizeof(hello));
    cbx_buf_add_bytes(&payload, c->tag, c->tag_len);
    memcpy(mark, c->key, sizeof(c->key));
    memcpy(mark + sizeof(c->key), nonce, CBX_FRAME_NONCE_BYTES);
    if (fake.before_mark != NULL) {
        fake_stream(c, fake.before_mark, strlen(fake.before_mark));
    }
    fake_stream(c, mark, sizeof(mark));
    fake_send(c, CBX_FRAME_HELLO, payload.p, payload.len);
}

static void fake_answer(struct fake_container *c)
{
    CBX_AUTO_DONE(buf) payload;
    cbx_buf_init(&payload, 1 << 20);
    cbx_buf_add_bytes(&payload, &fake.answer_code, sizeof(fake.answer_code));
    cbx_buf_add(&payload, fake.answer);
    fake_send(c, CBX_FRAME_ANSWER, payload.p, fake.half_answer ? 3 : payload.len);
}

static void fake_run(struct fake_container *c, const char *payload, size_t len)
{
    memcpy(&c->run, payload, sizeof(c->run));
    memcpy(c->run_id, c->run.id, sizeof(c->run_id));
    cbx_buf_reset(&c->payload);
    cbx_buf_add_bytes(&c->payload, payload + sizeof(c->run), len - sizeof(c->run));
    cbx_buf_reset(&c->log);
    if (fake.on_run != NULL) {
        fake.on_run(c);
        return;
    }
    fake_say(c, CBX_FRAME_STDOUT, "ok\n", 3);
    fake_end_run(c, CBX_DONE_ENDED, 0);
}

/* False when the sandbox ends itself. */
static bool fake_take(struct fake_container *c, uint8_t type, const char *payload, size_t len)
{
    size_t n = strlen(c->received);
    if (n + 1 < sizeof(c->received)) {
        c->received[n] = (char)type;
    }
    switch (type) {
    case CBX_FRAME_ATTACH:
        assert_int_equal(len, CBX_FRAME_ATTACH_BYTES);
        memcpy(&c->lease_ms, payload + CBX_FRAME_NONCE_BYTES, sizeof(c->lease_ms));
        if (!fake.no_hello) {
            fake_hello(c, payload);
        }
        return !fake.no_hello || fake.silent;
    case CBX_FRAME_LEASE:
        memcpy(&c->lease_ms, payload, sizeof(c->lease_ms));
        c->leases++;
        return c->lease_ms != 0;
    case CBX_FRAME_TAG:
        memcpy(c->tag, payload, len);
        c->tag_len = len;
        return true;
    case CBX_FRAME_RUN:
        fake_run(c, payload, len);
        return c->running;
    case CBX_FRAME_FOLLOW:
        fake_stream(c, c->log.p, c->log.len);
        return true;
    case CBX_FRAME_ACK:
        c->run_id[0] = '\0';
        return true;
    case CBX_FRAME_INTERRUPT:
        fake_end_run(c, CBX_DONE_KILLED, -1);
        return true;
    case CBX_FRAME_WARM:
        if (fake.warms) {
            fake_send(c, CBX_FRAME_READY, NULL, 0);
        }
        return true;
    case CBX_FRAME_INPUT:
        return true;
    case CBX_FRAME_PING:
        if (!fake.mute) {
            fake_send(c, CBX_FRAME_PONG, NULL, 0);
        }
        return true;
    case CBX_FRAME_FEED:
        cbx_buf_add_bytes(&c->fed, payload, len);
        return true;
    case CBX_FRAME_FEED_END:
        c->fed_end = 1 + payload[0];
        return true;
    default:
        if (!fake.no_answer) {
            fake_answer(c);
        }
        return true;
    }
}

static void fake_supervise(struct fake_container *c, int fd)
{
    uint8_t head[CBX_FRAME_HEAD_BYTES];
    char key[CBX_FRAME_KEY_BYTES];
    uint32_t len;
    bool lives = fake_read(fd, key, sizeof(key));
    memcpy(c->key, key, sizeof(key));
    while (lives && fake_read(fd, head, sizeof(head))) {
        memcpy(&len, head + 1, sizeof(len));
        char *payload = calloc(1, len + 1);
        if (fake_read(fd, payload, len)) {
            pthread_mutex_lock(&fake.lock);
            lives = fake_take(c, head[0], payload, len);
            pthread_cond_broadcast(&fake.changed);
            pthread_mutex_unlock(&fake.lock);
        }
        free(payload);
    }
    shutdown(fd, SHUT_RDWR); /* before the change, which wakes readers of the stream */
    pthread_mutex_lock(&fake.lock);
    c->running = c->running && lives;
    c->fd = -1;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

/* --- the Engine API --------------------------------------------------------------------------- */

static struct fake_container *fake_find(const char *path)
{
    const char *id = strstr(path, "/containers/");
    for (int i = 0; id != NULL && i < fake.count; i++) {
        if (strncmp(id + 12, fake.containers[i].id, CBX_CONTAINER_ID_CHARS) == 0) {
            return &fake.containers[i];
        }
    }
    return NULL;
}

/* Sends head and body in one piece, so that a reader of the head has the body as well. */
static void fake_reply(int fd, int status, const char *body)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_buf_printf(&text,
                   "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: "
                   "%zu\r\n\r\n%s",
                   status, strlen(body), body);
    fake_write(fd, text.p, text.len);
}

#define FAKE_SECRET "/var/lib/engine/secret"

static void fake_refuse(int fd, int status)
{
    fake_reply(fd, status, "{\"message\":\"no such thing in " FAKE_SECRET "\"}");
}

static void fake_create(int fd, const char *body)
{
    char answer[128];
    fake_note("create");
    if (fake.create_status != 0) {
        fake_refuse(fd, fake.create_status);
        return;
    }
    struct fake_container *c = &fake.containers[fake.count++];
    snprintf(c->id, sizeof(c->id), "%064x", 0xabc000 + fake.count);
    snprintf(c->create_body, sizeof(c->create_body), "%s", body);
    c->fd = -1;
    cbx_buf_init(&c->payload, 1 << 24);
    cbx_buf_init(&c->log, 1 << 24);
    cbx_buf_init(&c->fed, 1 << 25);
    snprintf(answer, sizeof(answer), "{\"Id\":\"%s\"}", c->id);
    fake_reply(fd, 201, answer);
}

static void fake_list(int fd)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_buf_add_char(&text, '[');
    const char *comma = "";
    for (int i = 0; i < fake.count; i++) {
        const struct fake_container *c = &fake.containers[i];
        if (!c->removed) {
            cbx_buf_printf(&text, "%s{\"Id\":\"%s\",\"State\":\"%s\",\"Created\":%d}", comma, c->id,
                           c->running ? "running" : "exited", 1000 + i);
            comma = ",";
        }
    }
    cbx_buf_add_char(&text, ']');
    fake_reply(fd, 200, text.p);
}

static void fake_serve_container(int fd, const char *method, const char *path,
                                 struct fake_container *c)
{
    char state[128];
    if (c == NULL || c->removed) {
        fake_refuse(fd, 404);
    } else if (strcmp(method, "DELETE") == 0) {
        fake_note("remove");
        c->removed = !fake.keeps_removed;
        c->running = false;
        if (c->fd >= 0) {
            shutdown(c->fd, SHUT_RDWR);
        }
        fake_reply(fd, fake.keeps_removed ? 409 : 204, "");
    } else if (strstr(path, "/start") != NULL) {
        fake_note("start");
        c->running = fake.start_status == 0;
        if (c->running) {
            fake_reply(fd, 204, "");
        } else {
            fake_refuse(fd, fake.start_status);
        }
    } else if (strstr(path, "/stats") != NULL) {
        fake.periods += fake.throttled;
        snprintf(state, sizeof(state),
                 "{\"cpu_stats\":{\"throttling_data\":{\"throttled_periods\":%d}}}", fake.periods);
        pthread_cond_broadcast(&fake.changed);
        fake_reply(fd, 200, state);
    } else {
        fake_note("inspect");
        snprintf(state, sizeof(state),
                 "{\"State\":{\"Running\":%s,\"Paused\":%s,\"OOMKilled\":%s,\"ExitCode\":0}}",
                 c->running ? "true" : "false", fake.paused ? "true" : "false",
                 fake.oom ? "true" : "false");
        fake_reply(fd, 200, state);
    }
}

static void fake_serve(int fd, const char *method, const char *path, const char *body)
{
    if (strstr(path, "/_ping") != NULL) {
        fake_reply(fd, 200, "OK");
    } else if (strcmp(path, "/version") == 0) {
        fake_reply(fd, 200, "{\"ApiVersion\":\"1.41\",\"Version\":\"20.10.24\"}");
    } else if (strstr(path, "/info") != NULL) {
        fake_reply(fd, 200, fake.info != NULL ? fake.info : "{}");
    } else if (strstr(path, "/images/") != NULL && fake.image_missing) {
        fake_refuse(fd, 404);
    } else if (strstr(path, "/images/") != NULL) {
        char id[128];
        snprintf(id, sizeof(id), "{\"Id\":\"sha256:%064x\"}", 0xfeed);
        fake_reply(fd, 200, id);
    } else if (strstr(path, "/containers/create") != NULL) {
        fake_create(fd, body);
    } else if (strstr(path, "/containers/json") != NULL) {
        fake_list(fd);
    } else {
        fake_serve_container(fd, method, path, fake_find(path));
    }
}

/* Reads one request; false at the end of the connection. */
static bool fake_read_request(int fd, char method[16], char path[1024], char **body)
{
    char head[16384];
    size_t n = 0;
    while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
        if (n + 1 >= sizeof(head) || !fake_read(fd, head + n, 1)) {
            return false;
        }
        head[++n] = '\0';
    }
    const char *length = strcasestr(head, "content-length:");
    size_t len = length != NULL ? strtoul(length + 15, NULL, 10) : 0;
    *body = calloc(1, len + 1);
    return sscanf(head, "%15s %1023s", method, path) == 2 && fake_read(fd, *body, len);
}

static void *fake_connection(void *context)
{
    int fd = *(int *)context;
    char method[16], path[1024], *body = NULL;
    while (fake_read_request(fd, method, path, &body)) {
        pthread_mutex_lock(&fake.lock);
        struct fake_container *attach = strstr(path, "/attach") != NULL ? fake_find(path) : NULL;
        if (attach != NULL) {
            fake_note("attach");
        }
        if (fake.away) {
            pthread_mutex_unlock(&fake.lock);
            shutdown(fd, SHUT_RDWR);
            break;
        }
        if (fake.hung) {
            pthread_mutex_unlock(&fake.lock);
            free(body);
            body = NULL;
            continue;
        }
        if (attach != NULL && fake.attach_status == 0 && !attach->removed) {
            attach->fd = fd;
            fake_write(fd, "HTTP/1.1 101 UPGRADED\r\n\r\n", 25);
            pthread_mutex_unlock(&fake.lock);
            fake_supervise(attach, fd);
            break;
        }
        if (attach != NULL) {
            fake_refuse(fd, fake.attach_status != 0 ? fake.attach_status : 404);
        } else {
            fake_serve(fd, method, path, body);
        }
        pthread_mutex_unlock(&fake.lock);
        free(body);
        body = NULL;
    }
    free(body);
    return NULL;
}

static void *fake_accept(void *context)
{
    (void)context;
    int fd;
    while ((fd = accept(fake.listening, NULL, NULL)) >= 0) {
        pthread_mutex_lock(&fake.lock);
        int i = fake.connections++;
        fake.fds[i] = fd;
        pthread_create(&fake.threads[i], NULL, fake_connection, &fake.fds[i]);
        pthread_mutex_unlock(&fake.lock);
    }
    return NULL;
}

static void fake_listen(int family, const void *address, socklen_t size)
{
    fake.listening = socket(family, SOCK_STREAM, 0);
    assert_int_equal(bind(fake.listening, address, size), 0);
    assert_int_equal(listen(fake.listening, 64), 0);
    pthread_create(&fake.acceptor, NULL, fake_accept, NULL);
}

static void fake_init(void)
{
    memset(&fake, 0, sizeof(fake));
    pthread_mutex_init(&fake.lock, NULL);
    cbx_cond_init(&fake.changed);
}

/* Starts it on a port of this host. */
static inline struct sockaddr_in fake_start_tcp(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    fake_init();
    fake_listen(AF_INET, &address, size);
    assert_int_equal(getsockname(fake.listening, (struct sockaddr *)&address, &size), 0);
    snprintf(fake.host, sizeof(fake.host), "tcp://127.0.0.1:%d", ntohs(address.sin_port));
    return address;
}

/* Starts it; its address is in fake.host. */
static inline void fake_start(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    fake_init();
    snprintf(fake.folder, sizeof(fake.folder), "/tmp/cbx-engine-XXXXXX");
    assert_non_null(mkdtemp(fake.folder));
    snprintf(fake.socket, sizeof(fake.socket), "%s/engine.sock", fake.folder);
    snprintf(fake.host, sizeof(fake.host), "unix://%s", fake.socket);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", fake.socket);
    fake_listen(AF_UNIX, &address, sizeof(address));
}

/* Ends all of its threads. */
static inline void fake_stop(void)
{
    shutdown(fake.listening, SHUT_RDWR);
    pthread_join(fake.acceptor, NULL);
    for (int i = 0; i < fake.connections; i++) {
        shutdown(fake.fds[i], SHUT_RDWR);
        pthread_join(fake.threads[i], NULL);
        close(fake.fds[i]);
    }
    for (int i = 0; i < fake.count; i++) {
        cbx_buf_done(&fake.containers[i].payload);
        cbx_buf_done(&fake.containers[i].log);
        cbx_buf_done(&fake.containers[i].fed);
    }
    close(fake.listening);
    if (fake.socket[0] != '\0') {
        unlink(fake.socket);
        rmdir(fake.folder);
    }
    pthread_cond_destroy(&fake.changed);
    pthread_mutex_destroy(&fake.lock);
}

#endif
