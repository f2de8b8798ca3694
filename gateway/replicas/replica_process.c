/* SPDX-License-Identifier: MIT
 * The process of links: one thread takes connections and sockets, and each link has a thread.
 * Connections that are not authenticated have threads of their own. */
#include "gateway/replicas/replica_process.h"

#include "gateway/ipc/ending.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/threads.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "gateway/replicas/handshakes.h"
#include "gateway/replicas/link_tls.h"
#include "gateway/replicas/link_tunnel.h"
#include "policies/base/auto.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINKS_MAX = 2048, LOG_PAUSE_MS = 10000, ROOM_MS = 5 /* for a handshake to end */ };

struct process {
    int channel, listening;
    const struct cbx_replicas *replicas;
    struct cbx_link_tls tls;
    struct cbx_threads *threads, *handshake_threads;
    struct cbx_handshakes handshakes;
    pthread_mutex_t sending;    /* one socket is passed to the front at a time */
    atomic_int_fast64_t log_ms; /* time of the last log line about a refused link */
};

static struct process process;

static bool make_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* A link without bytes under way whose other end is silent ends within 10 s (tcp(7)); with bytes
 * under way cbx_tunnel_carry ends it. TCP_USER_TIMEOUT would end a link whose reader is slow too. */
static void watch_link(int fd)
{
    enum { IDLE_S = 4, INTERVAL_S = 2, PROBES = 3 };
    static const struct {
        int level, name, value;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S },
        { IPPROTO_TCP, TCP_KEEPINTVL, INTERVAL_S },
        { IPPROTO_TCP, TCP_KEEPCNT, PROBES },
        { IPPROTO_TCP, TCP_NODELAY, 1 },
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof(options[i].value));
    }
}

static void carry(int front, int fd, SSL *link)
{
    if (make_nonblocking(front)) {
        cbx_tunnel_carry(front, link);
    }
    SSL_free(link);
    close(front);
    close(fd);
}

/* --- links that the front asks for ------------------------------------------------------------ */

struct wanted {
    int front;
    const struct cbx_replica *replica;
};

static int connect_address(const struct addrinfo *address, int64_t until_ms, struct cbx_err *err)
{
    int status = 0;
    socklen_t size = sizeof(status);
    CBX_AUTO_FD fd =
        socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd ready = { .fd = fd, .events = POLLOUT };
    if (fd < 0) {
        return cbx_fail(err, CBX_EIO, "socket: %s", strerror(errno));
    }
    if (connect(fd, address->ai_addr, address->ai_addrlen) < 0 && errno != EINPROGRESS) {
        return cbx_fail(err, CBX_EIO, "connect: %s", strerror(errno));
    }
    int64_t left = until_ms - cbx_clock_ms();
    if (left <= 0 || poll(&ready, 1, (int)left) <= 0) {
        return cbx_fail(err, CBX_EIO, "connect: no answer in time");
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &status, &size) < 0 || status != 0) {
        return cbx_fail(err, CBX_EIO, "connect: %s", strerror(status));
    }
    return cbx_fd_steal(&fd);
}

/* Returns a connected socket, or an error. */
static int connect_replica(const struct cbx_replica *replica, struct cbx_err *err)
{
    enum { CONNECT_MS = 4000 };
    int64_t until_ms = cbx_clock_ms() + CONNECT_MS;
    struct addrinfo *found = NULL;
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    int problem = getaddrinfo(replica->host, replica->port, &hints, &found);
    if (problem != 0) {
        return cbx_fail(err, CBX_EIO, "name '%.100s': %s", replica->host, gai_strerror(problem));
    }
    int fd = CBX_EIO;
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
        fd = connect_address(a, until_ms, err);
    }
    freeaddrinfo(found);
    return fd;
}

/* The front waits for the line. */
static void answer(int front, const char *line)
{
    if (send(front, line, strlen(line), MSG_NOSIGNAL) < 0) {
        cbx_log(CBX_LOG_DEBUG, "the front does not wait for its link any more");
    }
}

static void refuse_front(const struct wanted *w, const struct cbx_err *err)
{
    char line[CBX_LINK_LINE_MAX];
    int len = snprintf(line, sizeof(line) - 1, "%.250s", err->text);
    for (int i = 0; i < len; i++) {
        line[i] = line[i] == '\n' ? ' ' : line[i];
    }
    line[len] = '\n';
    line[len + 1] = '\0';
    answer(w->front, line);
    close(w->front);
}

static void serve_front(void *context)
{
    struct wanted w = *(struct wanted *)context;
    struct cbx_err err = { 0 };
    SSL *link = NULL;
    free(context);
    int fd = connect_replica(w.replica, &err);
    if (fd >= 0) {
        watch_link(fd);
        if (cbx_link_connect(&process.tls, fd, w.replica, &link, &err) != 0) {
            close(fd);
        }
    }
    if (link == NULL) {
        cbx_log(CBX_LOG_DEBUG, "replica '%s' is not reached: %s", w.replica->name, err.text);
        refuse_front(&w, &err);
        return;
    }
    answer(w.front, CBX_LINK_UP);
    carry(w.front, fd, link);
}

/* --- links of other replicas ------------------------------------------------------------------ */

/* A port scanner makes no more than a line in a while. */
static void log_refused(const struct cbx_err *err)
{
    int64_t now = cbx_clock_ms();
    if (now - process.log_ms >= LOG_PAUSE_MS) {
        process.log_ms = now;
        cbx_log(CBX_LOG_WARNING, "a connection to --peer-listen is refused: %s", err->text);
    }
}

struct accepted {
    int fd;
    SSL *link;
};

static void drop_accepted(const struct accepted *a, const struct cbx_err *err)
{
    log_refused(err);
    SSL_free(a->link);
    close(a->fd);
}

