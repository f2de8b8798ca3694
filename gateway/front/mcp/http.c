/* SPDX-License-Identifier: MIT
 * Streamable HTTP. */
#include "gateway/front/mcp/http.h"

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

/* The client waits for events: it has a token for progress, and takes a stream. */
static bool wants_events(const struct cbx_http_request *http, const struct cbx_rpc_message *message)
{
    const json_t *meta = json_object_get(message->params, "_meta");
    return cbx_mcp_is_slow(message) && json_object_get(meta, "progressToken") != NULL &&
           has_word(http->accept, "text/event-stream");
}

static void answer_request(struct cbx_mcp *mcp, const struct cbx_http_request *http,
                           const struct cbx_rpc_message *message, bool stateless,
                           struct cbx_http_response *out)
{
    struct served s = { .http = http, .cancels = stateless };
    struct cbx_mcp_peer peer = { .is_cancelled = is_cancelled, .context = &s };
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    if (!wants_events(http, message)) {
        cbx_mcp_answer(mcp, message, &peer, &line);
        answer_bytes(out, 200, &line);
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

static void refuse(struct cbx_http_response *out, int status, const char *id, int code,
                   const char *text, const json_t *data)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    cbx_rpc_write_error(&line, id, code, text, data);
    answer_bytes(out, status, &line);
}

static bool is_json(struct cbx_str type)
{
    static const char name[] = "application/json";
    size_t len = strlen(name);
    return type.len >= len && strncasecmp(type.p, name, len) == 0 &&
           (type.len == len || type.p[len] == ';' || type.p[len] == ' ');
}

void cbx_mcp_http(struct cbx_mcp *mcp, const struct cbx_http_request *http,
                  struct cbx_http_response *out)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    struct cbx_mcp_check check;
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
        out->status = 202;
        return;
    }
    code = cbx_mcp_check(&message, &http->mcp, &check, &err);
    if (code != 0) {
        refuse(out, check.status, message.id, code, err.text, check.data);
        json_decref(check.data);
        return;
    }
    cbx_claims_read_request(message.id, json_object_get(message.params, "_meta"), &message.claims);
    answer_request(mcp, http, &message, check.stateless, out);
}
