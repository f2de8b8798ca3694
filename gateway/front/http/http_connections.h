/* SPDX-License-Identifier: MIT
 * The connections of a server: their number, the limit per peer, and the deadline for the
 * client's next bytes. A deadline covers the whole of the headers or of the body, so a client
 * that sends single bytes gains no time. Thread-safe. */
#ifndef CBX_GATEWAY_FRONT_HTTP_HTTP_CONNECTIONS_H
#define CBX_GATEWAY_FRONT_HTTP_HTTP_CONNECTIONS_H

#include "gateway/front/http/http_server.h"

#include <sys/socket.h>

/* The event that the server waits for. */
enum cbx_http_awaited {
    CBX_AWAIT_NOTHING, /* a handler, or the producer of a stream: no deadline */
    CBX_AWAIT_HEADERS, /* all headers of a request */
    CBX_AWAIT_BODY,    /* all of its body */
    CBX_AWAIT_READER,  /* the client, which reads a response from memory */
    CBX_AWAIT_NEXT,    /* the headers of the next request on the same connection */
    CBX_AWAITED
};

/* The place of a connection. In the reserve, only requests for the reserved path are served. */
enum cbx_http_place {
    CBX_PLACE_ORDINARY,
    CBX_PLACE_RESERVE_FULL, /* all ordinary places are taken */
    CBX_PLACE_RESERVE_PEER, /* the peer has reached the limit of one peer */
};

struct cbx_http_connection;
struct cbx_http_connections;

/* Limits that are zero get their defaults; limits beyond the process's descriptors are lowered,
 * with a warning. */
void cbx_http_limits_resolve(struct cbx_http_limits *limits);

/* `refuse` makes the 408 responses, which are written to the socket unchanged; called here, not
 * later. NULL: late connections are closed without one. NULL if no thread can be created. */
struct cbx_http_connections *cbx_http_connections_new(
    const struct cbx_http_limits *limits,
    void (*refuse)(int status, const char *detail, struct cbx_http_response *out));

/* Call it after every connection was removed. NULL is fine. */
void cbx_http_connections_free(struct cbx_http_connections *all);

/* Gives a new connection a place; its headers are awaited. If there is no place, the connection
 * that has been idle between two requests for the longest time is closed, and its place is
 * reused. If more than half of the reserve waits for clients, the longest-waiting one there is
 * closed: the reserve always has a place for a client that sends its request. The descriptor is
 * borrowed until cbx_http_connection_remove. */
struct cbx_http_connection *cbx_http_connection_add(struct cbx_http_connections *all, int fd,
                                                    const struct sockaddr *address);

/* Call it before the descriptor is closed. NULL is fine. */
void cbx_http_connection_remove(struct cbx_http_connections *all,
                                struct cbx_http_connection *connection);

/* Sets the event that the server waits for. The deadline begins now, unless the server waited
 * for the same event before. False if a deadline passed: the client received 408, or its
 * connection is being closed, and its request must not be carried out. */
bool cbx_http_connection_await(struct cbx_http_connections *all,
                               struct cbx_http_connection *connection,
                               enum cbx_http_awaited awaited);

/* Constant for the life of the connection. */
enum cbx_http_place cbx_http_connection_place(const struct cbx_http_connection *connection);

#endif
