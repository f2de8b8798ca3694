/* SPDX-License-Identifier: MIT
 * Streamable HTTP. */
#include "gateway/front/mcp/protocol/http.h"

#include "gateway/front/mcp/protocol/mcp_server.h"

/* A request while it is served. */
struct served {
    const struct cbx_http_request *http;
    struct cbx_http_stream *stream; /* NULL: the response is JSON */
    bool disconnect_cancels;
    struct cbx_mcp_call call; /* in its session, which may cancel it */
};

static bool is_gone(void *context)
{
    const struct served *s = context;
    return s->stream != NULL ? cbx_http_stream_is_gone(s->stream)
                             : cbx_http_is_gone(s->http->exchange);
}

static bool is_cancelled(void *context)
{
    struct served *s = context;
    return atomic_load(&s->call.cancelled) || (s->disconnect_cancels && is_gone(s));
}

static void send_comment(void *context)
{
    const struct served *s = context;
    cbx_http_stream_add(s->stream, CBX_STR(":\n\n"));
}

/* Sends one event (WHATWG HTML, 9.2.6); a line of JSON has its end. */
static void send_event(void *context, struct cbx_str line)
{
    struct served *s = context;
    CBX_AUTO_DONE(buf) event;
    cbx_buf_init(&event, line.len + 64);
    cbx_buf_add_cstr(&event, "event: message\ndata: ");
    cbx_buf_add(&event, line);
    cbx_buf_add_char(&event, '\n');
    cbx_http_stream_add(s->stream, cbx_buf_str(&event));
}

static void answer_bytes(struct cbx_http_response *out, int status, struct cbx_buf *line)
{
    out->status = status;
    out->bytes_len = line->len;
    out->bytes = cbx_buf_take(line);
}

static bool has_word(struct cbx_str text, const char *word)
{
    return text.len > 0 && memmem(text.p, text.len, word, strlen(word)) != NULL;
}

static void refuse(struct cbx_http_response *out, int status, const char *id, int code,
                   const char *text, const json_t *data)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    cbx_rpc_write_error(&line, id, code, text, data);
    answer_bytes(out, status, &line);
}

static void refuse_session(struct cbx_http_response *out, const char *id)
{
    refuse(out, 404, id, CBX_RPC_INVALID_REQUEST, "there is no such session; begin with initialize",
           NULL);
}

/* --- sessions --------------------------------------------------------------------------------- */

/* An initialize opens a session; a header of the response has its id. A client that does not
 * send the id with its other requests is served without a session. */
static void open_session(const struct cbx_mcp *mcp, const struct cbx_http_request *http,
                         const struct cbx_rpc_message *message, struct cbx_http_response *out)
{
    bool opens = cbx_str_is(message->method, "initialize") &&
                 json_is_string(json_object_get(message->params, "protocolVersion"));
    if (opens && !cbx_mcp_session_open(mcp->sessions, cbx_str_of(http->caller->principal),
                                       message->params, out->session)) {
        out->session[0] = '\0';
    }
}

/* False if the request is of a session that its principal does not have. */
static bool check_session(const struct cbx_mcp *mcp, const struct cbx_http_request *http)
{
    struct cbx_str id = http->mcp.session;
    return id.p == NULL ||
           cbx_mcp_session_use(mcp->sessions, cbx_str_of(http->caller->principal), id);
}

static void delete_session(const struct cbx_mcp *mcp, const struct cbx_http_request *http,
                           struct cbx_http_response *out)
{
    if (cbx_mcp_session_close(mcp->sessions, cbx_str_of(http->caller->principal),
                              http->mcp.session)) {
        out->status = 204;
    } else {
        refuse_session(out, "");
    }
}

/* Takes a response or a notification of the client. */
static void take_message(const struct cbx_mcp *mcp, const struct cbx_http_request *http,
                         const struct cbx_rpc_message *message, struct cbx_http_response *out)
{
    struct cbx_str session = http->mcp.session;
    const json_t *cancelled = cbx_mcp_cancelled_id(message);
    if (!check_session(mcp, http)) {
        refuse_session(out, "");
        return;
    }
    if (message->kind == CBX_RPC_RESPONSE) {
        cbx_mcp_session_answer(mcp->sessions, session, message->json);
    } else if (cancelled != NULL) {
        cbx_mcp_session_cancel(mcp->sessions, session, cancelled);
    }
    out->status = 202;
}

/* --- requests --------------------------------------------------------------------------------- */

