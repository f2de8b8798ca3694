/* SPDX-License-Identifier: MIT
 * Connections to syslog servers; every descriptor is non-blocking. */
#include "gateway/forwarder/connection.h"

#include "policies/base/time/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

size_t cbx_connection_max(enum cbx_syslog_transport transport)
{
    return transport == CBX_SYSLOG_UDP    ? CBX_SYSLOG_UDP_MAX
           : transport == CBX_SYSLOG_UNIX ? CBX_SYSLOG_LOCAL_MAX
                                          : 0;
}

static int fail(const struct cbx_connection *c, const char *what, const char *why,
                struct cbx_err *err)
{
    if (c->url->transport == CBX_SYSLOG_UNIX) {
        return cbx_fail(err, CBX_EIO, "'%s': %s: %s", c->url->path, what, why);
    }
    return cbx_fail(err, CBX_EIO, "'%s' port %s: %s: %s", c->url->host, c->url->port, what, why);
}

static int fail_errno(const struct cbx_connection *c, const char *what, struct cbx_err *err)
{
    return fail(c, what, strerror(errno), err);
}

/* False after the deadline. */
static bool wait_for(int fd, short events, int64_t until_ms)
{
    int64_t left = until_ms - cbx_clock_ms();
    struct pollfd ready = { .fd = fd, .events = events };
    return left > 0 && (poll(&ready, 1, (int)left) > 0 || errno == EINTR);
}

/* --- connecting ------------------------------------------------------------------------------- */

static int finish_connect(struct cbx_connection *c, struct cbx_err *err)
{
    int status = 0;
    socklen_t size = sizeof(status);
    if (!wait_for(c->fd, POLLOUT, cbx_clock_ms() + CBX_CONNECTION_TIMEOUT_MS)) {
        return fail(c, "connect", "the time is over", err);
    }
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &status, &size) < 0 || status != 0) {
        errno = status != 0 ? status : errno;
        return fail_errno(c, "connect", err);
    }
    return 0;
}

static int connect_to(struct cbx_connection *c, const struct addrinfo *address, struct cbx_err *err)
{
    c->fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->fd < 0) {
        return fail_errno(c, "socket", err);
    }
    int failed = 0;
    if (connect(c->fd, address->ai_addr, address->ai_addrlen) < 0) {
        if (errno == EINPROGRESS) {
            failed = finish_connect(c, err);
        } else {
            failed = fail_errno(c, "connect", err);
        }
    }
    if (failed) {
        cbx_connection_close(c);
    }
    return failed;
}

static int connect_network(struct cbx_connection *c, struct cbx_err *err)
{
    struct addrinfo *found = NULL;
    const struct addrinfo hints = { .ai_socktype = c->url->transport == CBX_SYSLOG_UDP
                                                       ? SOCK_DGRAM
                                                       : SOCK_STREAM };
    int problem = getaddrinfo(c->url->host, c->url->port, &hints, &found);
    if (problem != 0) {
        return fail(c, "name", gai_strerror(problem), err);
    }
    int failed = CBX_EIO;
    for (const struct addrinfo *a = found; a != NULL && failed; a = a->ai_next) {
        failed = connect_to(c, a, err);
    }
    freeaddrinfo(found);
    return failed;
}

static int connect_local(struct cbx_connection *c, struct cbx_err *err)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    memcpy(name.sun_path, c->url->path, sizeof(name.sun_path));
    struct addrinfo address = { .ai_family = AF_UNIX,
                                .ai_socktype = SOCK_DGRAM,
                                .ai_addr = (struct sockaddr *)&name,
                                .ai_addrlen = sizeof(name) };
    int failed = connect_to(c, &address, err);
    if (failed && errno == EPROTOTYPE) { /* a stream */
        address.ai_socktype = SOCK_STREAM;
        failed = connect_to(c, &address, err);
        c->lines = !failed;
    }
    return failed;
}

/* --- TLS -------------------------------------------------------------------------------------- */

