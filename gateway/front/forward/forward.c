/* SPDX-License-Identifier: MIT
 * Requests to other replicas, over sockets of the process of links. A connection that is used
 * again may turn out to be closed, and then it is not known whether its request was carried out.
 * So a request without an effect that uses one again is repeated, and before any other request a
 * question without an effect is answered over the connection: what is sent then arrives as over a
 * new one, without the handshake of TLS. libcurl does none of it (version 7.88 connects a socket
 * that is connected). */
#include "gateway/front/forward/forward.h"

#include "gateway/front/forward/owner.h"
#include "gateway/front/forward/response.h"
#include "gateway/front/rest/rest.h"
#include "gateway/ipc/metrics.h"
#include "gateway/ipc/wire/replica_channel.h"
#include "policies/base/auto.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    IDLE_MAX = 16, /* connections to one replica that wait for a request */
    IDLE_MS = 30000,
    IDLE_ANSWER_MS = 3000, /* for the first byte over a link that was idle; then a new one */
    CONFIRM_MAX = 4096,    /* bytes of the response that confirms a link */
    HEADERS_MAX = 64 * 1024,
    BODY_MAX = 160 * 1024 * 1024, /* a file has at most CBX_WIRE_BYTES_MAX, a result less */
    LIST_MAX = 64 * 1024 * 1024,
    TICK_MS = 500,
    PIECE_BYTES = 64 * 1024,
};

/* An open connection without a request. */
struct idle {
    int fd;
    int64_t since_ms;
};

struct cbx_forwarder {
    const struct cbx_replicas *replicas;
    int channel;
    size_t most_bytes;   /* of all bodies that are collected at the same time */
    atomic_size_t bytes; /* of these */
    pthread_mutex_t lock;
    struct {
        struct idle items[IDLE_MAX];
        size_t count;
    } idle[CBX_REPLICAS_MAX];
};

struct cbx_forwarder *cbx_forwarder_new(const struct cbx_replicas *replicas, int channel)
{
    struct cbx_forwarder *f = cbx_new(sizeof(*f));
    f->replicas = replicas;
    f->channel = channel;
    f->most_bytes = CBX_FORWARD_BYTES_MAX;
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

void cbx_forwarder_set_max_bytes(struct cbx_forwarder *f, size_t bytes)
{
    f->most_bytes = bytes;
}

void cbx_forwarder_free(struct cbx_forwarder *f)
{
    if (f == NULL) {
        return;
    }
    for (size_t i = 0; i < f->replicas->count; i++) {
        for (size_t k = 0; k < f->idle[i].count; k++) {
            close(f->idle[i].items[k].fd);
        }
    }
    pthread_mutex_destroy(&f->lock);
    free(f);
}

const struct cbx_replicas *cbx_forwarder_replicas(const struct cbx_forwarder *f)
{
    return f->replicas;
}

/* --- connections ------------------------------------------------------------------------------ */

static size_t index_of(const struct cbx_forwarder *f, const struct cbx_replica *replica)
{
    return (size_t)(replica - f->replicas->others);
}

/* True if the other end has neither closed the connection nor written to it. */
static bool is_usable(const struct idle *idle)
{
    struct pollfd ready = { .fd = idle->fd, .events = POLLIN };
    return cbx_clock_ms() - idle->since_ms < IDLE_MS && poll(&ready, 1, 0) == 0;
}

/* Returns an idle connection, the one that was used last; -1 = there is none. */
static int take_idle(struct cbx_forwarder *f, size_t index)
{
    int fd = -1;
    pthread_mutex_lock(&f->lock);
    while (fd < 0 && f->idle[index].count > 0) {
        const struct idle *idle = &f->idle[index].items[--f->idle[index].count];
        if (is_usable(idle)) {
            fd = idle->fd;
        } else {
            close(idle->fd);
        }
    }
    pthread_mutex_unlock(&f->lock);
    return fd;
}

static void give_idle(struct cbx_forwarder *f, size_t index, int fd)
{
    pthread_mutex_lock(&f->lock);
    bool kept = f->idle[index].count < IDLE_MAX;
    if (kept) {
        f->idle[index].items[f->idle[index].count++] =
            (struct idle){ .fd = fd, .since_ms = cbx_clock_ms() };
    }
    pthread_mutex_unlock(&f->lock);
    if (!kept) {
        close(fd);
    }
}

/* --- one transfer ----------------------------------------------------------------------------- */

struct transfer {
    struct cbx_forwarder *forwarder;
    const struct cbx_replica *replica;
    /* its client, whose disconnection ends the transfer; NULL = the transfer does not depend on it */
    const struct cbx_http_exchange *client;
    struct cbx_http_exchange *exchange; /* the client gets events as they come; NULL = none */
    struct cbx_http_stream *stream;     /* NULL: the response is collected */
    const atomic_bool *cancelled;       /* NULL = never */
    int64_t until_ms;                   /* time of cbx_clock_ms; 0 = no limit */
    int64_t first_until_ms;             /* the same, for the first byte of the response */
    struct cbx_response_sink sink;
    struct cbx_response response;
    struct cbx_buf body;
    size_t counted; /* bytes that it added to the forwarder's */
    json_t *relayed;
    bool is_of_page; /* the response may have a Content-Security-Policy of its own */
    bool streams;    /* the response is a stream of events */
    bool sent;       /* a byte of the request may have reached the replica */
};

/* Headers of a connection and not of a response (RFC 9110, section 7.6.1), headers that
 * libmicrohttpd writes, and those that protect a browser, which only this replica sets: the other
 * one may be taken over. */
static bool is_relayed(const struct transfer *t, struct cbx_str name)
{
#define CBX_HTTP_HEADER(name, value) name,
    static const char *const own[] = {
#include "gateway/front/http/headers.def"
        "X-Request-Id",
        "Strict-Transport-Security",
        "Connection",
        "Keep-Alive",
        "Transfer-Encoding",
        "Trailer",
        "TE",
        "Proxy-Connection",
        "Content-Length",
        "Date",
        "Upgrade",
    };
#undef CBX_HTTP_HEADER
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (cbx_str_is_nocase(name, own[i])) {
            return false;
        }
    }
    return t->is_of_page || !cbx_str_is_nocase(name, "Content-Security-Policy");
}

