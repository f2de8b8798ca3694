/* SPDX-License-Identifier: MIT
 * An HTTP/1.1 server on libmicrohttpd behind a strict request check: what proxies and servers read
 * differently (duplicate or conflicting framing headers, foreign Host and Origin) is refused before
 * a handler sees it. Handlers run in threads of their own pool, one request each, and never in the
 * server's event loop. */
#ifndef CBX_GATEWAY_HTTP_SERVER_H
#define CBX_GATEWAY_HTTP_SERVER_H

#include "policies/base/auto.h"
#include "policies/base/err.h"
#include "policies/base/str.h"

#include <jansson.h>
#include <stdint.h>

/* Borrowed for the length of the handler. `path` is as sent, not %-decoded, without the query. */
struct cbx_http_request {
    struct cbx_str method, path, query, body, content_type;
};

/* `json` is the body, NULL = none; the server drops it. `type` and `allow` are static strings; NULL
 * = application/json, none. */
struct cbx_http_response {
    int status;
    json_t *json;
    const char *type, *allow;
};

/* Fills the response; the status must be set. Called from several threads at once. */
typedef void cbx_http_handler(void *context, const struct cbx_http_request *request,
                              struct cbx_http_response *out);

struct cbx_http_config {
    const char *address; /* "127.0.0.1", "::1" */
    uint16_t port;       /* 0 = any that is free */
    size_t max_body_bytes;
    int threads; /* handlers at the same time; further requests wait */
    cbx_http_handler *handler;
    /* Makes the response for a request that never reaches the handler. */
    void (*refuse)(int status, const char *detail, struct cbx_http_response *out);
    void *context;
};

struct cbx_http_server;

/* Listens and serves. CBX_EIO when the address cannot be bound. *out is owned:
 * cbx_http_server_free. */
int cbx_http_server_new(const struct cbx_http_config *config, struct cbx_http_server **out,
                        struct cbx_err *err);
uint16_t cbx_http_server_port(const struct cbx_http_server *server);

/* Takes no more requests, waits for those in work, and frees. */
void cbx_http_server_free(struct cbx_http_server *server);
CBX_DEFINE_AUTO(http_server)

#endif
