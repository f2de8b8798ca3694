/* SPDX-License-Identifier: MIT
 * The two processes that a front talks to, as threads of the test: an analyzer worker that judges
 * by marks in the source, and an executor that answers by script or is played by the test. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_REST_PROCESSES_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_REST_PROCESSES_H

#include "analyzer/past/past.h"
#include "gateway/ipc/wire/executor_calls.h"
#include "gateway/ipc/wire/relay.h"
#include "policies/base/list.h"
#include "policies/base/time/deadline.h"
#include "tests/unit/gateway/scratch.h"

#include <poll.h>
#include <pthread.h>

enum { SEEN_MAX = 512, PEER_SESSIONS_MAX = 80 };

static inline void *take_memory(size_t bytes)
{
    void *p = calloc(1, bytes);
    assert_non_null(p);
    return p;
}

/* --- the worker ------------------------------------------------------------------------------- */

enum { FAKE_WORKERS = 2 };

/* A source that holds "DENY" is denied, "ASK" needs approval, "WARN" is allowed with a finding,
 * "CRASH" kills the worker; any other is allowed. One that holds "INSTALL" installs the package
 * 'b'. */
struct fake_worker {
    int control;
    pthread_t threads[FAKE_WORKERS];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool denies_all, crashes; /* for every source */
    bool holds, held;         /* a source with HOLD waits while `holds`; one does */
    int judged;
    char policy[65], language[33], action[16], session[65], origin[65], claimed_client[65];
    int64_t wall_ms;
    char isolation[16];
    struct cbx_buf past, source; /* of the last request: the entries before it, and it */
};

static inline json_t *worker_finding(const char *effect)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:i}", "rule", "py.process", "effect", effect, "message",
                     "Starting programs is not allowed.", "hint", "Use a library.", "symbol",
                     "os.system", "line", 3);
}

/* The past of a request, as a worker reads it; its seal is 32 zeros. */
static inline struct cbx_past worker_past(const struct cbx_message *request, struct cbx_str *source)
{
    struct cbx_str bytes = cbx_buf_str(&request->bytes);
    size_t sealed = (size_t)json_integer_value(json_object_get(request->header, "past_bytes"));
    size_t end =
        sealed + (size_t)json_integer_value(json_object_get(request->header, "entries_bytes"));
    struct cbx_str rest = cbx_str_sub(bytes, sealed, end);
    struct cbx_entry entry;
    struct cbx_past past;
    if (sealed > 0) {
        assert_int_equal(cbx_past_read(cbx_str_sub(bytes, CBX_SHA256_BYTES, sealed), &past, NULL),
                         0);
    } else {
        cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
    }
    while (cbx_entry_next(&rest, &entry)) {
        cbx_past_add(&past, &entry);
    }
    assert_int_equal(rest.len, 0);
    *source = cbx_str_sub(bytes, end, bytes.len);
    return past;
}

/* The text that runs, then the past with it. */
static inline void worker_bytes(const struct cbx_message *request, struct cbx_buf *out,
                                json_t *answer)
{
    struct cbx_str source;
    CBX_AUTO_DONE(past) past = worker_past(request, &source);
    struct cbx_sha256 none = { 0 };
    cbx_past_add(&past, &(struct cbx_entry){ CBX_ENTRY_CELL, CBX_STR(""), CBX_STR(""), source });
    cbx_buf_add(out, source);
    size_t at = out->len;
    cbx_buf_add_bytes(out, &none, sizeof(none));
    cbx_past_write(&past, out);
    json_object_set_new(answer, "past_bytes", json_integer((json_int_t)(out->len - at)));
}

static inline bool source_has(struct cbx_str source, const char *mark)
{
    return source.len > 0 && memmem(source.p, source.len, mark, strlen(mark)) != NULL;
}

