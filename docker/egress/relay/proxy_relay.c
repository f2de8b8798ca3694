/* SPDX-License-Identifier: MIT
 * PID 1 of a proxy's container: restricts its routes, becomes an unprivileged user, starts the
 * proxy, and forwards the connections that arrive as frames on stdin to it, tunnels only within
 * the checks of tunnel.h. It returns the proxy's log, and its own refusals, as frames. It ends,
 * and the container with it, when stdin or the proxy ends. Static, with only the C library. */
#include "docker/egress/relay/routes.h"
#include "docker/egress/relay/tunnel.h"
#include "docker/inside/wire/wire_connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    USER = 65532,
    START_MS = 20000,
    START_STEP_MS = 10,
    QUIET_MS = 40,     /* the proxy's log is complete if no line was added for this time, */
    COMPLETE_MS = 500, /* or after this time */
    WAITING_MAX = 16 * 1024 * 1024,
    FIXED_FDS = 4,
};
#define FOLDER "/run/codebox"
static const char config_path[] = FOLDER "/squid.conf", log_path[] = FOLDER "/access.log";

static struct {
    struct cbx_inbox host;
    struct cbx_bytes out; /* frames for the host */
    size_t sent;
    /* by the index in the table of connections */
    struct cbx_tunnel tunnels[CBX_CONNECTIONS_MAX];
    int log;
    char line[CBX_FRAME_EVENT_MAX];
    size_t line_len;
    bool too_long; /* true while the line is skipped to its end */
    bool broken;
} r;

_Noreturn void cbx_die(void)
{
    kill(-1, SIGKILL);
    _exit(1);
}

/* --- to the host ------------------------------------------------------------------------------ */

static void reply(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    cbx_frame_add(&r.out, type, a, a_len, b, b_len);
}

static void send_out(void)
{
    while (r.sent < r.out.len) {
        ssize_t n = write(STDOUT_FILENO, r.out.p + r.sent, r.out.len - r.sent);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        if (n <= 0) {
            cbx_die();
        }
        r.sent += (size_t)n;
    }
    cbx_bytes_free(&r.out);
    r.sent = 0;
}

/* --- the proxy's log -------------------------------------------------------------------------- */

static void take_character(char c)
{
    if (c == '\n') {
        if (!r.too_long && r.line_len > 0) {
            reply(CBX_FRAME_EVENT, r.line, r.line_len, NULL, 0);
        }
        r.line_len = 0;
        r.too_long = false;
    } else if (r.line_len == sizeof(r.line)) {
        r.too_long = true;
    } else {
        r.line[r.line_len++] = c;
    }
}

/* Returns whether bytes were available. */
static bool read_log(void)
{
    char bytes[8192];
    ssize_t n = read(r.log, bytes, sizeof(bytes));
    for (ssize_t i = 0; i < n; i++) {
        take_character(bytes[i]);
    }
    return n > 0;
}

static void await_log(void)
{
    int64_t deadline = cbx_now_ms() + COMPLETE_MS;
    struct pollfd ready = { .fd = r.log, .events = POLLIN };
    while (cbx_now_ms() < deadline && poll(&ready, 1, QUIET_MS) > 0 && read_log()) {
    }
}

/* --- from the host ---------------------------------------------------------------------------- */

static int connect_proxy(void)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(CBX_FRAME_PROXY_PORT),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
        errno != EINPROGRESS) {
        cbx_close(&fd);
    }
    return fd;
}

static void open_connection(uint32_t number)
{
    int fd = connect_proxy();
    if (fd < 0 || !cbx_connections_add(number, fd)) {
        const struct cbx_frame_close close = { .connection = number, .how = CBX_CLOSE_ALL };
        cbx_close(&fd);
        reply(CBX_FRAME_CLOSE, &close, sizeof(close), NULL, 0);
        return;
    }
    struct cbx_tunnel *tunnel = &r.tunnels[cbx_connections_slot(number)];
    cbx_tunnel_done(tunnel);
    *tunnel = (struct cbx_tunnel){ 0 };
}

/* Sends the reply to the client of a refused tunnel, and the line of the log: the proxy's own
 * line for this connection, if any, has only the tunnel. */
