/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the HTTP server. */
#ifndef CBX_GATEWAY_FRONT_HTTP_HTTP_INTERNAL_H
#define CBX_GATEWAY_FRONT_HTTP_HTTP_INTERNAL_H

#include "gateway/front/http/http_check.h"
#include "gateway/front/http/http_server.h"
#include "gateway/front/http/http_stream.h"
#include "gateway/ipc/threads.h"
#include "policies/base/buf.h"
#include "policies/base/hash.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>

/* One request from its first header to its response. */
struct cbx_http_exchange {
    struct MHD_Connection *connection;
    struct cbx_http_connection *at; /* its entry in the table of connections */
    char *target, *method;          /* as sent */
    /* address of the target in the library while it calls for the headers; else not to be used */
    const char *target_at;
    char address[INET6_ADDRSTRLEN]; /* client's address; empty over a Unix socket */
    /* id of the request: in the log, and in the header X-Request-Id */
    char id[CBX_ID_CHARS + 1];
    int64_t began_ms;
    struct cbx_buf body;
    size_t surplus; /* number of bytes after the body was full */
    struct cbx_http_headers headers;
    struct cbx_http_response response;
    struct cbx_http_server *server;
    bool checked, refused, crowded, queued, answered;
    struct cbx_work work;         /* the call of its handler */
    void (*ended)(void *context); /* function of cbx_http_on_end; NULL = none */
    void *ended_context;
};

struct cbx_http_server {
    struct cbx_http_config config;
    struct MHD_Daemon *daemon;
    char too_large[80];  /* message for a body that is too large */
    char hsts[48];       /* the value of Strict-Transport-Security (RFC 6797); empty = not sent */
    size_t bodies_bytes; /* memory of all bodies; used by the event loop alone */
    uint16_t port;
    pthread_mutex_t lock;
    pthread_cond_t sent;
    int unsent; /* number of queued exchanges that have not ended */
    bool stopping;
    struct cbx_http_connections *connections;
    struct cbx_threads *threads, *reserved_threads;
    struct cbx_http_streams streams; /* responses in progress */
};

/* Queues the response of an exchange, whose members it takes, and logs it. `close`: the connection
 * is closed behind it. MHD_NO: the connection is to be closed without a response, because a
 * deadline has passed or there is no memory. Called by the event loop. */
enum MHD_Result cbx_http_send(const struct cbx_http_exchange *e, struct MHD_Connection *connection,
                              bool close, struct cbx_http_response *r);

#endif
