/* SPDX-License-Identifier: MIT
 * A connection to a syslog server: datagrams, TCP, TLS, Unix sockets. No call waits longer than
 * CBX_CONNECTION_TIMEOUT_MS for the server. */
#ifndef CBX_GATEWAY_FORWARDER_CONNECTION_H
#define CBX_GATEWAY_FORWARDER_CONNECTION_H

#include "gateway/forwarder/syslog.h"

enum { CBX_CONNECTION_TIMEOUT_MS = 10000 };

struct cbx_connection {
    int fd; /* -1 = none */
    const struct cbx_syslog_url *url;
    void *tls_settings; /* result of cbx_connection_tls_new */
    void *tls;          /* state of this connection; NULL = none */
    /* true for a stream socket of the file system: messages end with a line end */
    bool lines;
};

/* Makes the settings of TLS: at least version 1.2, the server's certificate by these authorities
 * (NULL = the system's) and its name. CBX_EINVAL. They live as long as the process. */
int cbx_connection_tls_new(const char *ca_file, void **out, struct cbx_err *err);

/* Returns the largest message of a transport; 0 = a stream, whose messages are framed. */
size_t cbx_connection_max(enum cbx_syslog_transport transport);

/* Connects, unless it is connected. CBX_EIO. */
int cbx_connection_open(struct cbx_connection *c, struct cbx_err *err);
void cbx_connection_close(struct cbx_connection *c);

/* Writes one message. CBX_EIO: the caller must close the connection. */
int cbx_connection_write(struct cbx_connection *c, struct cbx_str message, struct cbx_err *err);

/* Waits until the server's host has acknowledged all bytes of a TCP connection. CBX_EIO. */
int cbx_connection_settle(struct cbx_connection *c, struct cbx_err *err);

#endif