static inline void worker_answer(int fd, const struct cbx_message *request, const char *verdict,
                                 const char *effect, const struct cbx_sha256 *before,
                                 struct cbx_str source)
{
    char id[CBX_ID_CHARS + 1], hex[CBX_SHA256_HEX + 1], ledger[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(source);
    cbx_id_make(id);
    cbx_sha256_hex(&hash, hex);
    cbx_sha256_hex(before, ledger);
    CBX_AUTO_JSON seal =
        json_pack("{s:s,s:s,s:O,s:O,s:s,s:s}", "id", id, "verdict", verdict, "action",
                  json_object_get(request->header, "action"), "session",
                  json_object_get(request->header, "session"), "sha256", hex, "ledger", ledger);
    CBX_AUTO_DONE(buf) sealed;
    cbx_buf_init(&sealed, CBX_SEAL_MAX_BYTES);
    assert_int_equal(cbx_json_write(&sealed, seal), 0);
    json_t *findings = json_array();
    if (effect != NULL) {
        json_array_append_new(findings, worker_finding("warn"));
        json_array_append_new(findings, worker_finding(effect));
    }
    CBX_AUTO_JSON answer =
        json_pack("{s:s,s:s,s:{s:s,s:s,s:O,s:o}}", "sealed", sealed.p, "mac", hex, "decision",
                  "verdict", verdict, "sha256", hex, "language",
                  json_object_get(request->header, "language"), "findings", findings);
    assert_non_null(answer);
    if (source_has(source, "INSTALL")) {
        json_object_set_new(answer, "installs", json_pack("[s]", "b"));
    }
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, CBX_WIRE_BYTES_MAX);
    worker_bytes(request, &bytes, answer);
    cbx_wire_send(fd, answer, cbx_buf_str(&bytes), NULL);
}

static inline void copy_text(const json_t *header, const char *field, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(header, field));
    snprintf(out, size, "%s", text != NULL ? text : "");
}

/* False when the worker dies. */
static inline bool worker_judge(struct fake_worker *w, int fd, const struct cbx_message *request)
{
    struct cbx_str source;
    CBX_AUTO_DONE(past) past = worker_past(request, &source);
    pthread_mutex_lock(&w->lock);
    w->judged++;
    copy_text(request->header, "policy", w->policy, sizeof(w->policy));
    copy_text(request->header, "language", w->language, sizeof(w->language));
    copy_text(request->header, "action", w->action, sizeof(w->action));
    copy_text(request->header, "session", w->session, sizeof(w->session));
    copy_text(request->header, "origin", w->origin, sizeof(w->origin));
    copy_text(request->header, "claimed_client", w->claimed_client, sizeof(w->claimed_client));
    const json_t *asked = json_object_get(request->header, "asked");
    const char *isolation = json_string_value(json_object_get(asked, "isolation"));
    snprintf(w->isolation, sizeof(w->isolation), "%s", isolation != NULL ? isolation : "");
    w->wall_ms = json_integer_value(json_object_get(asked, "wall_ms"));
    cbx_buf_reset(&w->past);
    cbx_buf_add(&w->past, cbx_buf_str(&past.cells));
    cbx_buf_add(&w->past, cbx_buf_str(&past.files));
    cbx_buf_reset(&w->source);
    cbx_buf_add(&w->source, source);
    while (w->holds && source_has(source, "HOLD")) {
        w->held = true;
        pthread_cond_broadcast(&w->changed);
        pthread_cond_wait(&w->changed, &w->lock);
    }
    bool denies = w->denies_all, crashes = w->crashes || source_has(source, "CRASH");
    pthread_mutex_unlock(&w->lock);
    if (crashes) {
        return false;
    }
    if (denies || source_has(source, "DENY")) {
        worker_answer(fd, request, "deny", "deny", &past.ledger, source);
    } else if (source_has(source, "ASK")) {
        worker_answer(fd, request, "ask", "ask", &past.ledger, source);
    } else {
        worker_answer(fd, request, "allow", source_has(source, "WARN") ? "warn" : NULL,
                      &past.ledger, source);
    }
    return true;
}

static inline void *worker_main(void *context)
{
    struct fake_worker *w = context;
    int passed;
    char slot;
    while (cbx_wire_receive_fd(w->control, &passed, &slot, NULL) == 0) {
        CBX_AUTO_FD fd = passed;
        for (bool lives = true; lives;) {
            CBX_AUTO_DONE(message) request;
            cbx_message_init(&request);
            lives = cbx_wire_receive(fd, -1, &request, NULL) == 0 && worker_judge(w, fd, &request);
        }
    }
    return NULL;
}

/* `control` is the worker's end. */
static inline void worker_start(struct fake_worker *w, int control)
{
    *w = (struct fake_worker){ .control = control };
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    cbx_buf_init(&w->past, CBX_WIRE_BYTES_MAX);
    cbx_buf_init(&w->source, CBX_WIRE_BYTES_MAX);
    for (int i = 0; i < FAKE_WORKERS; i++) {
        assert_int_equal(pthread_create(&w->threads[i], NULL, worker_main, w), 0);
    }
}

