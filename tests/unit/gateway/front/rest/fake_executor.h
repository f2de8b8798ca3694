/* SPDX-License-Identifier: MIT
 * An executor of a front, as a thread of the test: it answers by script, or the test plays it. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_REST_FAKE_EXECUTOR_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_REST_FAKE_EXECUTOR_H

#include "gateway/ipc/wire/executor_calls.h"
#include "gateway/ipc/wire/relay.h"
#include "policies/base/list.h"
#include "policies/base/time/deadline.h"
#include "tests/unit/gateway/front/rest/processes.h"
#include "tests/unit/gateway/scratch.h"

#include <poll.h>
#include <pthread.h>

/* The replies to calls of one kind; zeroed: the replies of an executor without further data. */
struct script {
    bool manual;   /* the test takes the connection and answers (peer_take) */
    bool hangs_up; /* closes the connection, as an executor that is killed */
    int times;     /* the script holds for so many calls; 0 = all */
    int code;      /* answers this error, with `text` */
    const char *text;
    const char *json; /* fields of the answer */
    struct cbx_str bytes;
};

/* A received call. */
struct seen {
    enum cbx_executor_call call;
    json_t *header;
    struct cbx_buf bytes;
};

/* A connection on which the test replies. */
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

/* Serves a submission that no test plays: opens a session, or runs a program that prints "hello".
 * The package managers print that too, and progress. */
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

/* Call it with the lock held. */
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

/* The number of runs before it. */
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

/* Ends like a killed executor. */
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
