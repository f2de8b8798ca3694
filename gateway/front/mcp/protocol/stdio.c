/* SPDX-License-Identifier: MIT
 * The stdio transport. */
#include "gateway/front/mcp/protocol/stdio.h"

#include "gateway/front/mcp/protocol/mcp_server.h"
#include "gateway/ipc/threads.h"
#include "policies/base/list.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/text/printable.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>

enum { READ_BYTES = 64 * 1024 };

/* A running tools/call. */
struct call {
    struct transport *transport;
    struct cbx_rpc_message message;
    char session[CBX_MCP_SESSION_ID + 1];
    atomic_bool cancelled;
    bool no_reply; /* true after the client cancelled the call */
    bool answered; /* the response is being written: too late to cancel */
    struct call *next;
};

struct transport {
    struct cbx_mcp *mcp;
    int in, out;
    pthread_mutex_t write_lock; /* one whole line at a time */
    bool client_gone;           /* the client closed the output; under write_lock */
    pthread_mutex_t lock;       /* protects calls, count, and no_reply and answered of each call */
    pthread_cond_t ended;
    struct call *calls;
    int count;
    struct cbx_threads *threads;
    /* Session of a client of the handshake era, from its initialize on (mcp_sessions.h); empty
     * before. Used by the reading thread. */
    char session[CBX_MCP_SESSION_ID + 1];
};

/* --- output ----------------------------------------------------------------------------------- */

static void write_line(struct transport *t, struct cbx_str line)
{
    pthread_mutex_lock(&t->write_lock);
    while (line.len > 0 && !t->client_gone) {
        ssize_t n = write(t->out, line.p, line.len);
        if (n < 0 && errno != EINTR) {
            t->client_gone = true;
        }
        line = cbx_str_sub(line, n > 0 ? (size_t)n : 0, line.len);
    }
    pthread_mutex_unlock(&t->write_lock);
}

static void write_error(struct transport *t, const char *id, int code, const char *text)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    cbx_rpc_write_error(&line, id, code, text, NULL);
    write_line(t, cbx_buf_str(&line));
}

static void answer(struct transport *t, const struct cbx_rpc_message *request)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    cbx_mcp_answer(t->mcp, request, NULL, &line);
    write_line(t, cbx_buf_str(&line));
}

/* --- calls ------------------------------------------------------------------------------------ */

static void free_call(struct call *call)
{
    cbx_rpc_message_done(&call->message);
    free(call);
}

static void unlink_call(struct call *call)
{
    struct transport *t = call->transport;
    pthread_mutex_lock(&t->lock);
    CBX_LIST_REMOVE(t->calls, call, next);
    t->count--;
    pthread_cond_broadcast(&t->ended);
    pthread_mutex_unlock(&t->lock);
}

/* Sends a notification of a running call. */
static void send_notification(void *context, struct cbx_str line)
{
    const struct call *call = context;
    write_line(call->transport, line);
}

static bool is_cancelled(void *context)
{
    const struct call *call = context;
    return atomic_load(&call->cancelled);
}

static void serve_call(void *context)
{
    struct call *call = context;
    struct transport *t = call->transport;
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    const struct cbx_mcp_peer peer = { .is_cancelled = is_cancelled,
                                       .notify = send_notification,
                                       .context = call,
                                       .session = cbx_str_of(call->session) };
    cbx_mcp_answer(t->mcp, &call->message, &peer, &line);
    pthread_mutex_lock(&t->lock);
    call->answered = !call->no_reply;
    bool replies = call->answered;
    pthread_mutex_unlock(&t->lock);
    if (replies) {
        write_line(t, cbx_buf_str(&line));
    }
    cbx_buf_reset(&line);
    unlink_call(call); /* the transport may be freed after this */
    free_call(call);
}

static const json_t *id_of(const struct cbx_rpc_message *message)
{
    return json_object_get(message->json, "id");
}

/* Call it under the lock. */
static struct call *find_call(struct transport *t, const json_t *id)
{
    for (struct call *call = t->calls; call != NULL; call = call->next) {
        if (json_equal(id_of(&call->message), id)) {
            return call;
        }
    }
    return NULL;
}

static void refuse_busy(struct transport *t, const struct cbx_rpc_message *request, int running)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, CBX_RPC_ANSWER_MAX);
    cbx_mcp_answer_busy(request, running, &line);
    write_line(t, cbx_buf_str(&line));
}

/* A client would take an error with the id as the response to the call that has the id. */
static void refuse_taken(struct transport *t, const struct cbx_rpc_message *request)
{
    char text[CBX_RPC_ID_MAX + 128];
    snprintf(text, sizeof(text),
             "a request with the id %s is under way; this one was refused: use each id once",
             request->id);
    write_error(t, "", CBX_RPC_INVALID_REQUEST, text);
}

