/* SPDX-License-Identifier: MIT
 * The HTTP server. The event loop belongs to libmicrohttpd: it reads a request, suspends the
 * connection and queues it; a thread runs the handler and resumes the connection. */
#include "gateway/front/http/http_internal.h"

#include "gateway/front/http/http_connections.h"
#include "gateway/front/http/tls.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    SENDING_TIMEOUT_S = 60, /* for a client that reads nothing of its response */
    RESERVED_THREADS = 2,
    HEADERS_MAX_BYTES = 32 * 1024,
    LAST_ANSWERS_MS = 2000,
    BODIES_MAX_BYTES = 256 * 1024 * 1024,
    /* times the largest body: so much of a larger one is read, so that its sender reads the
     * answer */
    SURPLUS_TIMES = 16,
};

/* --- handlers --------------------------------------------------------------------------------- */

static struct cbx_http_request make_request(const struct cbx_http_exchange *e)
{
    const char *question = strchr(e->target, '?');
    struct cbx_str target = cbx_str_of(e->target);
    size_t end = question != NULL ? (size_t)(question - e->target) : target.len;
    /* The response to HEAD is that to GET, of which the library sends only the header (RFC 9110,
     * section 9.3.2). */
    bool head = strcmp(e->method, "HEAD") == 0;
    struct cbx_str replica = CBX_STR("");
    if (e->server->config.replicas) { /* "-" is the name of none */
        replica = e->headers.replica.len > 0 ? e->headers.replica : CBX_STR("-");
    }
    return (struct cbx_http_request){ .method = head ? CBX_STR("GET") : cbx_str_of(e->method),
                                      .path = cbx_str_sub(target, 0, end),
                                      .query = cbx_str_sub(target, end + 1, target.len),
                                      .body = cbx_buf_str(&e->body),
                                      .content_type = e->headers.content_type,
                                      .accept = e->headers.accept,
                                      .authorization = e->headers.authorization,
                                      .cookie = e->headers.cookie,
                                      .idempotency_key = e->headers.idempotency_key,
                                      .mcp = e->headers.mcp,
                                      .trace =
                                          e->headers.traces == 1 ? e->headers.trace : CBX_STR(""),
                                      .address = e->address,
                                      .replica = replica,
                                      .host = e->headers.host,
                                      .https = e->server->config.tls,
                                      .id = e->id,
                                      .exchange = (struct cbx_http_exchange *)(uintptr_t)e };
}

