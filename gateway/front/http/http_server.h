/* SPDX-License-Identifier: MIT
 * An HTTP/1.1 server on libmicrohttpd behind a strict request check: requests that proxies and
 * servers parse differently (duplicate or conflicting framing headers, foreign Host and Origin)
 * are refused before a handler. Handlers run in separate threads, one request each, and never in
 * the server's event loop. */
#ifndef CBX_GATEWAY_FRONT_HTTP_HTTP_SERVER_H
#define CBX_GATEWAY_FRONT_HTTP_HTTP_SERVER_H

#include "policies/base/auto.h"
#include "policies/base/err.h"
#include "policies/base/str.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cbx_http_exchange;

/* Headers of a forwarded request: the name of the forwarding replica, and the address of the
 * client. */
#define CBX_HTTP_REPLICA "Codebox-Replica"
#define CBX_HTTP_CLIENT  "Codebox-Client"

/* The Content-Security-Policy of a response that is no page: a browser executes nothing of it. */
#define CBX_HTTP_SANDBOX "sandbox; default-src 'none'"

/* The headers of MCP, without surrounding white space; {NULL, 0} = not sent. */
struct cbx_http_mcp {
    struct cbx_str version, method, name, session; /* MCP-Protocol-Version, Mcp-Method, Mcp-Name,
                                                      Mcp-Session-Id */
};
enum { CBX_HTTP_MCP_HEADERS = sizeof(struct cbx_http_mcp) / sizeof(struct cbx_str) };

/* Borrowed during the handler. `path` is as sent, not %-decoded, without the query. */
struct cbx_http_request {
    struct cbx_str method, path, query, body, content_type, accept, authorization, idempotency_key,
        cookie;
    struct cbx_http_mcp mcp;
    /* requested host: one of the server's names; {NULL, 0} = HTTP/1.0 without it */
    struct cbx_str host;
    bool https;
    struct cbx_str trace; /* the header traceparent, if sent once */
    /* address of the connection's other end; "" over a Unix socket. Of a request that another
     * replica forwards: the address of its client */
    const char *address;
    struct cbx_str replica; /* name of the replica that forwards the request; empty = none does */
    bool has_peer;          /* true if it came over a Unix socket, from this user */
    uid_t peer;
    /* the caller; set by the handler, not the server (identity/caller.h) */
    const struct cbx_caller *caller;
    struct cbx_http_exchange *exchange;
    const char *id; /* id of the request in the log and in the header X-Request-Id */
};

/* A response body that one thread produces while the event loop sends it. */
struct cbx_http_stream;

/* Makes an empty body with two references, of its producer and of its response. */
struct cbx_http_stream *cbx_http_stream_new(void);

/* Appends bytes to the body. Blocks while more than 1 MiB is unsent; CBX_EIO after the client
 * disconnected, read too little within stall_ms, or the server stopped. */
int cbx_http_stream_add(struct cbx_http_stream *stream, struct cbx_str bytes);

/* True if the client closed its connection. */
bool cbx_http_stream_is_gone(struct cbx_http_stream *stream);

/* Ends the body. The caller must not use the stream afterwards. */
void cbx_http_stream_end(struct cbx_http_stream *stream);

/* Drops the server's reference, for a stream that is never put into a response. */
void cbx_http_stream_discard(struct cbx_http_stream *stream);

/* Every response forbids browsers to execute it, and isolates it from pages of other origins.
 * The body is one of `json`, `bytes` (malloc'ed, with their length) and `stream`, or none; the
 * server drops it. `type` is a static string; NULL = application/json. */
struct cbx_http_response {
    int status;
    json_t *json;
    char *bytes;
    size_t bytes_len;
    struct cbx_http_stream *stream;
    const char *type;
    /* headers that another replica answered with, name to value, which are sent in place of those
     * that follow from the members of this struct; NULL = none. The headers of every response are
     * sent too, and Content-Security-Policy if it is not among these. Dropped like the body */
    json_t *relayed;
    char allow[64];      /* the header Allow; empty = none */
    char session[65];    /* the header Mcp-Session-Id; empty = none */
    char challenge[768]; /* the header WWW-Authenticate; empty = none */
    uint32_t retry_s; /* the header Retry-After; 0 = 1 with the statuses 429 and 503, else none */
    const char *security; /* Content-Security-Policy of a page, static; NULL = CBX_HTTP_SANDBOX */
    const char *location; /* the header Location, static; NULL = none */
    char cookie[160];     /* the header Set-Cookie; empty = none */
    char *attachment;     /* malloc'ed, dropped like the body: the path of a file (attachment.h) */
    bool answered;        /* true after the handler called cbx_http_answer */
};