static void refuse(uint32_t number, const struct cbx_tunnel *tunnel)
{
    static const char bad_request[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n"
                                      "Connection: close\r\n\r\n",
                      unrecognized_name[] =
                          "\x15\x03\x03\x00\x02\x02\x70"; /* RFC 8446 6.2, fatal */
    static const struct {
        const char *page, *answer;
        size_t len;
    } rows[] = {
        [CBX_TUNNEL_REQUEST] = { "ERR_CODEBOX_REQUEST", bad_request, sizeof(bad_request) - 1 },
        [CBX_TUNNEL_NOT_TLS] = { "ERR_CODEBOX_TLS", NULL, 0 },
        [CBX_TUNNEL_TLS_NAME] = { "ERR_CODEBOX_TLS_NAME", unrecognized_name,
                                  sizeof(unrecognized_name) - 1 },
    };
    char line[1024];
    const char *method = "-", *host = "-";
    if (tunnel->host[0] != '\0') {
        method = "CONNECT";
        host = tunnel->host;
    }
    int len = snprintf(line, sizeof(line), "codebox2 TCP_DENIED 0 %s - %s %s %u - 0 0 0 %s",
                       rows[tunnel->refusal].page, method, host, tunnel->port,
                       tunnel->name[0] != '\0' ? tunnel->name : "-");
    reply(CBX_FRAME_EVENT, line, (size_t)len, NULL, 0);
    cbx_connections_end(number, rows[tunnel->refusal].answer, rows[tunnel->refusal].len);
}

static void take_part(uint32_t number, const uint8_t *bytes, size_t len)
{
    int slot = cbx_connections_slot(number);
    if (slot < 0) {
        return;
    }
    struct cbx_tunnel *tunnel = &r.tunnels[slot];
    if (tunnel->at == CBX_TUNNEL_OPEN && tunnel->held.len == 0) {
        cbx_connections_write(number, bytes, len);
        return;
    }
    bool refused = tunnel->refusal != CBX_TUNNEL_NOT_REFUSED;
    size_t pass = cbx_tunnel_take(tunnel, bytes, len);
    if (pass > 0) {
        cbx_connections_write(number, tunnel->held.p, pass);
        cbx_tunnel_drop(tunnel, pass);
    }
    if (!refused && tunnel->refusal != CBX_TUNNEL_NOT_REFUSED) {
        refuse(number, tunnel);
    }
}

static void take_frame(uint8_t type, const uint8_t *payload, size_t len)
{
    uint32_t number;
    switch (type) {
    case CBX_FRAME_CONNECT:
        if (len == sizeof(number)) {
            memcpy(&number, payload, sizeof(number));
            open_connection(number);
        }
        return;
    case CBX_FRAME_PART:
        if (len >= sizeof(number)) {
            memcpy(&number, payload, sizeof(number));
            take_part(number, payload + sizeof(number), len - sizeof(number));
        }
        return;
    case CBX_FRAME_FLUSH:
        cbx_connections_reset();
        await_log();
        reply(CBX_FRAME_FLUSH, NULL, 0, NULL, 0);
        return;
    default:
        cbx_connections_take(type, payload, len);
    }
}

/* False at the end of stdin, and if the protocol is violated. */
static bool read_host(void)
{
    return cbx_inbox_read(STDIN_FILENO, &r.host) &&
           cbx_inbox_take(&r.host, r.host.len, 'r', take_frame);
}

/* --- the start -------------------------------------------------------------------------------- */

static bool write_config(const char *text)
{
    int fd = open(config_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t len = strlen(text);
    bool written = fd >= 0 && write(fd, text, len) == (ssize_t)len;
    cbx_close(&fd);
    return written;
}

static bool drop_privileges(void)
{
    return setgroups(0, NULL) == 0 && setresgid(USER, USER, USER) == 0 &&
           setresuid(USER, USER, USER) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static pid_t start_proxy(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        char *const argv[] = { (char[]){ "squid" }, (char[]){ "-N" }, (char[]){ "-f" },
                               (char *)(uintptr_t)config_path, NULL };
        char *const environment[] = { (char[]){ "PATH=/usr/sbin:/usr/bin" }, NULL };
        execve("/usr/sbin/squid", argv, environment);
        _exit(127);
    }
    return pid;
}

/* True if a socket listens at the proxy's port. A test connection would appear in the proxy's
 * log. */
static bool listens(void)
{
    char table[16 * 1024], wanted[64];
    int fd = open("/proc/net/tcp", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, table, sizeof(table) - 1) : -1;
    cbx_close(&fd);
    table[n > 0 ? n : 0] = '\0';
    snprintf(wanted, sizeof(wanted), ":%04X 00000000:0000 0A", CBX_FRAME_PROXY_PORT);
    return strstr(table, wanted) != NULL;
}

/* Waits until the proxy accepts connections. */
static bool await_proxy(pid_t pid)
{
    for (int64_t until = cbx_now_ms() + START_MS; cbx_now_ms() < until;) {
        if (listens()) {
            return true;
        }
        if (waitpid(pid, NULL, WNOHANG) != 0) {
            return false;
        }
        const struct timespec step = { .tv_nsec = START_STEP_MS * 1000000L };
        nanosleep(&step, NULL);
    }
    return false;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

static _Noreturn void serve(int children)
{
    for (;;) {
        struct pollfd fds[FIXED_FDS + CBX_CONNECTIONS_MAX] = {
            { .fd = STDIN_FILENO, .events = POLLIN },
            { .fd = r.sent < r.out.len ? STDOUT_FILENO : -1, .events = POLLOUT },
            { .fd = r.log, .events = POLLIN },
            { .fd = children, .events = POLLIN },
        };
        bool reads = r.out.len - r.sent <= WAITING_MAX;
        int connections = reads ? cbx_connections_poll(fds + FIXED_FDS) : 0;
        if (poll(fds, (nfds_t)(FIXED_FDS + connections), -1) < 0 && errno != EINTR) {
            cbx_die();
        }
        if (fds[0].revents != 0 && !read_host()) {
            cbx_die();
        }
        cbx_connections_serve(fds + FIXED_FDS, connections);
        if (fds[2].revents != 0) {
            read_log();
        }
        send_out();
        if (fds[3].revents != 0) { /* the proxy is the only child */
            cbx_die();
        }
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    int children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    const char *squid = variable("CODEBOX_PROXY_CONFIG");
    if (children < 0 ||
        !cbx_routes_restrict(variable("CODEBOX_ALLOWED"), variable("CODEBOX_DENIED")) ||
        !drop_privileges() || squid[0] == '\0' || !write_config(squid) ||
        mkfifo(log_path, 0600) < 0 ||
        (r.log = open(log_path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0) {
        return 2;
    }
    pid_t pid = start_proxy();
    if (pid < 0 || !await_proxy(pid)) {
        cbx_die();
    }
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    cbx_connections_send = reply;
    reply(CBX_FRAME_READY, NULL, 0, NULL, 0);
    send_out();
    serve(children);
}