/* Takes the message. The client, and its cancellation, could not distinguish two calls with one
 * id. */
static void start_call(struct transport *t, struct cbx_rpc_message *message)
{
    struct call *call = cbx_new(sizeof(*call));
    call->transport = t;
    call->message = *message;
    memcpy(call->session, t->session, sizeof(call->session));
    *message = (struct cbx_rpc_message){ 0 };
    pthread_mutex_lock(&t->lock);
    int running = t->count;
    bool taken = find_call(t, id_of(&call->message)) != NULL;
    bool fits = !taken && running < CBX_STDIO_CALLS_MAX;
    if (fits) {
        call->next = t->calls;
        t->calls = call;
        t->count++;
    }
    pthread_mutex_unlock(&t->lock);
    if (fits && cbx_threads_run(t->threads, serve_call, call)) {
        return;
    }
    if (fits) {
        unlink_call(call);
    }
    if (taken) {
        refuse_taken(t, &call->message);
    } else {
        refuse_busy(t, &call->message, running);
    }
    free_call(call);
}

/* A cancellation of an unknown or finished call has no effect. */
static void take_notification(struct transport *t, const struct cbx_rpc_message *message)
{
    const json_t *id = cbx_mcp_cancelled_id(message);
    if (id == NULL) {
        return;
    }
    pthread_mutex_lock(&t->lock);
    struct call *call = find_call(t, id);
    bool found = call != NULL && !call->answered;
    if (found) {
        call->no_reply = true;
        atomic_store(&call->cancelled, true);
    }
    pthread_mutex_unlock(&t->lock);
    if (found) {
        CBX_AUTO_DONE(buf) reason;
        cbx_buf_init(&reason, 4096);
        cbx_printable_add(
            &reason, cbx_str_sub(cbx_json_str(json_object_get(message->params, "reason")), 0, 200),
            CBX_PRINTABLE_LINE);
        cbx_log(CBX_LOG_INFO, "the client cancelled a call%s%s", reason.len > 0 ? ": " : "",
                reason.p);
    }
}

/* --- input ------------------------------------------------------------------------------------ */