/* Responds by events. A call that its client cancelled has no response. */
static void answer_by_stream(struct cbx_mcp *mcp, struct served *s,
                             const struct cbx_rpc_message *message, struct cbx_mcp_peer *peer,
                             struct cbx_http_response *out)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    s->stream = cbx_http_stream_new();
    peer->notify = send_event;
    peer->keep_alive = send_comment;
    peer->is_gone = is_gone;
    struct cbx_http_response events = { .status = 200,
                                        .stream = s->stream,
                                        .type = "text/event-stream" };
    out->answered = true;
    cbx_http_answer(s->http->exchange, &events);
    cbx_mcp_answer(mcp, message, peer, &line);
    if (!atomic_load(&s->call.cancelled)) {
        send_event(s, cbx_buf_str(&line));
    }
    cbx_http_stream_end(s->stream);
}

/* Responds by JSON; a call that its client cancelled has no response in it. */
static void answer_at_once(struct cbx_mcp *mcp, const struct served *s,
                           const struct cbx_rpc_message *message, const struct cbx_mcp_peer *peer,
                           struct cbx_http_response *out)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    cbx_mcp_answer(mcp, message, peer, &line);
    if (atomic_load(&s->call.cancelled)) {
        out->status = 202;
        return;
    }
    answer_bytes(out, 200, &line);
    open_session(mcp, s->http, message, out);
}

static void answer_request(struct cbx_mcp *mcp, const struct cbx_http_request *http,
                           const struct cbx_rpc_message *message, bool stateless,
                           struct cbx_http_response *out)
{
    /* another replica ends its connection for a call that is cancelled there */
    bool cancels = stateless || (http->replica.len > 0 && http->mcp.session.len == 0);
    struct served s = { .http = http, .disconnect_cancels = cancels };
    /* the request does not exist after its client disconnects */
    char session[CBX_MCP_SESSION_ID + 1];
    snprintf(session, sizeof(session), "%.*s",
             CBX_STR_ARG(stateless ? CBX_STR("") : http->mcp.session));
    struct cbx_mcp_peer peer = { .is_cancelled = is_cancelled,
                                 .context = &s,
                                 .session = cbx_str_of(session),
                                 .caller = http->caller };
    cbx_mcp_session_begin_call(mcp->sessions, peer.session, json_object_get(message->json, "id"),
                               &s.call);
    if (cbx_mcp_sends(mcp, message, peer.session) && has_word(http->accept, "text/event-stream")) {
        answer_by_stream(mcp, &s, message, &peer, out);
    } else {
        answer_at_once(mcp, &s, message, &peer, out);
    }
    cbx_mcp_session_end_call(mcp->sessions, &s.call);
}

static bool is_json(struct cbx_str type)
{
    static const char name[] = "application/json";
    size_t len = strlen(name);
    return type.len >= len && strncasecmp(type.p, name, len) == 0 &&
           (type.len == len || type.p[len] == ';' || type.p[len] == ' ');
}

static void serve_request(struct cbx_mcp *mcp, const struct cbx_http_request *http,
                          struct cbx_rpc_message *message, struct cbx_http_response *out)
{
    struct cbx_err err = { 0 };
    struct cbx_mcp_check check;
    int code = cbx_mcp_check(mcp, message, &http->mcp, &check, &err);
    if (code != 0) {
        refuse(out, check.status, message->id, code, err.text, check.data);
        json_decref(check.data);
        return;
    }
    if (!check.stateless && !check_session(mcp, http)) {
        refuse_session(out, message->id);
        return;
    }
    if (!check.stateless) {
        cbx_mcp_session_claims(mcp->sessions, http->mcp.session, &message->claims);
    }
    cbx_claims_read_http(http, &message->claims);
    cbx_claims_read_request(message->id, json_object_get(message->params, "_meta"),
                            &message->claims);
    cbx_claims_prove(http->caller, &message->claims);
    answer_request(mcp, http, message, check.stateless, out);
}

void cbx_mcp_http(struct cbx_mcp *mcp, const struct cbx_http_request *http,
                  struct cbx_http_response *out)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    if (cbx_str_is(http->method, "DELETE") && http->mcp.session.p != NULL) {
        delete_session(mcp, http, out);
        return;
    }
    if (!cbx_str_is(http->method, "POST")) {
        snprintf(out->allow, sizeof(out->allow), "POST, DELETE");
        refuse(out, 405, "", CBX_RPC_INVALID_REQUEST,
               "this endpoint takes POST, and DELETE with a session: it has no streams of its own",
               NULL);
        return;
    }
    if (!is_json(http->content_type)) {
        refuse(out, 415, "", CBX_RPC_INVALID_REQUEST, "Content-Type must be application/json",
               NULL);
        return;
    }
    int code = cbx_rpc_read(http->body, &message, &err);
    if (code != 0) {
        refuse(out, 400, message.id, code, err.text, NULL);
        return;
    }
    if (message.kind != CBX_RPC_REQUEST) {
        take_message(mcp, http, &message, out);
        return;
    }
    serve_request(mcp, http, &message, out);
}