static void note_address(struct cbx_http_exchange *e)
{
    const struct sockaddr *address =
        MHD_get_connection_info(e->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    const void *bytes = address->sa_family == AF_INET
                            ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                            : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
    if (inet_ntop(address->sa_family, bytes, e->address, sizeof(e->address)) == NULL) {
        e->address[0] = '\0';
    }
}

/* Takes over what the forwarding replica says of its client: its address, and the id of the
 * request, so that both logs have the same one. */
static void note_client(struct cbx_http_exchange *e)
{
    struct cbx_str address = e->headers.client, id = e->headers.request_id;
    struct in6_addr parsed;
    char text[INET6_ADDRSTRLEN];
    bool known = address.len > 0 && address.len < sizeof(text);
    snprintf(text, sizeof(text), "%.*s", known ? (int)address.len : 0, known ? address.p : "");
    if (inet_pton(AF_INET, text, &parsed) == 1 || inet_pton(AF_INET6, text, &parsed) == 1) {
        memcpy(e->address, text, sizeof(e->address));
    }
    bool good = id.len == CBX_ID_CHARS;
    for (size_t i = 0; i < id.len && good; i++) {
        good = (id.p[i] >= '0' && id.p[i] <= '9') || (id.p[i] >= 'A' && id.p[i] <= 'Z');
    }
    if (good) {
        memcpy(e->id, id.p, CBX_ID_CHARS);
    }
}

/* Reads the user at the other end (unix(7), SO_PEERCRED). */
static void note_peer(const struct cbx_http_exchange *e, struct cbx_http_request *out)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    int fd = MHD_get_connection_info(e->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    out->has_peer = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    out->peer = out->has_peer ? peer.uid : (uid_t)-1;
}

void cbx_http_answer(struct cbx_http_exchange *e, const struct cbx_http_response *response)
{
    e->response = *response;
    e->answered = true;
    MHD_resume_connection(e->connection);
}

void cbx_http_on_end(struct cbx_http_exchange *e, void (*ended)(void *context), void *context)
{
    e->ended = ended;
    e->ended_context = context;
}

void cbx_http_drop_gone(const struct cbx_http_exchange *e)
{
    cbx_http_streams_drop_gone(&e->server->streams);
}

bool cbx_http_is_gone(const struct cbx_http_exchange *e)
{
    return cbx_http_connection_is_gone(e->connection);
}

static void serve(void *context)
{
    struct cbx_http_exchange *e = context;
    struct cbx_http_server *server = e->server;
    if (server->config.replicas) {
        note_client(e);
    } else if (!server->config.local) {
        note_address(e);
    }
    struct cbx_http_request request = make_request(e);
    if (server->config.local) {
        note_peer(e, &request);
    }
    struct cbx_http_response response = { 0 };
    if (e->crowded) {
        cbx_log(CBX_LOG_WARNING, "request %s: %s %.200s answered 503: too many large requests",
                e->id, e->method, e->target);
        server->config.refuse(503, "too many large requests at the same time; try again later",
                              &response);
    } else if (e->body.overflow) {
        server->config.refuse(413, server->too_large, &response);
    } else {
        server->config.handler(server->config.context, &request, &response);
    }
    if (!response.answered) { /* else the exchange may have ended already */
        cbx_http_answer(e, &response);
    }
}

/* --- the event loop --------------------------------------------------------------------------- */

/* The library parses a request in its receive buffer, and ends each part of it with NUL in place
 * of the byte after it. So the parts of a request with one blank between the words of its first
 * line, and lines that end with CR LF, are adjacent, and as long as the whole. If the library
 * accepted another form of such a line (a lone LF, a folded line, a NUL, a field without a
 * name), they are not adjacent or have another length. */
struct lines {
    struct cbx_http_headers *headers;
    const char *next; /* expected address of the next part */
};
enum { LINE_END_BYTES = 2 };

static enum MHD_Result note_field(void *context, enum MHD_ValueKind kind, const char *key,
                                  size_t key_len, const char *value, size_t value_len)
{
    (void)kind;
    struct lines *lines = context;
    lines->headers->misread |= key != lines->next || value == NULL;
    lines->next = value != NULL ? value + value_len + LINE_END_BYTES : NULL;
    cbx_http_check_field(lines->headers, (struct cbx_str){ .p = key, .len = key_len },
                         (struct cbx_str){ .p = value != NULL ? value : "", .len = value_len });
    return MHD_YES;
}

/* Checks all fields, and whether the parts are the whole. */
static void note_fields(struct cbx_http_exchange *e, const char *method, const char *version)
{
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(e->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    bool in_order = e->target_at == method + strlen(method) + 1 &&
                    version == e->target_at + strlen(e->target) + 1;
    struct lines lines = { .headers = &e->headers,
                           .next = version + strlen(version) + LINE_END_BYTES };
    MHD_get_connection_values_n(e->connection, MHD_HEADER_KIND, note_field, &lines);
    e->headers.misread |= size == NULL || !in_order || lines.next == NULL ||
                          lines.next + LINE_END_BYTES != method + size->header_size;
}

static bool is_reserved(const struct cbx_http_server *server, const struct cbx_http_exchange *e)
{
    const char *const *path = server->config.reserved_paths;
    while (path != NULL && *path != NULL && !cbx_str_is(make_request(e).path, *path)) {
        path++;
    }
    return path != NULL && *path != NULL;
}

/* Returns 0, or the status with which a connection in the reserve is refused. */
static int check_place(const struct cbx_http_server *server, const struct cbx_http_exchange *e,
                       const char **detail)
{
    static const struct {
        int status;
        const char *detail;
    } refusals[] = {
        [CBX_PLACE_ORDINARY] = { 0, NULL },
        [CBX_PLACE_RESERVE_FULL] = { 503, "all connections of the server are in use; close idle "
                                          "ones, or try again later" },
        [CBX_PLACE_RESERVE_PEER] = { 429, "this client has as many connections as one client may; "
                                          "close idle ones, or try again later" },
    };
    enum cbx_http_place place = cbx_http_connection_place(e->at);
    if (is_reserved(server, e)) {
        return 0;
    }
    *detail = refusals[place].detail;
    return refusals[place].status;
}

/* The first call, with only the headers. A refusal closes the connection, because the following
 * bytes cannot be trusted to be a request. */
static enum MHD_Result check_request(struct cbx_http_server *server, struct cbx_http_exchange *e,
                                     const char *method, const char *version)
{
    const char *detail = "HTTP/1.1 or 1.0 is needed";
    const struct cbx_http_names names = { .port = server->config.local ? 80 : server->port,
                                          .https = server->config.tls,
                                          .hosts = server->config.hosts,
                                          .host_count = server->config.host_count,
                                          .origin = server->config.origin,
                                          .any = server->config.replicas };
    e->checked = true;
    e->method = strdup(method);
    cbx_buf_init(&e->body, server->config.max_body_bytes);
    int status = 505;
    /* from proxies without another configuration */
    e->headers.old = strcmp(version, "HTTP/1.0") == 0;
    if (e->headers.old || strcmp(version, "HTTP/1.1") == 0) {
        note_fields(e, method, version);
        status = cbx_http_check(&e->headers, cbx_str_of(method), cbx_str_of(e->target), &names,
                                server->config.max_body_bytes, &detail);
    }
    status = status == 0 ? check_place(server, e, &detail) : status;
    if (status == 0) {
        return cbx_http_connection_await(server->connections, e->at, CBX_AWAIT_BODY) ? MHD_YES
                                                                                     : MHD_NO;
    }
    e->refused = true;
    server->config.refuse(status, status == 413 ? server->too_large : detail, &e->response);
    return cbx_http_send(e, e->connection, true, &e->response);
}

/* Stores a piece of the body, or drops it if it does not fit. Later bytes are read for a while,
 * so that a client that sends all before it reads gets its response; MHD_NO ends the connection. */
static enum MHD_Result take_piece(struct cbx_http_server *server, struct cbx_http_exchange *e,
                                  const char *data, size_t *size)
{
    size_t before = e->body.size;
    e->crowded = e->crowded || server->bodies_bytes + *size > BODIES_MAX_BYTES;
    if (e->crowded || cbx_buf_add_bytes(&e->body, data, *size) != 0) {
        e->surplus += *size;
    }
    server->bodies_bytes += e->body.size - before;
    *size = 0;
    return e->surplus / SURPLUS_TIMES <= server->config.max_body_bytes ? MHD_YES : MHD_NO;
}

/* False if the server is stopping: no thread would resume the connection. */
static bool queue_exchange(struct cbx_http_server *server, struct cbx_http_exchange *e)
{
    pthread_mutex_lock(&server->lock);
    bool open = !server->stopping;
    if (open) {
        MHD_suspend_connection(e->connection);
        e->queued = true;
        e->work = (struct cbx_work){ .run = serve, .context = e };
        server->unsent++;
        cbx_threads_queue(is_reserved(server, e) ? server->reserved_threads : server->threads,
                          &e->work);
    }
    pthread_mutex_unlock(&server->lock);
    return open;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state)
{
    (void)url;
    struct cbx_http_server *server = context;
    struct cbx_http_exchange *e = *state;
    if (e == NULL) {
        return MHD_NO;
    }
    if (!e->checked) {
        e->connection = connection;
        return check_request(server, e, method, version);
    }
    if (e->refused) {
        *size = 0;
        return MHD_YES;
    }
    if (*size > 0) {
        return take_piece(server, e, data, size);
    }
    if (!cbx_http_connection_await(server->connections, e->at, CBX_AWAIT_NOTHING)) {
        return MHD_NO;
    }
    if (!e->answered && queue_exchange(server, e)) {
        return MHD_YES;
    }
    if (!e->answered) {
        server->config.refuse(503, "the server is stopping", &e->response);
    }
    bool close =
        e->surplus > 0 || !e->answered || cbx_http_connection_place(e->at) != CBX_PLACE_ORDINARY;
    return cbx_http_send(e, connection, close, &e->response);
}

static struct cbx_http_connection *find_connection(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* Called with the first line's target before any other call; the returned value is the request's
 * state. */
static void *begin_request(void *context, const char *target, struct MHD_Connection *connection)
{
    struct cbx_http_server *server = context;
    struct cbx_http_exchange *e = cbx_new(sizeof(*e));
    e->target = cbx_str_copy(cbx_str_of(target));
    e->target_at = target;
    cbx_id_make(e->id);
    e->began_ms = cbx_clock_ms();
    e->server = server;
    e->at = find_connection(connection);
    cbx_http_connection_await(server->connections, e->at, CBX_AWAIT_HEADERS);
    return e;
}

static void end_request(void *context, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode code)
{
    (void)connection;
    (void)code;
    struct cbx_http_server *server = context;
    struct cbx_http_exchange *e = *state;
    if (e != NULL) {
        cbx_http_connection_await(server->connections, e->at, CBX_AWAIT_NEXT);
        if (e->checked) {
            server->bodies_bytes -= e->body.size;
            cbx_buf_done(&e->body);
        }
        if (e->queued) {
            pthread_mutex_lock(&server->lock);
            server->unsent--;
            pthread_cond_signal(&server->sent);
            pthread_mutex_unlock(&server->lock);
        }
        if (e->ended != NULL) {
            e->ended(e->ended_context);
        }
        json_decref(e->response.json);
        json_decref(e->response.relayed);
        free(e->response.bytes);
        free(e->response.attachment);
        free(e->method);
        free(e->target);
        free(e);
        *state = NULL;
    }
}

/* A connection begins or ends; the socket is open in both cases. */
static void note_connection(void *context, struct MHD_Connection *connection, void **entry,
                            enum MHD_ConnectionNotificationCode code)
{
    struct cbx_http_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        const struct sockaddr *address =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
        *entry = cbx_http_connection_add(server->connections, fd, address);
    } else {
        cbx_http_connection_remove(server->connections, *entry);
        *entry = NULL;
    }
}

/* Paths are compared as sent: %2f is no slash, %00 ends no string. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* --- life ------------------------------------------------------------------------------------- */

/* The daemon owns `fd`. */
static int start_daemon(struct cbx_http_server *server, int fd, struct cbx_err *err)
{
    gnutls_certificate_retrieve_function2 *give = cbx_tls_give;
    void *callback; /* POSIX permits a function's address in it (dlsym) */
    memcpy(&callback, &give, sizeof(callback));
    const struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_CERT_CALLBACK, 0, callback },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)cbx_tls_priorities },
        { MHD_OPTION_END, 0, NULL },
    };
    const struct MHD_OptionItem listening[] = {
        { MHD_OPTION_LISTEN_SOCKET, fd, NULL },
        { MHD_OPTION_END, 0, NULL },
    };
    const struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
    const unsigned tls_flag = server->config.tls ? MHD_USE_TLS : 0;
    const unsigned link_flag = server->config.replicas ? MHD_USE_NO_LISTEN_SOCKET : 0;
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | tls_flag | link_flag, 0, NULL,
        NULL, handle, server, MHD_OPTION_URI_LOG_CALLBACK, begin_request, server,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
        end_request, server, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(server->config.limits.connections + server->config.limits.reserve),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SENDING_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX_BYTES, MHD_OPTION_ARRAY,
        server->config.tls ? tls : none, MHD_OPTION_ARRAY,
        server->config.replicas ? none : listening, MHD_OPTION_END);
    if (server->daemon == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return cbx_fail(err, CBX_EIO, "the HTTP server on port %u could not be started",
                        server->port);
    }
    return 0;
}