static bool is_blank(struct cbx_str line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (strchr(" \t\r", line.p[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* A client of the handshake era sends its name once, one of the stateless era in each request. */
static void read_claims(struct transport *t, struct cbx_rpc_message *request)
{
    if (cbx_str_is(request->method, "initialize")) {
        cbx_mcp_session_close(t->mcp->sessions, CBX_STR(CBX_CALLER_LOCAL), cbx_str_of(t->session));
        if (!cbx_mcp_session_open(t->mcp->sessions, CBX_STR(CBX_CALLER_LOCAL), request->params,
                                  t->session)) {
            t->session[0] = '\0';
        }
    }
    cbx_mcp_session_use(t->mcp->sessions, CBX_STR(CBX_CALLER_LOCAL), cbx_str_of(t->session));
    cbx_mcp_session_claims(t->mcp->sessions, cbx_str_of(t->session), &request->claims);
    cbx_claims_read_request(request->id, json_object_get(request->params, "_meta"),
                            &request->claims);
}

static void take_request(struct transport *t, struct cbx_rpc_message *request)
{
    read_claims(t, request);
    if (cbx_mcp_is_slow(request)) {
        start_call(t, request);
    } else {
        answer(t, request);
    }
}

static void take_line(struct transport *t, struct cbx_str line)
{
    if (is_blank(line)) {
        return;
    }
    CBX_AUTO_DONE(rpc_message) message;
    struct cbx_err err = { 0 };
    int code = cbx_rpc_read(line, &message, &err);
    if (code != 0) {
        write_error(t, message.id, code, err.text);
    } else if (message.kind == CBX_RPC_NOTIFICATION) {
        take_notification(t, &message);
    } else if (message.kind == CBX_RPC_REQUEST) {
        take_request(t, &message);
    } else if (message.kind == CBX_RPC_RESPONSE) {
        cbx_mcp_session_answer(t->mcp->sessions, cbx_str_of(t->session), message.json);
    }
}

/* Splits bytes into lines. Of a line that is too long only the length is kept. */
struct reader {
    struct cbx_buf buf;
    size_t scanned;         /* no line end before this */
    uint64_t skipped_bytes; /* of the current line; 0 = it is not too long yet */
};

static void end_line(struct transport *t, struct reader *r, struct cbx_str line)
{
    struct cbx_err err = { 0 };
    if (r->skipped_bytes > 0) {
        int code = cbx_rpc_refuse_long(r->skipped_bytes + line.len, &err);
        write_error(t, "", code, err.text);
        r->skipped_bytes = 0;
    } else {
        take_line(t, line);
    }
}

static void take_lines(struct transport *t, struct reader *r)
{
    size_t from = 0;
    const char *end;
    while ((end = memchr(r->buf.p + r->scanned, '\n', r->buf.len - r->scanned)) != NULL) {
        size_t to = (size_t)(end - r->buf.p);
        end_line(t, r, cbx_str_sub(cbx_buf_str(&r->buf), from, to));
        from = r->scanned = to + 1;
    }
    cbx_buf_consume(&r->buf, from);
    r->scanned = r->buf.len;
    if (r->skipped_bytes > 0 || r->buf.len > CBX_RPC_LINE_MAX) {
        r->skipped_bytes += r->buf.len;
        cbx_buf_reset(&r->buf);
        r->scanned = 0;
    }
}

/* poll(2): POLLERR of a pipe without a reader, POLLHUP of a socket or a terminal. */
static bool is_client_gone(struct transport *t, short events)
{
    pthread_mutex_lock(&t->write_lock);
    t->client_gone |= (events & (POLLERR | POLLHUP | POLLNVAL)) != 0;
    bool gone = t->client_gone;
    pthread_mutex_unlock(&t->write_lock);
    return gone;
}

/* Waits for input. Returns 0 at its end, and if the client has closed the output: then no
 * response can be read, and the server ends although the input is open. */
static ssize_t read_some(struct transport *t, char *to, size_t size)
{
    struct pollfd fds[] = { { .fd = t->in, .events = POLLIN }, { .fd = t->out } };
    for (;;) {
        int ready = poll(fds, 2, -1);
        if (ready > 0 && is_client_gone(t, fds[1].revents)) {
            return 0;
        }
        ssize_t n = ready > 0 ? read(t->in, to, size) : -1;
        if (n >= 0 || errno != EINTR) {
            return n;
        }
    }
}

static void read_input(struct transport *t)
{
    struct reader r = { 0 };
    cbx_buf_init(&r.buf, CBX_RPC_LINE_MAX + 2 * READ_BYTES);
    ssize_t n = 1;
    while (n > 0) {
        char *to = cbx_buf_reserve(&r.buf, READ_BYTES);
        n = to != NULL ? read_some(t, to, READ_BYTES) : -1;
        if (n > 0) {
            r.buf.len += (size_t)n;
            take_lines(t, &r);
        }
    }
    if (!is_client_gone(t, 0)) {
        end_line(t, &r, cbx_buf_str(&r.buf)); /* the last one may lack its line end */
    }
    cbx_buf_done(&r.buf);
}

/* With the lock held: false if calls are left at the deadline. */
static bool await_calls(struct transport *t, int64_t ms)
{
    int64_t end_ms = cbx_clock_ms() + ms;
    while (t->count > 0 && cbx_cond_wait_until(&t->ended, &t->lock, end_ms)) {
    }
    return t->count == 0;
}

/* Waits for calls to finish, if their responses can be read, then cancels the others; their
 * results report the cancellation. A call that cannot be cancelled, such as an analysis, is not
 * awaited. */
static bool end_calls(struct transport *t)
{
    bool gone = is_client_gone(t, 0);
    pthread_mutex_lock(&t->lock);
    bool ended = await_calls(t, gone ? 0 : CBX_STDIO_FINISH_MS);
    for (struct call *call = t->calls; call != NULL; call = call->next) {
        atomic_store(&call->cancelled, true);
    }
    ended = ended || await_calls(t, CBX_STDIO_CANCEL_MS);
    pthread_mutex_unlock(&t->lock);
    return ended;
}

bool cbx_stdio_serve(int in, int out, struct cbx_mcp *mcp)
{
    struct transport *t = cbx_new(sizeof(*t)); /* threads may outlive this function */
    *t = (struct transport){ .mcp = mcp, .in = in, .out = out };
    pthread_mutex_init(&t->write_lock, NULL);
    pthread_mutex_init(&t->lock, NULL);
    cbx_cond_init(&t->ended);
    t->threads =
        cbx_threads_new(2 * CBX_STDIO_CALLS_MAX); /* a call ends before its thread is free */
    read_input(t);
    /* No answer to a question can arrive any more. */
    cbx_mcp_session_close(mcp->sessions, CBX_STR(CBX_CALLER_LOCAL), cbx_str_of(t->session));
    if (!end_calls(t)) {
        return false;
    }
    cbx_threads_free(t->threads);
    pthread_cond_destroy(&t->ended);
    pthread_mutex_destroy(&t->lock);
    pthread_mutex_destroy(&t->write_lock);
    free(t);
    return true;
}