/* Sends the response before the handler returns, at most once: the handler may then do work that
 * the client need not wait for, without using its request. Takes the contents of the response. */
void cbx_http_answer(struct cbx_http_exchange *exchange, const struct cbx_http_response *response);

/* Calls `ended` once, after the client has read the complete response, or its connection was
 * closed. Called by the handler before the response; `ended` runs in the event loop's thread, so
 * it must not block. */
void cbx_http_on_end(struct cbx_http_exchange *exchange, void (*ended)(void *context),
                     void *context);

/* Ends the event streams of the exchange's server whose clients have disconnected
 * (http_stream.h). Called by its handler. */
void cbx_http_drop_gone(const struct cbx_http_exchange *exchange);

/* True if the client closed its connection, before the response. */
bool cbx_http_is_gone(const struct cbx_http_exchange *exchange);

/* Fills the response; the status must be set. Called from several threads at once. */
typedef void cbx_http_handler(void *context, const struct cbx_http_request *request,
                              struct cbx_http_response *out);

/* Makes a listening socket on an address ("127.0.0.1", "::1") and a port, 0 = any free one;
 * *port_out is the port. A separate step, so that a server that replaces another keeps the port,
 * and the waiting connections. Returns the descriptor; CBX_EIO if the address cannot be bound. */
int cbx_http_listen(const char *address, uint16_t port, uint16_t *port_out, struct cbx_err *err);

/* The same on a Unix socket at this path, with permissions `mode`. A socket without a listener
 * is replaced; CBX_EBUSY if a process listens on it, CBX_EIO. */
int cbx_http_listen_unix(const char *path, unsigned mode, struct cbx_err *err);

/* Checks that cbx_http_listen, and cbx_http_listen_unix, could listen there: no client is
 * accepted, and no file created or removed. *taken: true if another process does. CBX_EINVAL,
 * CBX_EIO. */
int cbx_http_try_listen(const char *address, uint16_t port, bool *taken, struct cbx_err *err);
int cbx_http_try_listen_unix(const char *path, bool *taken, struct cbx_err *err);

/* http_limits.def; zero is the default. */
struct cbx_http_limits {
#define CBX_HTTP_LIMIT(name, standard, meaning) int name;
#include "gateway/front/http/http_limits.def"
#undef CBX_HTTP_LIMIT
};

struct cbx_http_config {
    /* from cbx_http_listen or cbx_http_listen_unix; owned by the server, also after a failure */
    int listening;
    /* true for a Unix socket: requests have the user at its other end, and Host needs no port */
    bool local;
    /* true for connections of other replicas, which cbx_http_server_add adds: the server has no
     * socket of its own, Host and Origin were checked by the replica that forwards, and the
     * headers CBX_HTTP_REPLICA, CBX_HTTP_CLIENT and X-Request-Id are believed */
    bool replicas;
    bool tls; /* HTTPS, with the certificate of tls.h */
    uint16_t port;
    const char *const *hosts; /* names besides the loopback ones (http_check.h); borrowed */
    size_t host_count;
    const char *origin; /* a further value of Origin, borrowed */
    /* Strict-Transport-Security: seconds for which browsers use only HTTPS; 0 = not sent */
    int64_t hsts_s;
    size_t max_body_bytes;
    int threads; /* number of concurrent handlers, which may block; further requests wait */
    /* Paths, whose handlers do not block for long, that are served while all other connections
     * and threads are taken; ends with NULL; NULL = none. Static. */
    const char *const *reserved_paths;
    struct cbx_http_limits limits;
    cbx_http_handler *handler;
    /* Makes the response, with `json`, for a request that reaches no handler. */
    void (*refuse)(int status, const char *detail, struct cbx_http_response *out);
    /* Called after a response is made, from any thread, for metrics; NULL = none. */
    void (*answered)(void *context, struct cbx_str method, struct cbx_str path, int status,
                     int64_t ms);
    void *context;
};

struct cbx_http_server;

/* Starts the server. *out is owned: cbx_http_server_free. */
int cbx_http_server_new(const struct cbx_http_config *config, struct cbx_http_server **out,
                        struct cbx_err *err);

/* Adds a connection of another replica to a server with `replicas`; takes the descriptor.
 * Thread-safe. */
void cbx_http_server_add(struct cbx_http_server *server, int fd);

/* Returns the port of the configuration. */
uint16_t cbx_http_server_port(const struct cbx_http_server *server);

/* Accepts no more requests, waits for running ones, and frees. A stream that does not end within
 * 2 s is cut. */
void cbx_http_server_free(struct cbx_http_server *server);
CBX_DEFINE_AUTO(http_server)

#endif