int cbx_http_server_new(const struct cbx_http_config *config, struct cbx_http_server **out,
                        struct cbx_err *err)
{
    CBX_AUTO_FD listening = config->listening;
    CBX_AUTO(http_server) server = cbx_new(sizeof(*server));
    server->config = *config;
    snprintf(server->too_large, sizeof(server->too_large),
             "the body is larger than the %zu bytes that this server takes",
             config->max_body_bytes);
    if (config->hsts_s > 0) {
        snprintf(server->hsts, sizeof(server->hsts), "max-age=%lld", (long long)config->hsts_s);
    }
    pthread_mutex_init(&server->lock, NULL);
    cbx_cond_init(&server->sent);
    cbx_http_limits_resolve(&server->config.limits);
    server->threads = cbx_threads_new(config->threads);
    server->reserved_threads = cbx_threads_new(RESERVED_THREADS);
    cbx_http_streams_init(&server->streams, server->config.limits.stall_ms);
    server->port = config->port;
    server->connections = cbx_http_connections_new(
        &server->config.limits, config->tls ? NULL : config->refuse); /* 408 would be cleartext */
    if (server->connections == NULL) {
        return cbx_fail(err, CBX_EIO, "no thread can be created for the HTTP server");
    }
    int failed = start_daemon(server, cbx_fd_steal(&listening), err);
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&server);
    return 0;
}