static int take_field(void *context, struct cbx_str name, struct cbx_str value)
{
    struct transfer *t = context;
    if (cbx_str_is_nocase(name, "Content-Type")) {
        t->streams = cbx_str_starts(value, CBX_STR("text/event-stream"));
    }
    if (is_relayed(t, name)) {
        CBX_AUTO_MEM char *key = cbx_str_copy(name);
        json_object_set_new(t->relayed, key, json_stringn(value.p, value.len));
    }
    return 0;
}

static int begin(void *context, int status)
{
    struct transfer *t = context;
    if (t->streams && t->exchange != NULL) {
        t->stream = cbx_http_stream_new();
        struct cbx_http_response events = { .status = status,
                                            .stream = t->stream,
                                            .type = "text/event-stream",
                                            .relayed = cbx_steal(&t->relayed) };
        cbx_http_answer(t->exchange, &events);
    }
    return 0;
}

static int take_body(void *context, struct cbx_str piece)
{
    struct transfer *t = context;
    if (t->stream != NULL) {
        return cbx_http_stream_add(t->stream, piece);
    }
    t->counted += piece.len;
    if (atomic_fetch_add(&t->forwarder->bytes, piece.len) + piece.len > t->forwarder->most_bytes) {
        return CBX_ETOOBIG;
    }
    return cbx_buf_add(&t->body, piece);
}

static void transfer_begin(struct transfer *t, size_t max_bytes)
{
    t->sink = (struct cbx_response_sink){
        .field = take_field, .begin = begin, .body = take_body, .context = t
    };
    t->relayed = json_object();
    cbx_buf_init(&t->body, max_bytes);
    cbx_response_init(&t->response, &t->sink);
}

static void transfer_done(struct transfer *t)
{
    atomic_fetch_sub(&t->forwarder->bytes, t->counted);
    cbx_response_done(&t->response);
    cbx_buf_done(&t->body);
    json_decref(t->relayed);
}

static bool is_cancelled(const struct transfer *t)
{
    return t->cancelled != NULL && atomic_load(t->cancelled);
}

