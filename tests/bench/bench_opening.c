/* SPDX-License-Identifier: MIT
 * The cost of an open session for the executor, with thousands of them: processor time to open one,
 * descriptors, memory. Pool, table of sessions and engine client are the executor's; the engine is
 * a process of this program that responds at once, so its time does not count. The baseline is the
 * same run with few sessions.
 * Usage: bench_opening [scale]; with `scale` few are 100, and the parts of the budget have a line
 * each. */
#include "docker/inside/wire/frame.h"
#include "docker/pool/pool.h"
#include "gateway/executor/sessions/sessions.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SESSIONS = 5000, FEW = 10, HUNDRED = 100, TIMED = 200, DESCRIPTORS = 2 * SESSIONS };

/* --- the engine ------------------------------------------------------------------------------- */

enum { REQUEST_MAX = 128 * 1024 };

struct connection {
    int fd;
    bool attached, has_key;
    char key[CBX_FRAME_KEY_BYTES];
    size_t len;
    char *bytes; /* NULL between requests */
};

static void reply(const struct connection *c, const void *bytes, size_t len)
{
    if (send(c->fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len) {
        exit(1);
    }
}

static void answer(const struct connection *c, int status, const char *body)
{
    char text[512];
    int n = snprintf(text, sizeof(text), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n\r\n%s", status,
                     strlen(body), body);
    reply(c, text, (size_t)n);
}

/* Returns the length of the request; 0 when it is not complete. */
static size_t serve_request(struct connection *c)
{
    static int created;
    char id[128];
    char *end = memmem(c->bytes, c->len, "\r\n\r\n", 4);
    if (end == NULL) {
        return 0;
    }
    *end = '\0';
    const char *length = strcasestr(c->bytes, "content-length:");
    size_t whole = (size_t)(end - c->bytes) + 4 +
                   (length != NULL ? strtoul(length + sizeof("content-length:") - 1, NULL, 10) : 0);
    if (c->len < whole) {
        *end = '\r';
        return 0;
    }
    if (strstr(c->bytes, "/attach") != NULL) {
        c->attached = true;
        reply(c, "HTTP/1.1 101 UPGRADED\r\n\r\n", 25);
    } else if (strstr(c->bytes, " /version") != NULL) {
        answer(c, 200, "{\"ApiVersion\":\"1.41\",\"Version\":\"20.10.24\"}");
    } else if (strstr(c->bytes, "/images/") != NULL) {
        snprintf(id, sizeof(id), "{\"Id\":\"sha256:%064x\"}", 1);
        answer(c, 200, id);
    } else if (strstr(c->bytes, "/create") != NULL) {
        snprintf(id, sizeof(id), "{\"Id\":\"%064x\"}", ++created);
        answer(c, 201, id);
    } else {
        answer(c, 204, "");
    }
    return whole;
}

static void send_hello(const struct connection *c, const char *nonce)
{
    struct __attribute__((packed)) {
        uint8_t chunk[8];
        char key[CBX_FRAME_KEY_BYTES], nonce[CBX_FRAME_NONCE_BYTES];
        uint8_t type;
        uint32_t len;
        struct cbx_frame_hello hello;
    } out = { .chunk = { 1, 0, 0, 0, 0, 0, 0, sizeof(out) - sizeof(out.chunk) },
              .type = CBX_FRAME_HELLO,
              .len = sizeof(out.hello),
              .hello = { .version = CBX_FRAME_VERSION } };
    _Static_assert(sizeof(out) - sizeof(out.chunk) < 256, "one byte holds its length");
    memcpy(out.key, c->key, sizeof(out.key));
    memcpy(out.nonce, nonce, sizeof(out.nonce));
    reply(c, &out, sizeof(out));
}

/* Returns the length of the key, or of the first frame; 0 when it is not complete. */
static size_t serve_frame(struct connection *c)
{
    uint32_t len;
    if (!c->has_key && c->len >= sizeof(c->key)) {
        memcpy(c->key, c->bytes, sizeof(c->key));
        c->has_key = true;
        return sizeof(c->key);
    }
    if (!c->has_key || c->len < CBX_FRAME_HEAD_BYTES) {
        return 0;
    }
    memcpy(&len, c->bytes + 1, sizeof(len));
    if (c->len - CBX_FRAME_HEAD_BYTES < len) {
        return 0;
    }
    if (c->bytes[0] == CBX_FRAME_ATTACH) {
        send_hello(c, c->bytes + CBX_FRAME_HEAD_BYTES);
    } else if (c->bytes[0] == CBX_FRAME_PING) {
        static const char pong[] = { 1, 0, 0, 0, 0, 0, 0, CBX_FRAME_HEAD_BYTES, CBX_FRAME_PONG,
                                     0, 0, 0, 0 };
        reply(c, pong, sizeof(pong));
    }
    return CBX_FRAME_HEAD_BYTES + len;
}

/* False at the end of the connection. */
static bool serve(struct connection *c)
{
    if (c->bytes == NULL && (c->bytes = malloc(REQUEST_MAX + 1)) == NULL) {
        exit(1);
    }
    ssize_t n = recv(c->fd, c->bytes + c->len, REQUEST_MAX - c->len, 0);
    if (n <= 0) {
        return false;
    }
    c->len += (size_t)n;
    c->bytes[c->len] = '\0';
    size_t used;
    while ((used = c->attached ? serve_frame(c) : serve_request(c)) > 0) {
        memmove(c->bytes, c->bytes + used, c->len - used + 1);
        c->len -= used;
    }
    if (c->len == 0) {
        free(c->bytes);
        c->bytes = NULL;
    }
    return true;
}

static void watch(int queue, int fd)
{
    struct connection *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        exit(1);
    }
    c->fd = fd;
    epoll_ctl(queue, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN, .data.ptr = c });
}