/* Keeps sources with HOLD from being judged; waits until one is kept; judges it. */
static inline void worker_hold(struct fake_worker *w, bool holds)
{
    pthread_mutex_lock(&w->lock);
    w->holds = holds;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static inline void worker_await_held(struct fake_worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->held) {
        pthread_cond_wait(&w->changed, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

/* After the front's end of the control socket was closed. */
static inline void worker_join(struct fake_worker *w)
{
    for (int i = 0; i < FAKE_WORKERS; i++) {
        pthread_join(w->threads[i], NULL);
    }
    pthread_cond_destroy(&w->changed);
    close(w->control);
    cbx_buf_done(&w->past);
    cbx_buf_done(&w->source);
    pthread_mutex_destroy(&w->lock);
}

/* --- the executor ----------------------------------------------------------------------------- */

/* How calls of one kind are answered; zeroed: as an executor does that has nothing special to say.
 */
struct script {
    bool manual;   /* the test takes the connection and answers (peer_take) */
    bool hangs_up; /* closes the connection, as an executor that is killed */
    int times;     /* the script holds for so many calls; 0 = all */
    int code;      /* answers this error, with `text` */
    const char *text;
    const char *json; /* fields of the answer */
    struct cbx_str bytes;
};

/* One call, as it came. */
struct seen {
    enum cbx_executor_call call;
    json_t *header;
    struct cbx_buf bytes;
};

/* A connection that the test answers. */
struct conn {
    struct cbx_link link;
    int fd;
    enum cbx_executor_call call;
    struct cbx_message message;
    char decision[CBX_ID_CHARS + 1];
};

struct fake_executor {
    int control;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct script scripts[CBX_CALLS];
    struct cbx_queue manual;
    struct seen seen[SEEN_MAX];
    int seen_count, acknowledged;
    int64_t seq;
    char sessions[PEER_SESSIONS_MAX][65]; /* the open sessions */
    struct cbx_buf order;                 /* events, in order: "submit:CODE;" */
};

static inline void peer_send(int fd, enum cbx_reply reply, const char *decision, int64_t seq)
{
    CBX_AUTO_JSON header = cbx_reply_json(reply);
    if (decision != NULL) {
        json_object_set_new(header, "decision", json_string(decision));
    }
    if (seq > 0) {
        json_object_set_new(header, "seq", json_integer(seq));
    }
    cbx_wire_send(fd, header, CBX_STR(""), NULL);
}

static inline void peer_send_error(int fd, int code, const char *text)
{
    CBX_AUTO_JSON header = cbx_reply_json(CBX_REPLY_ERROR);
    json_object_set_new(header, "code", json_integer(code));
    json_object_set_new(header, "text", json_string(text));
    json_object_set_new(header, "detail", json_string("of the operator alone"));
    cbx_wire_send(fd, header, CBX_STR(""), NULL);
}

/* Sends the result, waits for the acknowledgement and confirms it. */
static inline void peer_finish(struct fake_executor *e, int fd, const struct cbx_result *result)
{
    CBX_AUTO_JSON done = cbx_result_json(result);
    CBX_AUTO_DONE(message) ack;
    cbx_message_init(&ack);
    cbx_wire_send(fd, done, CBX_STR(""), NULL);
    if (cbx_wire_receive(fd, DEADLINE_MS, &ack, NULL) == 0 &&
        cbx_reply_of(ack.header) == CBX_REPLY_ACK) {
        pthread_mutex_lock(&e->lock);
        e->acknowledged++;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
        peer_send(fd, CBX_REPLY_DONE, NULL, 0);
    }
}

static inline char *find_open(struct fake_executor *e, const char *id)
{
    for (int i = 0; i < PEER_SESSIONS_MAX; i++) {
        if (strcmp(e->sessions[i], id) == 0) {
            return e->sessions[i];
        }
    }
    return NULL;
}

static inline json_t *list_open(const struct fake_executor *e)
{
    json_t *list = json_array();
    for (int i = 0; i < PEER_SESSIONS_MAX; i++) {
        if (e->sessions[i][0] != '\0') {
            json_array_append_new(list,
                                  json_pack("{s:s,s:s,s:b,s:i,s:i,s:s}", "session", e->sessions[i],
                                            "policy", "default", "busy", 0, "idle_ms", 5, "age_ms",
                                            7, "container", "c0ffee"));
        }
    }
    return json_pack("{s:o}", "sessions", list);
}

/* True if the submission has an approval; tests of the executor check the approval itself. */
static inline bool is_approved(const json_t *header, const char *verdict)
{
    return strcmp(verdict, "ask") == 0 &&
           json_string_length(json_object_get(header, "approval_digest")) > 0;
}

/* A submission that no test plays: opens a session, or runs a program that prints "hello". The
 * package managers print that too, and progress. */
static inline void serve_submit(struct fake_executor *e, int fd, const json_t *header,
                                const json_t *seal)
{
    const char *id = json_string_value(json_object_get(seal, "id"));
    const char *verdict = json_string_value(json_object_get(seal, "verdict"));
    const char *action = json_string_value(json_object_get(seal, "action"));
    int64_t seq = ++e->seq;
    bool may_run = strcmp(verdict, "allow") == 0 || is_approved(header, verdict);
    if (!may_run || strcmp(action, "check") == 0) {
        peer_send(fd, CBX_REPLY_RECORDED, id, seq);
        return;
    }
    struct cbx_result result = { .status = CBX_RUN_OK };
    peer_send(fd, CBX_REPLY_ADMITTED, id, seq);
    if (strcmp(action, "open") == 0) {
        pthread_mutex_lock(&e->lock);
        char *free_slot = find_open(e, "");
        assert_non_null(free_slot);
        copy_text(seal, "session", free_slot, 65);
        pthread_mutex_unlock(&e->lock);
    } else {
        struct cbx_event event = { .kind = CBX_EVENT_STDOUT, .text = CBX_STR("hello\n") },
                         progress = { .kind = CBX_EVENT_STDERR, .text = CBX_STR("collecting b\n") };
        struct cbx_sink sink = cbx_relay_sink(&fd);
        peer_send(fd, CBX_REPLY_BEGUN, NULL, 0);
        if (strcmp(action, "resolve") == 0) {
            sink.event(sink.context, &progress);
        }
        sink.event(sink.context, &event);
    }
    peer_finish(e, fd, &result);
}

/* The contents of the images, unless a test scripts another label. */
static inline struct cbx_str contents_of(struct cbx_str kernel)
{
    return cbx_str_is(kernel, "python")
               ? CBX_STR(
                     "{\"version\":1,\"runtime\":{\"name\":\"Python\",\"version\":\"3.11.2\"},"
                     "\"packages\":["
                     "{\"name\":\"beautifulsoup4\",\"version\":\"4.11.2\",\"modules\":[\"bs4\"]},"
                     "{\"name\":\"matplotlib\",\"version\":\"3.6.3\",\"modules\":[\"matplotlib\"]},"
                     "{\"name\":\"numpy\",\"version\":\"1.24.2\",\"modules\":[\"numpy\"]},"
                     "{\"name\":\"pandas\",\"version\":\"1.5.3\",\"modules\":[\"pandas\"]},"
                     "{\"name\":\"PyYAML\",\"version\":\"6.0\",\"modules\":[\"yaml\"]},"
                     "{\"name\":\"scikit-learn\",\"version\":\"1.2.1\",\"modules\":[\"sklearn\"]}]"
                     "}")
               : CBX_STR(
                     "{\"version\":1,\"runtime\":{\"name\":\"Node.js\",\"version\":\"24.21.0\"},"
                     "\"packages\":["
                     "{\"name\":\"@babel/runtime\",\"version\":\"7.1.0\",\"modules\":[\"@babel/"
                     "runtime\"]},"
                     "{\"name\":\"lodash\",\"version\":\"4.18.1\",\"modules\":[\"lodash\"]}]}");
}

static inline void serve_call(struct fake_executor *e, struct conn *c, const struct script *script)
{
    CBX_AUTO_JSON seal = NULL;
    CBX_AUTO_JSON fields = NULL;
    if (script->code != 0) {
        peer_send_error(c->fd, script->code, script->text != NULL ? script->text : "refused");
        return;
    }
    if (c->call == CBX_CALL_submit) {
        cbx_json_parse(cbx_json_str(json_object_get(c->message.header, "sealed")),
                       CBX_SEAL_MAX_BYTES, &seal, NULL);
        serve_submit(e, c->fd, c->message.header, seal);
        return;
    }
    if (c->call == CBX_CALL_resume) {
        peer_send_error(c->fd, CBX_ENOTFOUND, "no such run");
        return;
    }
    if (c->call == CBX_CALL_record_failure) {
        peer_send(c->fd, CBX_REPLY_RECORDED, "failure-1", ++e->seq);
        return;
    }
    if (c->call == CBX_CALL_close) {
        const char *id = json_string_value(json_object_get(c->message.header, "session"));
        pthread_mutex_lock(&e->lock);
        char *open = find_open(e, id);
        if (open != NULL) {
            open[0] = '\0';
        }
        pthread_mutex_unlock(&e->lock);
        if (open == NULL) {
            peer_send_error(c->fd, CBX_ENOTFOUND, "no such session");
            return;
        }
    }
    CBX_AUTO_JSON header = cbx_reply_json(CBX_REPLY_DONE);
    if (script->json != NULL) {
        assert_int_equal(cbx_json_parse(cbx_str_of(script->json), 65536, &fields, NULL), 0);
    } else if (c->call == CBX_CALL_list_sessions) {
        pthread_mutex_lock(&e->lock);
        fields = list_open(e);
        pthread_mutex_unlock(&e->lock);
    }
    json_object_update(header, fields);
    bool lists = c->call == CBX_CALL_contents && script->bytes.p == NULL;
    cbx_wire_send(c->fd, header,
                  lists ? contents_of(cbx_json_str(json_object_get(c->message.header, "kernel")))
                        : script->bytes,
                  NULL);
}

static inline void conn_free(struct conn *c)
{
    cbx_fd_auto(&c->fd);
    cbx_message_done(&c->message);
    free(c);
}

/* With the lock. */
static inline struct script note_call(struct fake_executor *e, const struct conn *c)
{
    assert_true(e->seen_count < SEEN_MAX);
    struct seen *seen = &e->seen[e->seen_count++];
    seen->call = c->call;
    seen->header = json_incref(c->message.header);
    cbx_buf_init(&seen->bytes, CBX_WIRE_BYTES_MAX);
    cbx_buf_add(&seen->bytes, cbx_buf_str(&c->message.bytes));
    if (c->call == CBX_CALL_submit) {
        cbx_buf_printf(&e->order, "submit:%.*s;", CBX_STR_ARG(cbx_buf_str(&seen->bytes)));
    }
    struct script *script = &e->scripts[c->call], now = *script;
    if (script->times > 0 && --script->times == 0) {
        *script = (struct script){ 0 };
    }
    return now;
}

static inline void *executor_main(void *context)
{
    struct fake_executor *e = context;
    int fd;
    char tag;
    while (cbx_wire_receive_fd(e->control, &fd, &tag, NULL) == 0) {
        struct conn *c = take_memory(sizeof(*c));
        c->fd = fd;
        cbx_message_init(&c->message);
        if (cbx_wire_receive(fd, DEADLINE_MS, &c->message, NULL) != 0) {
            conn_free(c);
            continue;
        }
        c->call = cbx_call_of(c->message.header);
        pthread_mutex_lock(&e->lock);
        struct script script = note_call(e, c);
        if (script.manual) {
            cbx_queue_push(&e->manual, &c->link);
        }
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
        if (script.manual) {
            continue;
        }
        if (!script.hangs_up) {
            serve_call(e, c, &script);
        }
        conn_free(c);
    }
    return NULL;
}

static inline void executor_start(struct fake_executor *e, int control)
{
    *e = (struct fake_executor){ .control = control };
    pthread_mutex_init(&e->lock, NULL);
    cbx_cond_init(&e->changed);
    cbx_buf_init(&e->order, 1024 * 1024);
    assert_int_equal(pthread_create(&e->thread, NULL, executor_main, e), 0);
}

static inline void executor_join(struct fake_executor *e)
{
    pthread_join(e->thread, NULL);
    close(e->control);
    struct cbx_link *link;
    while ((link = cbx_queue_pop(&e->manual)) != NULL) {
        conn_free(CBX_LINK_OWNER(link, struct conn, link));
    }
    for (int i = 0; i < e->seen_count; i++) {
        json_decref(e->seen[i].header);
        cbx_buf_done(&e->seen[i].bytes);
    }
    cbx_buf_done(&e->order);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
}

/* --- actions of a test on the executor -------------------------------------------------------- */

static inline void executor_script(struct fake_executor *e, enum cbx_executor_call call,
                                   struct script script)
{
    pthread_mutex_lock(&e->lock);
    e->scripts[call] = script;
    pthread_mutex_unlock(&e->lock);
}

/* The next connection of the manual calls, which must be of this call; fails after the deadline. */
static inline struct conn *peer_take(struct fake_executor *e, enum cbx_executor_call call)
{
    bool in_time = true;
    pthread_mutex_lock(&e->lock);
    while (e->manual.first == NULL && in_time) {
        in_time = cbx_cond_wait_ms(&e->changed, &e->lock, DEADLINE_MS);
    }
    struct conn *c = CBX_LINK_OWNER(cbx_queue_pop(&e->manual), struct conn, link);
    pthread_mutex_unlock(&e->lock);
    if (c == NULL) {
        fail_msg("the front did not call '%s'", cbx_call_name(call));
    }
    assert_string_equal(cbx_call_name(c->call), cbx_call_name(call));
    CBX_AUTO_JSON seal = NULL;
    if (call == CBX_CALL_submit) {
        cbx_json_parse(cbx_json_str(json_object_get(c->message.header, "sealed")),
                       CBX_SEAL_MAX_BYTES, &seal, NULL);
        copy_text(seal, "id", c->decision, sizeof(c->decision));
    }
    return c;
}

static inline void peer_admit(struct fake_executor *e, struct conn *c)
{
    pthread_mutex_lock(&e->lock);
    cbx_buf_printf(&e->order, "admit:%.*s;", CBX_STR_ARG(cbx_buf_str(&c->message.bytes)));
    int64_t seq = ++e->seq;
    pthread_mutex_unlock(&e->lock);
    peer_send(c->fd, CBX_REPLY_ADMITTED, c->decision, seq);
}

static inline void peer_begin(struct conn *c)
{
    peer_send(c->fd, CBX_REPLY_BEGUN, NULL, 0);
}

/* So many have their turn before it. */
static inline void peer_wait(struct conn *c, int ahead)
{
    CBX_AUTO_JSON header = cbx_reply_json(CBX_REPLY_WAITING);
    json_object_set_new(header, "ahead", json_integer(ahead));
    cbx_wire_send(c->fd, header, CBX_STR(""), NULL);
}

static inline void peer_event(struct conn *c, const struct cbx_event *event)
{
    struct cbx_sink sink = cbx_relay_sink(&c->fd);
    assert_int_equal(sink.event(sink.context, event), 0);
}

static inline void peer_print(struct conn *c, const char *text)
{
    struct cbx_event event = { .kind = CBX_EVENT_STDOUT, .text = cbx_str_of(text) };
    peer_event(c, &event);
}

/* Ends the run, waits until it was acknowledged, and closes. */
static inline void peer_done(struct fake_executor *e, struct conn *c, enum cbx_run_status status)
{
    struct cbx_result result = { .status = status, .exit_code = status == CBX_RUN_OK ? 0 : 1 };
    peer_finish(e, c->fd, &result);
    conn_free(c);
}

/* As an executor that is killed. */
static inline void peer_die(struct conn *c)
{
    conn_free(c);
}

/* How many calls of this kind came; and the newest, NULL when there is none. */
static inline int executor_count(struct fake_executor *e, enum cbx_executor_call call)
{
    int n = 0;
    pthread_mutex_lock(&e->lock);
    for (int i = 0; i < e->seen_count; i++) {
        n += e->seen[i].call == call;
    }
    pthread_mutex_unlock(&e->lock);
    return n;
}

static inline void executor_await(struct fake_executor *e, enum cbx_executor_call call, int count)
{
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    while (executor_count(e, call) < count) {
        assert_true(cbx_clock_ms() < end);
        poll(NULL, 0, 1);
    }
}

static inline const struct seen *executor_last(struct fake_executor *e, enum cbx_executor_call call)
{
    const struct seen *last = NULL;
    pthread_mutex_lock(&e->lock);
    for (int i = 0; i < e->seen_count; i++) {
        last = e->seen[i].call == call ? &e->seen[i] : last;
    }
    pthread_mutex_unlock(&e->lock);
    return last;
}

/* The session is gone, for it was idle. */
static inline void executor_forget(struct fake_executor *e, const char *session)
{
    pthread_mutex_lock(&e->lock);
    char *open = find_open(e, session);
    assert_non_null(open);
    open[0] = '\0';
    pthread_mutex_unlock(&e->lock);
}

/* Waits until so many results were acknowledged. */
static inline void executor_await_acks(struct fake_executor *e, int count)
{
    bool in_time = true;
    pthread_mutex_lock(&e->lock);
    while (e->acknowledged < count && in_time) {
        in_time = cbx_cond_wait_ms(&e->changed, &e->lock, DEADLINE_MS);
    }
    int acknowledged = e->acknowledged;
    pthread_mutex_unlock(&e->lock);
    assert_int_equal(acknowledged, count);
}

#endif
