/* SPDX-License-Identifier: MIT
 * The requests of the executor but runs: what each is asked, and how it answers. */
#include "gateway/executor/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The front cannot seal, so it can only report denials that nobody decided: a worker that failed.
 */
static int note_failure(struct cbx_executor_request *r, const struct cbx_message *message,
                        struct cbx_err *err)
{
    static const char *const names[] = { "language", "policy", "principal", "session", "origin" };
    struct cbx_audit *audit;
    int failed = cbx_executor_audit(r->executor, &audit, err);
    if (failed) {
        return failed;
    }
    char id[CBX_ID_CHARS + 1], hex[CBX_SHA256_HEX + 1];
    cbx_id_make(id);
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&message->bytes));
    cbx_sha256_hex(&hash, hex);
    CBX_AUTO_JSON body = json_pack("{s:s,s:s,s:s}", "id", id, "verdict", "deny", "sha256", hex);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct cbx_str value = cbx_json_str(json_object_get(message->header, names[i]));
        json_object_set_new(body, names[i], cbx_json_text(cbx_str_sub(value, 0, CBX_NAME_MAX)));
    }
    uint64_t seq;
    failed = cbx_audit_append(audit, "analysis-failed", body, &seq, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_JSON answer =
        json_pack("{s:s,s:s,s:I}", "type", "recorded", "decision", id, "seq", (json_int_t)seq);
    return cbx_wire_send(r->fd, answer, (struct cbx_str){ 0 }, err);
}

static int answer_done(struct cbx_executor_request *r, struct cbx_str bytes, struct cbx_err *err)
{
    CBX_AUTO_JSON answer = json_pack("{s:s}", "type", "done");
    return cbx_wire_send(r->fd, answer, bytes, err);
}

static const char *text_of(const struct cbx_message *message, const char *name)
{
    const char *text = json_string_value(json_object_get(message->header, name));
    return text != NULL ? text : "";
}

static int close_session(struct cbx_executor_request *r, const struct cbx_message *message,
                         struct cbx_err *err)
{
    int failed = cbx_sessions_close(r->executor->sessions, text_of(message, "session"), err);
    return failed ? failed : answer_done(r, CBX_STR(""), err);
}

static int interrupt_session(struct cbx_executor_request *r, const struct cbx_message *message,
                             struct cbx_err *err)
{
    int failed = cbx_sessions_interrupt(r->executor->sessions, text_of(message, "session"), err);
    return failed ? failed : answer_done(r, CBX_STR(""), err);
}

static int give_input(struct cbx_executor_request *r, const struct cbx_message *message,
                      struct cbx_err *err)
{
    int failed = cbx_sessions_input(r->executor->sessions, text_of(message, "session"),
                                    cbx_buf_str(&message->bytes), err);
    return failed ? failed : answer_done(r, CBX_STR(""), err);
}

/* What is put into a session's workspace is in the log before it is there. */
static int note_upload(struct cbx_executor *e, const struct cbx_message *message,
                       struct cbx_err *err)
{
    struct cbx_audit *audit;
    int failed = cbx_executor_audit(e, &audit, err);
    if (failed) {
        return failed;
    }
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&message->bytes));
    cbx_sha256_hex(&hash, hex);
    CBX_AUTO_JSON body =
        json_pack("{s:s,s:s,s:s,s:s,s:I}", "session", text_of(message, "session"), "principal",
                  text_of(message, "principal"), "path", text_of(message, "path"), "sha256", hex,
                  "size", (json_int_t)message->bytes.len);
    return cbx_audit_append(audit, "upload", body, NULL, err);
}

static int put_file(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                    const struct cbx_message *message, struct cbx_err *err)
{
    struct cbx_str path = cbx_json_str(json_object_get(message->header, "path"));
    int failed = note_upload(r->executor, message, err);
    failed = failed ? failed : cbx_sandbox_put(sandbox, path, cbx_buf_str(&message->bytes), err);
    return failed ? failed : answer_done(r, CBX_STR(""), err);
}

static int get_file(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                    const struct cbx_message *message, struct cbx_err *err)
{
    struct cbx_str path = cbx_json_str(json_object_get(message->header, "path"));
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, CBX_WIRE_BYTES_MAX);
    int failed = cbx_sandbox_get(sandbox, path, &bytes, err);
    return failed ? failed : answer_done(r, cbx_buf_str(&bytes), err);
}

