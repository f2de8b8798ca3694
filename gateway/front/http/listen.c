/* SPDX-License-Identifier: MIT
 * Listening sockets of a server: created before the process is confined, and kept when the
 * server is replaced. */
#include "gateway/front/http/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A server that is ending may hold the port briefly. */
static int bind_with_retries(int fd, const struct sockaddr *address, socklen_t size)
{
    enum { TRIES = 30, STEP_MS = 100 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    int bound;
    for (int i = 0; (bound = bind(fd, address, size)) < 0 && errno == EADDRINUSE && i < TRIES;
         i++) {
        nanosleep(&step, NULL);
    }
    return bound;
}

/* An IP address and a port. */
struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    socklen_t size;
};

static int read_address(const char *host, uint16_t port, struct address *out, struct cbx_err *err)
{
    *out = (struct address){ .to.v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) },
                             .size = sizeof(out->to.v6) };
    if (inet_pton(AF_INET6, host, &out->to.v6.sin6_addr) == 1) {
        return 0;
    }
    *out = (struct address){ .to.v4 = { .sin_family = AF_INET, .sin_port = htons(port) },
                             .size = sizeof(out->to.v4) };
    if (inet_pton(AF_INET, host, &out->to.v4.sin_addr) != 1) {
        return cbx_fail(err, CBX_EINVAL, "'%s' is no IP address", host);
    }
    return 0;
}

/* Opens an unbound socket for the address; -1 and errno. */
static int open_socket(const struct address *address)
{
    int on = 1;
    bool is_v6 = address->to.any.sa_family == AF_INET6;
    CBX_AUTO_FD fd =
        socket(address->to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        (is_v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)) {
        return -1;
    }
    return cbx_fd_steal(&fd);
}

static int fail_listen(const char *host, uint16_t port, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "cannot listen on %s port %u: %s", host, port, strerror(errno));
}

int cbx_http_listen(const char *host, uint16_t port, uint16_t *port_out, struct cbx_err *err)
{
    struct address address;
    int failed = read_address(host, port, &address, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_FD fd = open_socket(&address);
    if (fd < 0 || bind_with_retries(fd, &address.to.any, address.size) < 0 ||
        listen(fd, SOMAXCONN) < 0 || getsockname(fd, &address.to.any, &address.size) < 0) {
        return fail_listen(host, port, err);
    }
    bool is_v6 = address.to.any.sa_family == AF_INET6;
    *port_out = ntohs(is_v6 ? address.to.v6.sin6_port : address.to.v4.sin_port);
    return cbx_fd_steal(&fd);
}

int cbx_http_try_listen(const char *host, uint16_t port, bool *taken, struct cbx_err *err)
{
    struct address address;
    *taken = false;
    int failed = read_address(host, port, &address, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_FD fd = open_socket(&address);
    if (fd >= 0 && bind(fd, &address.to.any, address.size) == 0) {
        return 0;
    }
    *taken = fd >= 0 && errno == EADDRINUSE;
    if (*taken) {
        return 0;
    }
    return fail_listen(host, port, err);
}

/* True when a process accepts connections on this socket. */
static bool is_served(const struct sockaddr_un *address)
{
    CBX_AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
}

static int read_path(const char *path, struct sockaddr_un *out, struct cbx_err *err)
{
    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof(out->sun_path)) {
        return cbx_fail(err, CBX_EIO, "the path of a Unix socket has at most %zu bytes, not %zu",
                        sizeof(out->sun_path) - 1, strlen(path));
    }
    memcpy(out->sun_path, path, strlen(path));
    return 0;
}

static bool is_socket(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

int cbx_http_listen_unix(const char *path, unsigned mode, struct cbx_err *err)
{
    struct sockaddr_un address;
    int failed = read_path(path, &address, err);
    if (failed) {
        return failed;
    }
    if (is_socket(path)) {
        if (is_served(&address)) {
            return cbx_fail(err, CBX_EBUSY, "another program listens on '%s'", path);
        }
        unlink(path);
    }
    CBX_AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        chmod(path, mode) < 0 || listen(fd, SOMAXCONN) < 0) {
        return cbx_fail(err, CBX_EIO, "cannot listen on '%s': %s", path, strerror(errno));
    }
    return cbx_fd_steal(&fd);
}

int cbx_http_try_listen_unix(const char *path, bool *taken, struct cbx_err *err)
{
    struct sockaddr_un address;
    struct stat status;
    char folder[sizeof(address.sun_path) + 1];
    *taken = false;
    int failed = read_path(path, &address, err);
    if (failed) {
        return failed;
    }
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    *taken = is_socket(path) && is_served(&address);
    if (!is_socket(path) && lstat(path, &status) == 0) {
        return cbx_fail(err, CBX_EIO, "cannot listen on '%s': it is another file", path);
    }
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
        return cbx_fail(err, CBX_EIO, "cannot listen on '%s': its folder: %s", path,
                        strerror(errno));
    }
    return 0;
}