int cbx_connection_tls_new(const char *ca_file, void **out, struct cbx_err *err)
{
    SSL_CTX *settings = SSL_CTX_new(TLS_client_method());
    bool ok = settings != NULL && SSL_CTX_set_min_proto_version(settings, TLS1_2_VERSION) == 1 &&
              (ca_file != NULL ? SSL_CTX_load_verify_locations(settings, ca_file, NULL)
                               : SSL_CTX_set_default_verify_paths(settings)) == 1;
    if (!ok) {
        SSL_CTX_free(settings);
        ERR_clear_error();
        return cbx_fail(err, CBX_EINVAL,
                        "--syslog-ca: '%s' cannot be used, allowed is a file with certificates in "
                        "PEM",
                        ca_file != NULL ? ca_file : "(the system's)");
    }
    SSL_CTX_set_verify(settings, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(settings, SSL_MODE_ENABLE_PARTIAL_WRITE);
    *out = settings;
    return 0;
}

static int fail_tls(const struct cbx_connection *c, const char *what, struct cbx_err *err)
{
    long verified = SSL_get_verify_result(c->tls);
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return fail(c, what,
                verified != X509_V_OK ? X509_verify_cert_error_string(verified)
                : reason != NULL      ? reason
                                      : "the connection ended",
                err);
}

/* Waits for the event that a call of the library needs; false if it failed, or after the
 * deadline. */
static bool wait_tls(const struct cbx_connection *c, int result, int64_t until_ms)
{
    int reason = SSL_get_error(c->tls, result);
    return (reason == SSL_ERROR_WANT_READ && wait_for(c->fd, POLLIN, until_ms)) ||
           (reason == SSL_ERROR_WANT_WRITE && wait_for(c->fd, POLLOUT, until_ms));
}

static int begin_tls(struct cbx_connection *c, struct cbx_err *err)
{
    int64_t until_ms = cbx_clock_ms() + CBX_CONNECTION_TIMEOUT_MS;
    unsigned char address[sizeof(struct in6_addr)];
    SSL *tls = SSL_new(c->tls_settings);
    c->tls = tls;
    bool is_address = inet_pton(AF_INET, c->url->host, address) == 1 ||
                      inet_pton(AF_INET6, c->url->host, address) == 1;
    bool ok = tls != NULL && SSL_set_fd(tls, c->fd) == 1 &&
              (is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), c->url->host)
                          : SSL_set1_host(tls, c->url->host)) == 1 &&
              (is_address || SSL_set_tlsext_host_name(tls, c->url->host) == 1);
    if (!ok) {
        return fail(c, "tls", "it cannot begin", err);
    }
    int result;
    while ((result = SSL_connect(tls)) != 1) {
        if (!wait_tls(c, result, until_ms)) {
            return fail_tls(c, "tls", err);
        }
    }
    return 0;
}

int cbx_connection_open(struct cbx_connection *c, struct cbx_err *err)
{
    if (c->fd >= 0) {
        return 0;
    }
    c->lines = false;
    int failed;
    if (c->url->transport == CBX_SYSLOG_UNIX) {
        failed = connect_local(c, err);
    } else {
        failed = connect_network(c, err);
    }
    if (failed || c->url->transport != CBX_SYSLOG_TLS) {
        return failed;
    }
    return begin_tls(c, err);
}

void cbx_connection_close(struct cbx_connection *c)
{
    SSL_free(c->tls);
    c->tls = NULL;
    if (c->fd >= 0) {
        int before = errno;
        close(c->fd);
        errno = before;
    }
    c->fd = -1;
}

/* --- sending ---------------------------------------------------------------------------------- */

/* Bytes of the server are discarded; a closed connection must be noticed before a write. */
static bool is_closed(const struct cbx_connection *c)
{
    char byte[256];
    ssize_t n = c->tls == NULL ? recv(c->fd, byte, sizeof(byte), MSG_DONTWAIT) : -1;
    return n == 0 || (n < 0 && c->tls == NULL && errno != EAGAIN && errno != EINTR);
}

static ssize_t write_some(struct cbx_connection *c, struct cbx_str bytes, int64_t until_ms)
{
    for (;;) {
        ssize_t n = c->tls != NULL ? SSL_write(c->tls, bytes.p, (int)bytes.len)
                                   : send(c->fd, bytes.p, bytes.len, MSG_NOSIGNAL);
        bool again =
            n <= 0 && (c->tls != NULL                      ? wait_tls(c, (int)n, until_ms)
                       : errno == EAGAIN || errno == EINTR ? wait_for(c->fd, POLLOUT, until_ms)
                                                           : false);
        if (!again) {
            return n;
        }
    }
}

static int write_all(struct cbx_connection *c, struct cbx_str bytes, struct cbx_err *err)
{
    int64_t until_ms = cbx_clock_ms() + CBX_CONNECTION_TIMEOUT_MS;
    while (bytes.len > 0) {
        ssize_t n = write_some(c, bytes, until_ms);
        if (n <= 0) {
            if (c->tls != NULL) {
                return fail_tls(c, "write", err);
            }
            return fail_errno(c, "write", err);
        }
        bytes = cbx_str_sub(bytes, (size_t)n, bytes.len);
    }
    return 0;
}

int cbx_connection_write(struct cbx_connection *c, struct cbx_str message, struct cbx_err *err)
{
    bool datagram =
        c->url->transport == CBX_SYSLOG_UDP || (c->url->transport == CBX_SYSLOG_UNIX && !c->lines);
    if (!datagram && is_closed(c)) {
        return fail(c, "write", "the server closed the connection", err);
    }
    int failed = write_all(c, message, err);
    if (failed || !c->lines) {
        return failed;
    }
    return write_all(c, CBX_STR("\n"), err);
}

int cbx_connection_settle(struct cbx_connection *c, struct cbx_err *err)
{
    enum { STEP_MS = 2 };
    int64_t until_ms = cbx_clock_ms() + CBX_CONNECTION_TIMEOUT_MS;
    if (c->url->transport != CBX_SYSLOG_TCP && c->url->transport != CBX_SYSLOG_TLS) {
        return 0;
    }
    for (;;) {
        struct tcp_info info = { 0 };
        socklen_t size = sizeof(info);
        if (getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0) {
            return fail_errno(c, "state", err);
        }
        if (info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0) {
            if (is_closed(c)) {
                return fail(c, "write", "the server closed the connection", err);
            }
            return 0;
        }
        if (cbx_clock_ms() >= until_ms) {
            return fail(c, "write", "the server does not take records", err);
        }
        struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
        nanosleep(&step, NULL);
    }
}