static int list_files(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                      const struct cbx_message *message, struct cbx_err *err)
{
    struct cbx_str path = cbx_json_str(json_object_get(message->header, "path"));
    json_t *list;
    bool complete;
    int failed = cbx_sandbox_list(sandbox, path, &list, &complete, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_JSON answer =
        json_pack("{s:s,s:o,s:b}", "type", "done", "files", list, "complete", complete);
    return cbx_wire_send(r->fd, answer, CBX_STR(""), err);
}

static int delete_file(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                       const struct cbx_message *message, struct cbx_err *err)
{
    struct cbx_str path = cbx_json_str(json_object_get(message->header, "path"));
    int failed = cbx_sandbox_delete(sandbox, path, err);
    return failed ? failed : answer_done(r, CBX_STR(""), err);
}

/* The result of a run that an executor before us had, and could not acknowledge any more. */
static int acknowledge_run(struct cbx_executor_request *r, const struct cbx_message *message,
                           struct cbx_err *err)
{
    struct cbx_pool *pool;
    int failed = cbx_executor_pool(r->executor, &pool, err); /* those of before are adopted there */
    if (failed) {
        return failed;
    }
    cbx_sessions_acknowledge(r->executor->sessions, text_of(message, "run"));
    return answer_done(r, CBX_STR(""), err);
}

static int reset_session(struct cbx_executor_request *r, struct cbx_sandbox *sandbox,
                         const struct cbx_message *message, struct cbx_err *err)
{
    (void)message;
    int failed = cbx_sandbox_reset(sandbox, err);
    cbx_sandbox_warm(sandbox);
    return failed ? failed : answer_done(r, CBX_STR(""), err);
}

/* What is asked of a session while nothing runs in it. */
static int serve_session(struct cbx_executor_request *r, const struct cbx_message *message,
                         int (*serve)(struct cbx_executor_request *, struct cbx_sandbox *,
                                      const struct cbx_message *, struct cbx_err *),
                         struct cbx_err *err)
{
    struct cbx_sessions *sessions = r->executor->sessions;
    struct cbx_session *session;
    struct cbx_pool *pool;
    int failed = cbx_executor_pool(r->executor, &pool, err);
    failed = failed ? failed
                    : cbx_sessions_enter(sessions, text_of(message, "session"),
                                         text_of(message, "principal"), &session, err);
    if (failed) {
        return failed;
    }
    struct cbx_sandbox *sandbox = cbx_session_sandbox(session);
    failed = sandbox == NULL || !cbx_sandbox_look(sandbox)
                 ? cbx_fail(err, CBX_ESTATE, "the session's sandbox is gone; its files with it")
                 : serve(r, sandbox, message, err);
    cbx_sessions_leave(sessions, session);
    return failed;
}

static int answer_sessions(struct cbx_executor_request *r, const struct cbx_message *message,
                           struct cbx_err *err)
{
    struct cbx_pool *pool;
    (void)message;
    int failed = cbx_executor_pool(r->executor, &pool, err); /* those of before are adopted there */
    if (failed) {
        return failed;
    }
    CBX_AUTO_JSON answer = json_pack("{s:s,s:o}", "type", "done", "sessions",
                                     cbx_sessions_list(r->executor->sessions));
    return cbx_wire_send(r->fd, answer, CBX_STR(""), err);
}

/* What a front before this one did not live to write down, nobody will ask for. */
static int drop_unwanted(struct cbx_executor_request *r, const struct cbx_message *message,
                         struct cbx_err *err)
{
    struct cbx_pool *pool;
    int failed = cbx_executor_pool(r->executor, &pool, err); /* those of before are adopted there */
    if (failed) {
        return failed;
    }
    cbx_sessions_retain(r->executor->sessions, json_object_get(message->header, "sessions"),
                        json_object_get(message->header, "runs"));
    return answer_done(r, CBX_STR(""), err);
}

static json_t *describe_pool(struct cbx_pool *pool)
{
    struct cbx_pool_stats s = { 0 };
    cbx_pool_stats(pool, &s);
    return json_pack("{s:i,s:i,s:i,s:i,s:I,s:I,s:I,s:I}", "ready", s.ready, "in_use", s.in_use,
                     "making", s.making, "waiting", s.waiting, "taken", (json_int_t)s.taken,
                     "taken_ready", (json_int_t)s.taken_ready, "made", (json_int_t)s.made, "failed",
                     (json_int_t)s.failed);
}

static int answer_health(struct cbx_executor_request *r, const struct cbx_message *message,
                         struct cbx_err *err)
{
    (void)message;
    struct cbx_pool *pool = NULL;
    struct cbx_audit *audit;
    struct cbx_err engine_err = { 0 }, audit_err = { 0 };
    bool engine_ok = cbx_executor_pool(r->executor, &pool, &engine_err) == 0;
    bool audit_ok = cbx_executor_audit(r->executor, &audit, &audit_err) == 0;
    struct cbx_engine *engine = r->executor->engine;
    CBX_AUTO_JSON answer = json_pack(
        "{s:s,s:b,s:o,s:s,s:b,s:o,s:i}", "type", "done", "engine_ok", engine_ok, "engine",
        cbx_json_text(cbx_str_of(engine_ok ? cbx_engine_version(engine) : engine_err.text)), "api",
        engine_ok ? cbx_engine_api(engine) : "", "audit_ok", audit_ok, "audit",
        cbx_json_text(cbx_str_of(audit_ok ? "" : audit_err.text)), "sessions",
        cbx_sessions_count(r->executor->sessions));
    if (engine_ok) {
        json_object_set_new(answer, "pool", describe_pool(pool));
    }
    return cbx_wire_send(r->fd, answer, (struct cbx_str){ 0 }, err);
}

static const struct {
    const char *op;
    int (*serve)(struct cbx_executor_request *, const struct cbx_message *, struct cbx_err *);
    int (*in_session)(struct cbx_executor_request *, struct cbx_sandbox *,
                      const struct cbx_message *, struct cbx_err *);
} operations[] = {
    { "submit", cbx_executor_submit, NULL },
    { "resume", cbx_executor_resume, NULL },
    { "ack", acknowledge_run, NULL },
    { "failed", note_failure, NULL },
    { "close", close_session, NULL },
    { "interrupt", interrupt_session, NULL },
    { "input", give_input, NULL },
    { "sessions", answer_sessions, NULL },
    { "wanted", drop_unwanted, NULL },
    { "health", answer_health, NULL },
    { "put", NULL, put_file },
    { "get", NULL, get_file },
    { "list", NULL, list_files },
    { "delete", NULL, delete_file },
    { "reset", NULL, reset_session },
};

static void answer_error(struct cbx_executor_request *r, int code, const struct cbx_err *err)
{
    /* A text that was cut to fit may end in half a character. */
    CBX_AUTO_JSON answer = json_pack("{s:s,s:i,s:o}", "type", "error", "code", code, "text",
                                     cbx_json_text(cbx_str_of(err->text)));
    cbx_wire_send(r->fd, answer, (struct cbx_str){ 0 }, NULL);
}

/* What fails in an executor that ends may succeed in the next one: without an answer the front asks
 * that, as it does when we are killed. */
static bool is_ending(struct cbx_executor *e)
{
    pthread_mutex_lock(&e->lock);
    bool ending = e->ending;
    pthread_mutex_unlock(&e->lock);
    return ending;
}

static void serve_request(void *context)
{
    struct cbx_executor_request r = *(struct cbx_executor_request *)context;
    free(context);
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    struct cbx_err err = { 0 };
    int failed = cbx_wire_receive(r.fd, 30000, &message, &err);
    const char *op = failed ? NULL : json_string_value(json_object_get(message.header, "op"));
    bool known = false;
    for (size_t i = 0; op != NULL && i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (strcmp(operations[i].op, op) == 0) {
            known = true;
            failed = operations[i].serve != NULL
                         ? operations[i].serve(&r, &message, &err)
                         : serve_session(&r, &message, operations[i].in_session, &err);
        }
    }
    if (!known && !failed) {
        failed = cbx_fail(&err, CBX_EPROTO, "the executor was asked for something it does not do");
    }
    if (failed && !r.dropped && !is_ending(r.executor)) {
        answer_error(&r, failed, &err);
    }
    close(r.fd);
}

void cbx_executor_serve(struct cbx_executor *e, int fd)
{
    struct cbx_executor_request *r = malloc(sizeof(*r));
    if (r == NULL) {
        abort();
    }
    *r = (struct cbx_executor_request){ .executor = e, .fd = fd };
    if (!cbx_threads_run(e->threads, serve_request, r)) {
        free(r);
        close(fd); /* the front sees a dead executor for this one request: nothing ran */
    }
}