static _Noreturn void serve_engine(int listening)
{
    int queue = epoll_create1(0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    watch(queue, listening);
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(queue, &event, 1, -1) != 1) {
            continue;
        }
        struct connection *c = event.data.ptr;
        if (c->fd == listening) {
            watch(queue, accept(listening, NULL, NULL));
        } else if (!serve(c)) {
            close(c->fd);
            free(c->bytes);
            free(c);
        }
    }
}

/* --- the executor ----------------------------------------------------------------------------- */

static double processor_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

static double memory_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1) {
        exit(1);
    }
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static int count_entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static void discard(void *pool, struct cbx_sandbox *sandbox)
{
    cbx_pool_discard(pool, sandbox);
}

static void open_session(struct cbx_pool *pool, struct cbx_sessions *sessions, int number)
{
    struct cbx_err err = { 0 };
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_permit permit = { .decision = "d",
                                 .principal = "bench",
                                 .policy = "strict",
                                 .language = "ipython",
                                 .action = CBX_ACTION_OPEN };
    cbx_limits_default(&permit.limits);
    snprintf(permit.session, sizeof(permit.session), "session-%d", number);
    if (cbx_sessions_reserve(sessions, &permit, &err) != 0 ||
        cbx_pool_take(pool, &permit, NULL, NULL, &sandbox, &err) != 0) {
        fprintf(stderr, "session %d: %s: %s\n", number, err.text, err.detail);
        exit(1);
    }
    cbx_sessions_fill(sessions, permit.session, sandbox);
}

/* Received data of a session needs no memory afterwards. */
static void use_session(struct cbx_sessions *sessions, int number)
{
    struct cbx_session *session;
    struct cbx_err err = { 0 };
    char id[32];
    snprintf(id, sizeof(id), "session-%d", number);
    if (cbx_sessions_enter(sessions, id, "bench", &session, &err) != 0 ||
        !cbx_sandbox_ping(cbx_session_sandbox(session))) {
        fprintf(stderr, "session %d does not answer: %s\n", number, err.text);
        exit(1);
    }
    cbx_sessions_leave(sessions, session);
}

/* Opens sessions until there are `count`; returns the processor time of one in ms. */
static double open_until(struct cbx_pool *pool, struct cbx_sessions *sessions, int *open, int count)
{
    double began = processor_ms();
    int first = *open;
    while (*open < count) {
        open_session(pool, sessions, (*open)++);
    }
    return (processor_ms() - began) / (count - first);
}

