/* SPDX-License-Identifier: MIT
 * Streamable HTTP. */
#include "gateway/front/mcp/http.h"

#include "gateway/front/mcp/fixtures.h"
#include "gateway/front/mcp/server.h"

/* A request while it is served. */
struct served {
    const struct cbx_http_request *http;
    struct cbx_http_stream *stream; /* NULL: the answer is JSON */
    bool cancels;                   /* a client that disconnects cancels it */
};

static bool is_cancelled(void *context)
{
    const struct served *s = context;
    return s->cancels && (s->stream != NULL ? cbx_http_stream_is_gone(s->stream)
                                            : cbx_http_is_gone(s->http->exchange));
}

/* One event (WHATWG HTML, 9.2.6); a line of JSON has its end. */
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

/* --- sessions, with fixtures alone ------------------------------------------------------------ */

/* An initialize opens a session, whose id its answer carries in a header. */
static void open_session(const struct cbx_mcp *mcp, const struct cbx_rpc_message *message,
                         struct cbx_http_response *out)
{
    const json_t *capabilities = json_object_get(message->params, "capabilities");
    bool opens = cbx_str_is(message->method, "initialize") &&
                 json_is_string(json_object_get(message->params, "protocolVersion"));
    if (mcp->fixtures != NULL && opens &&
        !cbx_mcp_session_open(mcp->fixtures->sessions, capabilities, out->session)) {
        out->session[0] = '\0';
    }
}

/* The id in the request; none without fixtures, which alone have sessions. */
static struct cbx_str session_of(const struct cbx_mcp *mcp, const struct cbx_http_request *http)
{
    return mcp->fixtures != NULL ? http->mcp.session : (struct cbx_str){ 0 };
}

/* False when the request is of a session that does not exist. */
static bool check_session(const struct cbx_mcp *mcp, const struct cbx_http_request *http)
{
    struct cbx_str id = session_of(mcp, http);
    return id.p == NULL || cbx_mcp_session_exists(mcp->fixtures->sessions, id);
}

static bool closes_session(const struct cbx_mcp *mcp, const struct cbx_http_request *http)
{
    struct cbx_str id = session_of(mcp, http);
    return id.p != NULL && cbx_str_is(http->method, "DELETE") &&
           cbx_mcp_session_close(mcp->fixtures->sessions, id);
}

/* A response or a notification of the client. */
static void take_message(const struct cbx_mcp *mcp, const struct cbx_http_request *http,
                         const struct cbx_rpc_message *message, struct cbx_http_response *out)
{
    if (!check_session(mcp, http)) {
        refuse_session(out, "");
        return;
    }
    if (mcp->fixtures != NULL && message->kind == CBX_RPC_RESPONSE) {
        cbx_mcp_session_answer(mcp->fixtures->sessions, session_of(mcp, http), message->json);
    }
    out->status = 202;
}

/* --- requests --------------------------------------------------------------------------------- */

static void answer_request(struct cbx_mcp *mcp, const struct cbx_http_request *http,
                           const struct cbx_rpc_message *message, bool stateless,
                           struct cbx_http_response *out)
{
    struct served s = { .http = http, .cancels = stateless };
    char session[CBX_MCP_SESSION_ID + 1]; /* the request is gone when its client disconnects */
    snprintf(session, sizeof(session), "%.*s", CBX_STR_ARG(session_of(mcp, http)));
    struct cbx_mcp_peer peer = { .is_cancelled = is_cancelled,
                                 .context = &s,
                                 .session = cbx_str_of(session) };
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    if (!cbx_mcp_sends(mcp, message) || !has_word(http->accept, "text/event-stream")) {
        cbx_mcp_answer(mcp, message, &peer, &line);
        answer_bytes(out, 200, &line);
        open_session(mcp, message, out);
        return;
    }
    s.stream = cbx_http_stream_new();
    peer.notify = send_event;
    struct cbx_http_response events = { .status = 200,
                                        .stream = s.stream,
                                        .type = "text/event-stream" };
    out->answered = true;
    cbx_http_answer(http->exchange, &events);
    cbx_mcp_answer(mcp, message, &peer, &line);
    send_event(&s, cbx_buf_str(&line));
    cbx_http_stream_end(s.stream);
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
    cbx_claims_read_request(message->id, json_object_get(message->params, "_meta"),
                            &message->claims);
    answer_request(mcp, http, message, check.stateless, out);
}

void cbx_mcp_http(struct cbx_mcp *mcp, const struct cbx_http_request *http,
                  struct cbx_http_response *out)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    if (closes_session(mcp, http)) {
        out->status = 204;
        return;
    }
    if (!cbx_str_is(http->method, "POST")) {
        snprintf(out->allow, sizeof(out->allow), "POST");
        refuse(out, 405, "", CBX_RPC_INVALID_REQUEST,
               "this endpoint takes POST alone: it keeps no sessions and no streams of its own",
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
