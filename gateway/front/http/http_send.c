/* SPDX-License-Identifier: MIT
 * Responses: their bodies and headers, for libmicrohttpd. */
#include "gateway/front/http/attachment.h"
#include "gateway/front/http/http_connections.h"
#include "gateway/front/http/http_internal.h"
#include "policies/base/buf.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>

enum { ATTACHMENT_MAX_BYTES = 32 * 1024 };

static struct MHD_Response *make_response(struct cbx_http_response *r)
{
    if (r->stream != NULL) {
        struct cbx_http_stream *stream = cbx_steal(&r->stream);
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64 * 1024, cbx_http_stream_read,
                                                 stream, cbx_http_stream_drop);
    }
    if (r->json != NULL) {
        r->bytes = json_dumps(r->json, JSON_COMPACT);
        r->bytes_len = r->bytes != NULL ? strlen(r->bytes) : 0;
        json_decref(r->json);
        r->json = NULL;
    }
    if (r->bytes == NULL) {
        return MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    }
    char *bytes = cbx_steal(&r->bytes);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(r->bytes_len, bytes, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(bytes);
    }
    return response;
}

/* Failures are logged with their reasons at their origin. */
static void log_response(const struct cbx_http_exchange *e, const struct cbx_http_response *r)
{
    cbx_log(CBX_LOG_DEBUG, "request %s: %s %.200s answered %d (%lld ms)", e->id,
            e->method != NULL ? e->method : "-", e->target, r->status,
            (long long)(cbx_clock_ms() - e->began_ms));
    const struct cbx_http_config *config = &e->server->config;
    if (config->answered != NULL && e->method != NULL && e->target != NULL) {
        struct cbx_str path = { .p = e->target, .len = strcspn(e->target, "?") };
        config->answered(config->context, cbx_str_of(e->method), path, r->status,
                         cbx_clock_ms() - e->began_ms);
    }
}

static bool is_stream(const struct cbx_http_response *r)
{
    return r->type != NULL && strcmp(r->type, "text/event-stream") == 0;
}

/* False if one could not be added: the response is not sent without it. */
static bool add_headers(struct MHD_Response *response, const struct cbx_http_exchange *e, bool body,
                        bool close, const struct cbx_http_response *r)
{
    CBX_AUTO_DONE(buf) attachment;
    char retry[16];
    bool own = r->relayed == NULL;
    snprintf(retry, sizeof(retry), "%u", r->retry_s > 0 ? r->retry_s : 1);
    cbx_buf_init(&attachment, ATTACHMENT_MAX_BYTES);
    if (r->attachment != NULL) {
        cbx_http_attachment(cbx_str_of(r->attachment), &attachment);
    }
    const struct {
        const char *name, *value;
        bool sent;
    } headers[] = {
        { "Content-Type", r->type != NULL ? r->type : "application/json", own && body },
        { "Content-Disposition", attachment.p, r->attachment != NULL },
        { "Allow", r->allow, r->allow[0] != '\0' },
        { "Mcp-Session-Id", r->session, r->session[0] != '\0' },
        { "WWW-Authenticate", r->challenge, r->challenge[0] != '\0' },
        { "Location", r->location, r->location != NULL },
        { "Set-Cookie", r->cookie, r->cookie[0] != '\0' },
        { "Content-Security-Policy", r->security != NULL ? r->security : CBX_HTTP_SANDBOX,
          json_object_get(r->relayed, "Content-Security-Policy") == NULL },
        { "Retry-After", retry, own && (r->retry_s > 0 || r->status == 429 || r->status == 503) },
        { "X-Accel-Buffering", "no", own && is_stream(r) }, /* proxies forward events at once */
        { "X-Request-Id", e->id, true },
        { "Strict-Transport-Security", e->server->hsts, e->server->hsts[0] != '\0' },
#define CBX_HTTP_HEADER(name, value) { name, value, true },
#include "gateway/front/http/headers.def"
#undef CBX_HTTP_HEADER
        { "Connection", "close", close },
    };
    const char *name;
    json_t *value;
    bool added = !attachment.overflow;
    json_object_foreach(r->relayed, name, value)
    {
        added =
            added && MHD_add_response_header(response, name, json_string_value(value)) == MHD_YES;
    }
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]) && added; i++) {
        added = !headers[i].sent ||
                MHD_add_response_header(response, headers[i].name, headers[i].value) == MHD_YES;
    }
    return added;
}

enum MHD_Result cbx_http_send(const struct cbx_http_exchange *e, struct MHD_Connection *connection,
                              bool close, struct cbx_http_response *r)
{
    log_response(e, r);
    if (!cbx_http_connection_await(e->server->connections, e->at,
                                   r->stream != NULL ? CBX_AWAIT_NOTHING : CBX_AWAIT_READER)) {
        return MHD_NO;
    }
    bool body = r->json != NULL || r->bytes != NULL || r->stream != NULL;
    if (r->stream != NULL) {
        cbx_http_stream_connect(r->stream, connection, &e->server->streams);
    }
    struct MHD_Response *response = make_response(r);
    if (response == NULL) {
        return MHD_NO;
    }
    enum MHD_Result queued = add_headers(response, e, body, close, r)
                                 ? MHD_queue_response(connection, (unsigned)r->status, response)
                                 : MHD_NO;
    MHD_destroy_response(response);
    return queued;
}