struct costs {
    double few_ms, many_ms;                   /* processor time to open one */
    double few_descriptors, many_descriptors; /* of each session */
    double few_kib, many_kib;                 /* of each session */
    int threads;                              /* for all */
};

/* Opens `few` sessions, TIMED further ones, and the rest; the costs of few are of the first two
 * groups, as the first sessions also allocate what all of them share. */
static struct costs measure(const char *host, int few)
{
    struct cbx_engine *engine;
    struct cbx_err err = { 0 };
    struct costs c;
    const struct cbx_sandbox_config config = { .instance = "bench", .secret = "secret" };
    if (cbx_engine_new(host, &engine, &err) != 0) {
        fprintf(stderr, "%s: %s\n", err.text, err.detail);
        exit(1);
    }
    struct cbx_pool *pool = cbx_pool_new(engine, &config, &(struct cbx_pool_config){ 0 });
    struct cbx_sessions *sessions = cbx_sessions_new(SESSIONS, discard, pool);
    int open = 0;
    open_until(pool, sessions, &open, 1);
    double none_kib = memory_kib();
    int none = count_entries("/proc/self/fd");
    open_until(pool, sessions, &open, few);
    c.few_ms = open_until(pool, sessions, &open, few + TIMED);
    double before_kib = memory_kib();
    int before = count_entries("/proc/self/fd"), counted = open;
    c.few_descriptors = (double)(before - none) / (counted - 1);
    c.few_kib = (before_kib - none_kib) / (counted - 1);
    open_until(pool, sessions, &open, SESSIONS - TIMED);
    c.many_ms = open_until(pool, sessions, &open, SESSIONS);
    for (int i = 0; i < open; i++) {
        use_session(sessions, i);
    }
    c.many_descriptors = (double)(count_entries("/proc/self/fd") - before) / (open - counted);
    c.many_kib = (memory_kib() - before_kib) / (open - counted);
    c.threads = count_entries("/proc/self/task") - 2;
    return c;
}

static void print_costs(const struct costs *c)
{
    printf("open a session, %d open: %.2f ms of processor, %d open: %.2f ms, %.2f times that "
           "(budget 3 ms)\n",
           SESSIONS, c->many_ms, FEW, c->few_ms, c->many_ms / c->few_ms);
    printf("an open session costs the executor %.2f descriptors, %.1f KiB (budget 1, 64 KiB), and "
           "%d threads for all\n",
           c->many_descriptors, c->many_kib, c->threads);
}

static void print_scale(const struct costs *c)
{
    printf("%d sessions of an executor, processor to open one: %.2f ms, at %d sessions %.2f ms, "
           "%.2f times that\n",
           SESSIONS, c->many_ms, HUNDRED, c->few_ms, c->many_ms / c->few_ms);
    printf("%d sessions of an executor, descriptors: %.2f each (budget 1), of the first %d %.2f, "
           "%.2f times that\n",
           SESSIONS, c->many_descriptors, HUNDRED + TIMED, c->few_descriptors,
           c->many_descriptors / c->few_descriptors);
    printf("%d sessions of an executor, memory: %.1f KiB each (budget 64 KiB), of the first %d "
           "%.1f KiB, %.2f times that; %d threads for all\n",
           SESSIONS, c->many_kib, HUNDRED + TIMED, c->few_kib, c->many_kib / c->few_kib,
           c->threads);
}

int main(int argc, char **argv)
{
    bool scale = argc > 1 && strcmp(argv[1], "scale") == 0;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char folder[] = "/tmp/codebox-opening.XXXXXX", host[160];
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max < DESCRIPTORS ||
        mkdtemp(folder) == NULL) {
        printf("open a session: left out, it needs %d descriptors\n", DESCRIPTORS);
        return 0;
    }
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/engine.sock", folder);
    snprintf(host, sizeof(host), "unix://%s", address.sun_path);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listening, 64) != 0) {
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        serve_engine(listening);
    }
    close(listening);
    struct costs costs = measure(host, scale ? HUNDRED : FEW);
    if (scale) {
        print_scale(&costs);
    } else {
        print_costs(&costs);
    }
    fflush(stdout);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    unlink(address.sun_path);
    rmdir(folder);
    _exit(0); /* the pool exists until its process ends */
}