/* False for a client that has disconnected, a call that was cancelled, and after the deadline. */
static bool goes_on(const struct transfer *t)
{
    bool gone = t->stream != NULL ? cbx_http_stream_is_gone(t->stream)
                                  : t->client != NULL && cbx_http_is_gone(t->client);
    return !gone && !is_cancelled(t) && (t->until_ms == 0 || cbx_clock_ms() < t->until_ms);
}

static bool is_awaited(const void *context)
{
    return goes_on(context);
}

static int fail_ended(struct cbx_err *err)
{
    return cbx_fail(err, CBX_ETIMEDOUT, "the request ended before its response");
}

static int wait_for(const struct transfer *t, int fd, short events, struct cbx_err *err)
{
    struct pollfd ready = { .fd = fd, .events = events };
    for (;;) {
        if (!goes_on(t)) {
            return fail_ended(err);
        }
        if (t->first_until_ms != 0 && !cbx_response_has_begun(&t->response) &&
            cbx_clock_ms() >= t->first_until_ms) {
            return cbx_fail(err, CBX_ETIMEDOUT, "the link is silent");
        }
        if (poll(&ready, 1, TICK_MS) > 0) {
            return 0;
        }
    }
}

static int send_all(struct transfer *t, int fd, struct cbx_str bytes, struct cbx_err *err)
{
    while (bytes.len > 0) {
        ssize_t n = send(fd, bytes.p, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            t->sent = true;
            bytes = cbx_str_sub(bytes, (size_t)n, bytes.len);
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return cbx_fail(err, CBX_EIO, "the link ended");
        }
        int failed = wait_for(t, fd, POLLOUT, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static int receive(struct transfer *t, int fd, struct cbx_err *err)
{
    CBX_AUTO_MEM char *piece = cbx_renew(NULL, 1, PIECE_BYTES);
    while (!cbx_response_is_done(&t->response)) {
        int failed = wait_for(t, fd, POLLIN, err);
        if (failed) {
            return failed;
        }
        ssize_t n = recv(fd, piece, PIECE_BYTES, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            continue;
        }
        if (n <= 0) {
            return cbx_response_end(&t->response, err);
        }
        failed =
            cbx_response_take(&t->response, (struct cbx_str){ .p = piece, .len = (size_t)n }, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static bool is_safe(const struct cbx_http_request *request)
{
    return cbx_str_is(request->method, "GET");
}

static void write_head(const struct transfer *t, const struct cbx_http_request *request,
                       struct cbx_buf *out)
{
    const struct {
        const char *name;
        struct cbx_str value;
    } fields[] = {
        { "Host", request->host.len > 0 ? request->host : CBX_STR("replica") },
        { "Content-Type", request->content_type },
        { "Accept", request->accept },
        { "Authorization", request->authorization },
        { "Idempotency-Key", request->idempotency_key },
        { "Cookie", request->cookie },
        { "MCP-Protocol-Version", request->mcp.version },
        { "Mcp-Method", request->mcp.method },
        { "Mcp-Name", request->mcp.name },
        { "Mcp-Session-Id", request->mcp.session },
        { "traceparent", request->trace },
        { CBX_HTTP_REPLICA, cbx_str_of(t->forwarder->replicas->own_name) },
        { CBX_HTTP_CLIENT, cbx_str_of(request->address) },
        { "X-Request-Id", cbx_str_of(request->id) },
    };
    cbx_buf_add(out, request->method);
    cbx_buf_add_char(out, ' ');
    cbx_buf_add(out, request->path);
    if (request->query.len > 0) {
        cbx_buf_add_char(out, '?');
        cbx_buf_add(out, request->query);
    }
    cbx_buf_add_cstr(out, " HTTP/1.1\r\n");
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (fields[i].value.len > 0) {
            cbx_buf_printf(out, "%s: ", fields[i].name);
            cbx_buf_add(out, fields[i].value);
            cbx_buf_add_cstr(out, "\r\n");
        }
    }
    if (!is_safe(request)) {
        cbx_buf_printf(out, "Content-Length: %zu\r\n", request->body.len);
    }
    cbx_buf_add_cstr(out, "\r\n");
}

/* Sends the request over a connection and receives the response. */
static int exchange(struct transfer *t, int fd, const struct cbx_http_request *request,
                    struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, 2 * HEADERS_MAX);
    write_head(t, request, &head);
    if (head.overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the header of the request is too large to forward");
    }
    int failed = send_all(t, fd, cbx_buf_str(&head), err);
    if (!failed && !is_safe(request)) {
        failed = send_all(t, fd, request->body, err);
    }
    if (failed) {
        return failed;
    }
    return receive(t, fd, err);
}

/* Exchanges over an idle connection. False if no byte of a response has come: the replica had
 * closed it meanwhile, or it is silent, as that of a replica that is stopped, whose host still
 * acknowledges what arrives. A new link tells whether the replica is there. */
static bool exchange_again(struct transfer *t, const struct cbx_http_request *request, int *failed,
                           struct cbx_err *err)
{
    size_t index = index_of(t->forwarder, t->replica);
    int fd = is_safe(request) ? take_idle(t->forwarder, index) : -1;
    if (fd < 0) {
        return false;
    }
    t->first_until_ms = cbx_clock_ms() + IDLE_ANSWER_MS;
    *failed = exchange(t, fd, request, err);
    t->first_until_ms = 0;
    if (*failed == 0 && cbx_response_leaves_open(&t->response)) {
        give_idle(t->forwarder, index, fd);
    } else {
        close(fd);
    }
    return *failed == 0 || cbx_response_has_begun(&t->response) || !goes_on(t);
}

/* True if the other front answers over an idle connection, and leaves it open. */
static bool confirm(const struct transfer *t, int fd)
{
    static const struct cbx_http_request alive = {
        .method = CBX_STR("GET"), .path = CBX_STR("/livez"), .address = "", .id = ""
    };
    struct transfer question = { .forwarder = t->forwarder,
                                 .replica = t->replica,
                                 .client = t->client,
                                 .cancelled = t->cancelled,
                                 .until_ms = cbx_clock_ms() + IDLE_ANSWER_MS };
    struct cbx_err err;
    transfer_begin(&question, CONFIRM_MAX);
    bool answered = exchange(&question, fd, &alive, &err) == 0 && question.response.status == 200 &&
                    cbx_response_leaves_open(&question.response);
    transfer_done(&question);
    return answered;
}

static int open_link(const struct transfer *t, int *out, struct cbx_err *err)
{
    int failed = cbx_link_open(t->forwarder->channel, index_of(t->forwarder, t->replica),
                               is_awaited, t, out, err);
    if (failed && !goes_on(t)) {
        return fail_ended(err);
    }
    return failed;
}

/* Returns a connection for a request that may change something: an idle one that is confirmed,
 * else a new one. */
static int connect_confirmed(struct transfer *t, int *out, struct cbx_err *err)
{
    CBX_AUTO_FD idle = take_idle(t->forwarder, index_of(t->forwarder, t->replica));
    if (idle >= 0 && confirm(t, idle)) {
        *out = cbx_fd_steal(&idle);
        return 0;
    }
    return open_link(t, out, err);
}

static int exchange_once(struct transfer *t, const struct cbx_http_request *request,
                         struct cbx_err *err)
{
    size_t index = index_of(t->forwarder, t->replica);
    CBX_AUTO_FD fd = -1;
    t->sent = false;
    int failed;
    if (is_safe(request)) { /* the idle one failed */
        failed = open_link(t, &fd, err);
    } else {
        failed = connect_confirmed(t, &fd, err);
    }
    if (failed) {
        return failed;
    }
    failed = exchange(t, fd, request, err);
    if (!failed && cbx_response_leaves_open(&t->response)) {
        give_idle(t->forwarder, index, cbx_fd_steal(&fd));
    }
    return failed;
}

static int perform(struct transfer *t, const struct cbx_http_request *request, size_t max_bytes,
                   struct cbx_err *err)
{
    int failed = 0;
    transfer_begin(t, max_bytes);
    if (!exchange_again(t, request, &failed, err)) {
        *err = (struct cbx_err){ 0 };
        failed = exchange_once(t, request, err);
    }
    struct cbx_str result = CBX_STR("ok");
    if (failed) {
        result = t->sent ? CBX_STR("broken") : CBX_STR("unreachable");
    }
    cbx_metric_count(CBX_METRIC_FORWARDED, cbx_str_of(t->replica->name), result);
    return failed;
}

/* --- forwarding ------------------------------------------------------------------------------- */

static void refuse(const struct transfer *t, const struct cbx_err *err,
                   const struct cbx_http_request *request, struct cbx_http_response *out)
{
    enum { RETRY_S = 2 };
    char text[700];
    bool unknown = t->sent && !is_safe(request);
    if (unknown) {
        snprintf(text, sizeof(text),
                 "replica '%s', which serves this, broke off: %.250s. Whether it carried the "
                 "request out is not known: read the object, and send an Idempotency-Key with "
                 "requests that may be repeated",
                 t->replica->name, err->text);
    } else {
        snprintf(text, sizeof(text),
                 "replica '%s', which serves this, cannot be reached: %.250s. Nothing was done; "
                 "try again later",
                 t->replica->name, err->text);
    }
    /* Clients that disconnect must neither fill the log nor blame the replica. */
    cbx_log(goes_on(t) ? CBX_LOG_WARNING : CBX_LOG_DEBUG, "request %s: %s", request->id, text);
    cbx_rest_refuse(unknown ? 502 : 503, text, out);
    out->retry_s = RETRY_S;
}

static void make_response(struct transfer *t, struct cbx_http_response *out)
{
    out->status = t->response.status;
    out->relayed = cbx_steal(&t->relayed);
    out->bytes_len = t->body.len;
    out->bytes = t->body.len > 0 ? cbx_buf_take(&t->body) : NULL;
}

void cbx_forward(struct cbx_forwarder *f, const struct cbx_replica *replica,
                 const struct cbx_http_request *request, const atomic_bool *cancelled,
                 struct cbx_http_response *out)
{
    struct transfer t = { .forwarder = f,
                          .replica = replica,
                          .client = request->exchange,
                          .exchange = request->exchange,
                          .is_of_page = cbx_owner_is_of_page(request->path),
                          .cancelled = cancelled };
    struct cbx_err err = { 0 };
    int failed = perform(&t, request, BODY_MAX, &err);
    if (t.stream != NULL) {
        cbx_http_stream_end(t.stream);
        out->answered = true;
    } else if (!failed) {
        make_response(&t, out);
    } else if (is_cancelled(&t)) {
        out->status = 202;
    } else {
        refuse(&t, &err, request, out);
    }
    transfer_done(&t);
}

/* --- asking all ------------------------------------------------------------------------------- */

struct question {
    struct cbx_forwarder *forwarder;
    const struct cbx_http_request *request;
    struct cbx_forward_answer *answer;
    pthread_t thread;
    bool started;
};

static void *ask(void *context)
{
    const struct question *q = context;
    struct cbx_forward_answer *answer = q->answer;
    /* What has an effect reaches all replicas, whether its client is there or not. */
    struct transfer t = { .forwarder = q->forwarder,
                          .replica = answer->replica,
                          .client = is_safe(q->request) ? q->request->exchange : NULL,
                          .until_ms = cbx_clock_ms() + CBX_FORWARD_ALL_MS };
    struct cbx_err err = { 0 };
    int failed = perform(&t, q->request, LIST_MAX, &err);
    if (!failed) {
        failed = cbx_json_parse(cbx_buf_str(&t.body), LIST_MAX, &answer->json, &err);
    }
    if (failed) {
        snprintf(answer->reason, sizeof(answer->reason), "%.250s", err.text);
    } else {
        answer->status = t.response.status;
    }
    transfer_done(&t);
    return NULL;
}

size_t cbx_forward_all(struct cbx_forwarder *f, const struct cbx_http_request *request,
                       struct cbx_forward_answer answers[CBX_REPLICAS_MAX])
{
    struct question questions[CBX_REPLICAS_MAX];
    size_t count = f->replicas->count;
    for (size_t i = 0; i < count; i++) {
        answers[i] = (struct cbx_forward_answer){ .replica = &f->replicas->others[i] };
        questions[i] =
            (struct question){ .forwarder = f, .request = request, .answer = &answers[i] };
        questions[i].started = pthread_create(&questions[i].thread, NULL, ask, &questions[i]) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (questions[i].started) {
            pthread_join(questions[i].thread, NULL);
        } else {
            ask(&questions[i]);
        }
    }
    return count;
}
