/* SPDX-License-Identifier: MIT
 * The connections of a server: how many there may be, of whom, and by when the client must have sent
 * what the server waits for. A deadline covers the whole of the headers or of the body, so a client
 * that sends a byte now and then gains no time. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_HTTP_HTTP_CONNECTIONS_H
#define CBX_GATEWAY_FRONT_HTTP_HTTP_CONNECTIONS_H

#include "gateway/front/http/http_server.h"

#include <sys/socket.h>

/* What the server waits for. */
enum cbx_http_awaited {
    CBX_AWAIT_NOTHING, /* a handler, or the producer of a stream: no deadline */
    CBX_AWAIT_HEADERS, /* all headers of a request */
    CBX_AWAIT_BODY,    /* all of its body */
    CBX_AWAIT_READER,  /* the client, which reads an answer that is in memory */
    CBX_AWAIT_NEXT,    /* the headers of the next request on the same connection */
    CBX_AWAITED
};

/* Which place a connection has. In the reserve, only requests for the reserved path are served. */
enum cbx_http_place {
    CBX_PLACE_ORDINARY,
    CBX_PLACE_RESERVE_FULL, /* all ordinary places are taken */
    CBX_PLACE_RESERVE_PEER, /* the peer has as many as one peer may */
};

struct cbx_http_connection;
struct cbx_http_connections;

/* The limits that are zero get their defaults; those that the process has no descriptors for are
 * lowered, with a warning. */
void cbx_http_limits_resolve(struct cbx_http_limits *limits);

/* `refuse` makes the answers 408, which are written to the socket as they are; called here, not later. NULL: late
 * connections are closed without one. NULL when no thread can be created. */
struct cbx_http_connections *cbx_http_connections_new(
    const struct cbx_http_limits *limits,
    void (*refuse)(int status, const char *detail, struct cbx_http_response *out));

/* Every connection must have been removed. NULL is fine. */
void cbx_http_connections_free(struct cbx_http_connections *all);

/* Gives a new connection its place; its headers are awaited. When there is none, the connection that has
 * been idle between two requests for the longest time is closed, and its place is given. When more than half of the reserve waits
 * for clients, the one that waits longest there is closed: the reserve always has room for a client
 * that sends its request. The descriptor is borrowed until cbx_http_connection_remove. */
struct cbx_http_connection *cbx_http_connection_add(struct cbx_http_connections *all, int fd,
                                                    const struct sockaddr *address);

/* Before the descriptor is closed. NULL is fine. */
void cbx_http_connection_remove(struct cbx_http_connections *all,
                                struct cbx_http_connection *connection);

/* The server waits for this from now on. The deadline begins now, unless the server waited for the
 * same before. False when a deadline passed: the client was answered 408, or its connection is being
 * closed, and nothing of its request may be carried out. */
bool cbx_http_connection_await(struct cbx_http_connections *all,
                               struct cbx_http_connection *connection,
                               enum cbx_http_awaited awaited);

/* Constant for the life of the connection. */
enum cbx_http_place cbx_http_connection_place(const struct cbx_http_connection *connection);

#endif