/* Makes the sockets of an accepted link, also where strangers have taken all descriptors. */
static int make_pair(int pair[2], struct cbx_err *err)
{
    enum { TRIES = 100 };
    int failed = cbx_wire_pair(pair, err);
    for (int i = 0; failed && i < TRIES && cbx_handshakes_evict(&process.handshakes); i++) {
        poll(NULL, 0, ROOM_MS);
        failed = cbx_wire_pair(pair, err);
    }
    return failed;
}

static void serve_replica(void *context)
{
    struct accepted a = *(struct accepted *)context;
    struct cbx_err err = { 0 };
    int pair[2];
    free(context);
    if (make_pair(pair, &err) != 0) {
        drop_accepted(&a, &err);
        return;
    }
    pthread_mutex_lock(&process.sending);
    int failed = cbx_wire_send_fd(process.channel, pair[1], CBX_LINK_INBOUND, &err);
    pthread_mutex_unlock(&process.sending);
    close(pair[1]);
    if (failed) {
        _exit(1); /* the gateway has ended */
    }
    carry(pair[0], a.fd, a.link);
}

static void shake_hands(void *context)
{
    struct accepted a = { .fd = *(int *)context };
    struct cbx_err err = { 0 };
    free(context);
    watch_link(a.fd);
    int failed = cbx_link_accept(&process.tls, a.fd, &a.link, &err);
    cbx_handshakes_end(&process.handshakes, a.fd);
    if (failed) {
        drop_accepted(&a, &err);
        return;
    }
    struct accepted *passed = cbx_new(sizeof(*passed));
    *passed = a;
    if (!cbx_threads_run(process.threads, serve_replica, passed)) {
        free(passed);
        cbx_fail(&err, CBX_EBUSY, "there are %d links already", LINKS_MAX);
        drop_accepted(&a, &err);
    }
}

/* --- the loop --------------------------------------------------------------------------------- */

/* During a reload the process before this one may have taken it. */
static void take_socket(void)
{
    int passed = -1;
    char tag = 0;
    struct cbx_err err;
    int failed = cbx_wire_receive_fd_now(process.channel, &passed, &tag, &err);
    if (failed == CBX_ETIMEDOUT) {
        return;
    }
    if (failed) {
        _exit(0); /* the gateway has ended */
    }
    size_t index = (unsigned char)tag;
    if (passed < 0 || index >= process.replicas->count) {
        close(passed);
        return;
    }
    struct wanted *w = cbx_new(sizeof(*w));
    *w = (struct wanted){ .front = passed, .replica = &process.replicas->others[index] };
    if (!cbx_threads_run(process.threads, serve_front, w)) {
        cbx_fail(&err, CBX_EBUSY, "there are %d links already", LINKS_MAX);
        refuse_front(w, &err);
        free(w);
    }
}

static void accept_link(void)
{
    int fd = accept4(process.listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        /* The connection stays in the backlog, and the event too. Strangers do not keep it there. */
        cbx_handshakes_evict(&process.handshakes);
        poll(NULL, 0, ROOM_MS);
    }
    if (fd < 0) {
        return; /* the other end has left, or there are too many descriptors */
    }
    int *passed = cbx_new(sizeof(*passed));
    *passed = fd;
    cbx_handshakes_begin(&process.handshakes, fd);
    if (!cbx_threads_run(process.handshake_threads, shake_hands, passed)) {
        free(passed);
        cbx_handshakes_end(&process.handshakes, fd);
        close(fd);
    }
}

static int confine(struct cbx_err *err)
{
    int failed = cbx_files_confine_to_network(err);
    if (failed) {
        return failed;
    }
    return cbx_jail_replicas(err);
}

/* libcrypto and the resolver read files at their first use. */
static int prepare(const struct cbx_replicas_config *config, struct cbx_err *err)
{
    int failed = cbx_link_tls_new(config->pem, config->replicas, &process.tls, err);
    explicit_bzero((char *)(uintptr_t)config->pem.p, config->pem.len);
    if (failed) {
        return failed;
    }
    if (!make_nonblocking(config->listening)) {
        return cbx_fail(err, CBX_EIO, "--peer-listen: %s", strerror(errno));
    }
    return confine(err);
}

_Noreturn void cbx_replicas_main(int channel, const struct cbx_replicas_config *config)
{
    struct cbx_err err = { 0 };
    sigset_t waiting;
    prctl(PR_SET_NAME, "cbx-replicas");
    cbx_log_set_component("replicas");
    cbx_ending_catch(&waiting);
    process = (struct process){ .channel = channel,
                                .listening = config->listening,
                                .replicas = config->replicas,
                                .log_ms = -LOG_PAUSE_MS };
    pthread_mutex_init(&process.sending, NULL);
    cbx_handshakes_init(&process.handshakes);
    if (prepare(config, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "links between replicas: %s", err.text);
        _exit(1);
    }
    process.threads = cbx_threads_new(LINKS_MAX);
    /* those that were ended for others need a moment */
    process.handshake_threads = cbx_threads_new(2 * CBX_HANDSHAKES_MAX);
    while (!cbx_is_ending()) {
        struct pollfd events[] = { { .fd = process.listening, .events = POLLIN },
                                   { .fd = process.channel, .events = POLLIN } };
        if (ppoll(events, 2, NULL, &waiting) < 0) {
            continue;
        }
        if (events[0].revents != 0) {
            accept_link();
        }
        if (events[1].revents != 0) {
            take_socket();
        }
    }
    close(process.listening);
    cbx_threads_free(process.handshake_threads); /* the first: they make links */
    cbx_threads_free(process.threads);           /* with the last link */
    _exit(0);
}
