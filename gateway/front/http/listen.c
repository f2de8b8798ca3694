/* SPDX-License-Identifier: MIT
 * Sockets that a server listens on: made before the process is confined, and kept when the server is replaced. */
#include "gateway/front/http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A server that is ending may hold the port for a moment. */
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

int cbx_http_listen(const char *host, uint16_t port, uint16_t *port_out, struct cbx_err *err)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    bool is_v6 = inet_pton(AF_INET6, host, &v6.sin6_addr) == 1;
    if (!is_v6 && inet_pton(AF_INET, host, &v4.sin_addr) != 1) {
        return cbx_fail(err, CBX_EINVAL, "'%s' is no IP address", host);
    }
    struct sockaddr *address = is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t size = is_v6 ? sizeof(v6) : sizeof(v4);
    int on = 1;
    CBX_AUTO_FD fd =
        socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        (is_v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0) ||
        bind_with_retries(fd, address, size) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, address, &size) < 0) {
        return cbx_fail(err, CBX_EIO, "cannot listen on %s port %u: %s", host, port,
                        strerror(errno));
    }
    *port_out = ntohs(is_v6 ? v6.sin6_port : v4.sin_port);
    return cbx_fd_steal(&fd);
}

/* True when a process accepts connections on this socket. */
static bool is_served(const struct sockaddr_un *address)
{
    CBX_AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
}

int cbx_http_listen_unix(const char *path, unsigned mode, struct cbx_err *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct stat status;
    if (strlen(path) >= sizeof(address.sun_path)) {
        return cbx_fail(err, CBX_EIO, "the path of a Unix socket has at most %zu bytes, not %zu",
                        sizeof(address.sun_path) - 1, strlen(path));
    }
    memcpy(address.sun_path, path, strlen(path));
    if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode)) {
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