/* libmicrohttpd closes the descriptor if it cannot take it. */
void cbx_http_server_add(struct cbx_http_server *server, int fd)
{
    static const struct sockaddr_un none = { .sun_family = AF_UNIX };
    if (MHD_add_connection(server->daemon, fd, (const struct sockaddr *)&none, sizeof(none)) !=
        MHD_YES) {
        cbx_log(CBX_LOG_WARNING, "a connection of another replica cannot be served: %s",
                strerror(errno));
    }
}

uint16_t cbx_http_server_port(const struct cbx_http_server *server)
{
    return server->port;
}

/* libmicrohttpd drops unwritten bytes when it stops; a client that does not read gets only this
 * time. */
static void await_last_answers(struct cbx_http_server *server)
{
    int64_t end_ms = cbx_clock_ms() + LAST_ANSWERS_MS;
    pthread_mutex_lock(&server->lock);
    while (server->unsent > 0 && cbx_cond_wait_until(&server->sent, &server->lock, end_ms)) {
    }
    pthread_mutex_unlock(&server->lock);
}

/* libmicrohttpd also aborts if it is stopped with suspended connections. Once `stopping` is set
 * no request is suspended any more, and the threads end only after they have resumed all. A
 * stream that has not ended in time is cut. */
void cbx_http_server_free(struct cbx_http_server *server)
{
    if (server == NULL) {
        return;
    }
    int listening = server->daemon != NULL ? MHD_quiesce_daemon(server->daemon) : -1;
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_mutex_unlock(&server->lock);
    cbx_threads_free(server->threads);
    cbx_threads_free(server->reserved_threads);
    if (server->daemon != NULL) {
        await_last_answers(server);
        cbx_http_streams_cut(&server->streams);
        MHD_stop_daemon(server->daemon);
    }
    if (listening >= 0) {
        close(listening);
    }
    pthread_mutex_destroy(&server->lock);
    pthread_cond_destroy(&server->sent);
    cbx_http_streams_done(&server->streams);
    cbx_http_connections_free(server->connections);
    free(server);
}
