/* SPDX-License-Identifier: MIT
 * The executor's main work: a sealed decision becomes a record, a permit, a run. */
#include "gateway/executor/internal.h"
#include "gateway/ipc/relay.h"

/* How long a result waits for a front to take it, while it has one and while another run waits. */
enum { ACK_MS = 30000, UNACKED_MS = 30000 };

/* --- who listens ------------------------------------------------------------------------------ */

/* A run that is wanted by itself goes on when nobody listens. */
static int relay_event(void *context, const struct cbx_event *event)
{
    struct cbx_executor_request *r = context;
    struct cbx_sink sink = cbx_relay_sink(&r->fd);
    if (r->deaf) {
        return 0;
    }
    int failed = sink.event(sink.context, event);
    r->deaf = failed != 0 && r->kept;
    return r->deaf ? 0 : failed;
}

static bool is_unwanted(void *context)
{
    struct cbx_executor_request *r = context;
    struct cbx_sink sink = cbx_relay_sink(&r->fd);
    return !r->kept && sink.cancelled(sink.context);
}

static struct cbx_sink sink_of(struct cbx_executor_request *r)
{
    return (struct cbx_sink){ .event = relay_event, .cancelled = is_unwanted, .context = r };
}

/* --- between admission and beginning: it waits for its turn --------------------------------------
 */

static void add_admitted(struct cbx_executor_request *r, const struct cbx_permit *permit)
{
    struct cbx_executor *e = r->executor;
    if (permit->action == CBX_ACTION_RUN && permit->session[0] != '\0') {
        cbx_sessions_line_up(e->sessions, permit->session, &r->turn);
    }
    pthread_mutex_lock(&e->lock);
    snprintf(r->run, sizeof(r->run), "%s", permit->decision);
    r->next_admitted = e->admitted;
    e->admitted = r;
    pthread_mutex_unlock(&e->lock);
}

/* It begins, or never will. */
static void remove_admitted(struct cbx_executor_request *r)
{
    struct cbx_executor *e = r->executor;
    cbx_sessions_step_out(e->sessions, &r->turn);
    pthread_mutex_lock(&e->lock);
    for (struct cbx_executor_request **at = &e->admitted; *at != NULL; at = &(*at)->next_admitted) {
        if (*at == r) {
            *at = r->next_admitted;
            break;
        }
    }
    pthread_cond_broadcast(&e->run_begun);
    pthread_mutex_unlock(&e->lock);
}

static bool is_admitted(const struct cbx_executor *e, const char *run)
{
    const struct cbx_executor_request *r = e->admitted;
    while (r != NULL && strcmp(r->run, run) != 0) {
        r = r->next_admitted;
    }
    return r != NULL;
}

/* A front that was started again asks for a run that still waits. */
static void await_begin(struct cbx_executor_request *asking, const char *run)
{
    struct cbx_executor *e = asking->executor;
    CBX_AUTO_JSON waits = json_pack("{s:s}", "type", "waiting");
    pthread_mutex_lock(&e->lock);
    if (is_admitted(e, run)) {
        cbx_wire_send(asking->fd, waits, (struct cbx_str){ 0 }, NULL);
    }
    while (is_admitted(e, run)) {
        pthread_cond_wait(&e->run_begun, &e->lock);
    }
    pthread_mutex_unlock(&e->lock);
}

/* Not before its sandbox was told: who is told that it began will not have it run once more. */
static void tell_begin(void *context)
{
    struct cbx_executor_request *r = context;
    CBX_AUTO_JSON begun = json_pack("{s:s}", "type", "begun");
    r->deaf = cbx_wire_send(r->fd, begun, (struct cbx_str){ 0 }, NULL) != 0 && r->kept;
    remove_admitted(r);
}

/* --- runs ------------------------------------------------------------------------------------- */

static int take_sandbox(struct cbx_executor *e, const struct cbx_permit *permit,
                        const struct cbx_sink *sink, struct cbx_sandbox **out, struct cbx_err *err)
{
    struct cbx_pool *pool;
    int failed = cbx_executor_pool(e, &pool, err);
    return failed ? failed : cbx_pool_take(pool, permit, sink, out, err);
}

/* A place in the table and a sandbox in it. */
static int open_place(struct cbx_executor *e, const struct cbx_permit *permit,
                      const struct cbx_sink *sink, struct cbx_err *err)
{
    const char *id = permit->session[0] != '\0' ? permit->session : permit->decision;
    if (permit->action == CBX_ACTION_OPEN && cbx_sessions_is_fresh(e->sessions, permit)) {
        return 0; /* opened by an executor that was killed before it could say so */
    }
    int failed = cbx_sessions_reserve(e->sessions, permit, err);
    if (failed) {
        return failed;
    }
    struct cbx_sandbox *sandbox = NULL;
    failed = take_sandbox(e, permit, sink, &sandbox, err);
    if (!failed && permit->action == CBX_ACTION_OPEN) {
        cbx_sandbox_warm(sandbox);
    }
    cbx_sessions_fill(e->sessions, id, sandbox);
    if (failed) {
        cbx_sessions_close(e->sessions, id, NULL);
    }
    return failed;
}

/* With the session entered and a place to run. */
static int run_entered(struct cbx_executor_request *r, struct cbx_session *session,
                       const struct cbx_permit *permit, struct cbx_str text, bool interactive,
                       const struct cbx_sink *sink, struct cbx_result *result, struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    struct cbx_sandbox *sandbox = cbx_session_sandbox(session);
    bool restarted = sandbox == NULL || !cbx_sandbox_look(sandbox);
    if (restarted) {
        /* The container died since the last run: its state is gone, the session lives on in a new
         * one, and the result says so. */
        int failed = take_sandbox(e, permit, sink, &sandbox, err);
        if (failed) {
            return failed;
        }
        cbx_sessions_replace(e->sessions, session, sandbox);
    }
    struct cbx_run_options options = { .interactive = interactive,
                                       .begun = tell_begin,
                                       .context = r };
    cbx_sessions_begin(e->sessions, session, permit->decision);
    int failed = cbx_sandbox_run(sandbox, permit, text, &options, sink, result, err);
    result->session_restarted = restarted;
    return failed;
}

static int run_in_place(struct cbx_executor_request *r, const struct cbx_permit *permit,
                        struct cbx_str text, bool interactive, const struct cbx_sink *sink,
                        struct cbx_result *result, struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    struct cbx_session *session;
    int failed =
        cbx_sessions_enter_run(e->sessions, &r->turn, permit->principal, UNACKED_MS, &session, err);
    if (failed) {
        return failed;
    }
    /* Its turn in the session first: those that wait for that take nobody's place. */
    failed = cbx_executor_enter(e, sink, err);
    if (!failed) {
        failed = run_entered(r, session, permit, text, interactive, sink, result, err);
        cbx_executor_leave(e);
    }
    cbx_sessions_leave(e->sessions, session);
    return failed;
}

static int run_once(struct cbx_executor_request *r, const struct cbx_permit *permit,
                    struct cbx_str text, bool interactive, const struct cbx_sink *sink,
                    struct cbx_result *result, struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    int failed = cbx_executor_enter(e, sink, err);
    if (failed) {
        return failed;
    }
    struct cbx_session *session;
    failed = open_place(e, permit, sink, err);
    if (!failed) {
        failed =
            cbx_sessions_enter(e->sessions, permit->decision, permit->principal, &session, err);
        if (!failed) {
            failed = run_entered(r, session, permit, text, interactive, sink, result, err);
            result->session_restarted = false;
            cbx_sessions_leave(e->sessions, session);
        }
        if (failed) {
            cbx_sessions_close(e->sessions, permit->decision, NULL);
        }
    }
    cbx_executor_leave(e);
    return failed;
}

static json_t *describe_outcome(const char *decision, const char *action,
                                const struct cbx_result *result, int failed,
                                const struct cbx_err *err)
{
    json_t *body = cbx_result_json(result);
    json_object_set_new(body, "decision", json_string(decision));
    json_object_set_new(body, "action", json_string(action));
    json_object_del(body, "evalue");
    json_object_del(body, "traceback");
    json_object_del(body, "type");
    if (failed) {
        json_object_set_new(body, "error", cbx_json_text(cbx_str_of(err->text)));
    }
    return body;
}

/* What became of a permit goes into the log too; a run that is over cannot be undone by a full
 * disk, so a failure here is only reported to the operator. */
static void end_outcome(struct cbx_audit *audit, struct cbx_audit_pending *record)
{
    enum { PATIENCE_MS = 50 };
    struct cbx_err err;
    if (cbx_audit_await(audit, record, PATIENCE_MS, &err) != 0) {
        fprintf(stderr, "codebox: %s\n", err.text);
    }
}

/* Waits until the front has the result, and says that this is known. Who wants none kept hangs up.
 */
static bool await_front(struct cbx_executor_request *r, const char *run_id)
{
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    bool taken = cbx_wire_receive(r->fd, ACK_MS, &message, NULL) == 0;
    if (taken || !r->kept) {
        cbx_sessions_acknowledge(r->executor->sessions, run_id);
    }
    if (taken) {
        CBX_AUTO_JSON known = json_pack("{s:s}", "type", "done");
        cbx_wire_send(r->fd, known, (struct cbx_str){ 0 }, NULL);
    }
    return taken;
}

/* The caller need not wait for the second record: the first one, of the decision, was on disk
 * before anything ran. Nor need the next run: the record goes to disk with that one's. */
static bool hand_over(struct cbx_executor_request *r, struct cbx_audit *audit, const char *run_id,
                      const char *action, const struct cbx_result *result)
{
    CBX_AUTO_JSON done = cbx_result_json(result);
    CBX_AUTO_JSON body = describe_outcome(run_id, action, result, 0, NULL);
    struct cbx_audit_pending record = { .type = "outcome", .body = body };
    cbx_audit_submit(audit, &record);
    cbx_wire_send(r->fd, done, (struct cbx_str){ 0 }, NULL); /* to nobody, when it is gone */
    bool taken = await_front(r, run_id);
    end_outcome(audit, &record);
    cbx_executor_count(r->executor, -1);
    return taken;
}

static int run_permitted(struct cbx_executor_request *r, struct cbx_audit *audit,
                         const struct cbx_permit *permit, struct cbx_str text, bool interactive,
                         struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_sink sink = sink_of(r);
    cbx_executor_count(e, 1);
    int failed = permit->action == CBX_ACTION_OPEN ? open_place(e, permit, &sink, err)
                 : permit->session[0] != '\0'
                     ? run_in_place(r, permit, text, interactive, &sink, &result, err)
                     : run_once(r, permit, text, interactive, &sink, &result, err);
    remove_admitted(r);
    const char *action = cbx_action_name(permit->action);
    if (failed) {
        CBX_AUTO_JSON body = describe_outcome(permit->decision, action, &result, failed, err);
        struct cbx_audit_pending record = { .type = "outcome", .body = body };
        cbx_audit_submit(audit, &record);
        end_outcome(audit, &record);
        cbx_executor_count(e, -1);
        return failed;
    }
    bool taken = hand_over(r, audit, permit->decision, action, &result);
    if (permit->action == CBX_ACTION_OPEN && !taken) {
        /* The front was killed before it wrote the session down: nobody knows its id. */
        cbx_sessions_close(e->sessions, permit->session, NULL);
    }
    return 0;
}

struct submit {
    struct cbx_str op, sealed, mac;
    bool keep, interactive;
};
static const struct cbx_json_field submit_fields[] = {
    { "op", CBX_JSON_STR, offsetof(struct submit, op), true, false, 0, 16 },
    { "sealed", CBX_JSON_STR, offsetof(struct submit, sealed), true, false, 1, CBX_SEAL_MAX_BYTES },
    { "mac", CBX_JSON_STR, offsetof(struct submit, mac), true, false, CBX_SHA256_HEX,
      CBX_SHA256_HEX },
    { "keep", CBX_JSON_BOOL, offsetof(struct submit, keep), false, false, 0, 0 },
    { "interactive", CBX_JSON_BOOL, offsetof(struct submit, interactive), false, false, 0, 0 },
};

static int open_seal(struct cbx_executor *e, const struct submit *s, struct cbx_str text,
                     struct cbx_sealed *out, struct cbx_err *err)
{
    struct cbx_sha256 mac;
    if (!cbx_sha256_from_hex(s->mac, &mac)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is malformed");
    }
    pthread_mutex_lock(&e->lock);
    int failed =
        cbx_seal_open(&e->secrets.key, s->sealed, &mac, text, cbx_time_ms(), &e->guard, out, err);
    pthread_mutex_unlock(&e->lock);
    return failed;
}

int cbx_executor_submit(struct cbx_executor_request *r, const struct cbx_message *message,
                        struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    struct submit s = { 0 };
    int failed = cbx_json_read(message->header, submit_fields,
                               sizeof(submit_fields) / sizeof(submit_fields[0]), &s, err);
    if (failed) {
        return cbx_fail(err, CBX_ESEAL, "the decision is malformed");
    }
    struct cbx_str text = cbx_buf_str(&message->bytes);
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    failed = open_seal(e, &s, text, &sealed, err);
    if (!failed && sealed.issued_ms < e->secrets.executor_start_ms) {
        /* Which of those were used, the executor before us knew; the front has it judged again. */
        r->dropped = true;
        return cbx_fail(err, CBX_ESEAL, "the decision is older than this executor");
    }
    struct cbx_audit *audit;
    CBX_AUTO(permit) permit = NULL;
    uint64_t seq = 0;
    failed = failed ? failed : cbx_executor_audit(e, &audit, err);
    failed = failed ? failed : cbx_audit_admit(audit, &sealed, &permit, &seq, err);
    if (failed) {
        return failed;
    }
    if (permit != NULL) {
        add_admitted(r, permit);
    }
    CBX_AUTO_JSON answer =
        json_pack("{s:s,s:s,s:I}", "type", permit != NULL ? "admitted" : "recorded", "decision",
                  sealed.fields.decision, "seq", (json_int_t)seq);
    failed = cbx_wire_send(r->fd, answer, (struct cbx_str){ 0 }, err);
    r->kept = s.keep;
    if (failed && permit != NULL) {
        remove_admitted(r);
    }
    return failed || permit == NULL ? failed
                                    : run_permitted(r, audit, permit, text, s.interactive, err);
}

int cbx_executor_resume(struct cbx_executor_request *r, const struct cbx_message *message,
                        struct cbx_err *err)
{
    struct cbx_executor *e = r->executor;
    const char *run = json_string_value(json_object_get(message->header, "run"));
    char place[CBX_NAME_MAX + 1];
    struct cbx_pool *pool;
    struct cbx_audit *audit;
    struct cbx_session *session;
    r->kept = json_is_true(json_object_get(message->header, "keep"));
    run = run != NULL ? run : "";
    int failed = cbx_executor_pool(e, &pool, err); /* what there is to resume is adopted there */
    failed = failed ? failed : cbx_executor_audit(e, &audit, err);
    await_begin(r, run);
    failed = failed ? failed : cbx_sessions_find_run(e->sessions, run, place, err);
    if (!failed) {
        CBX_AUTO_JSON begun = json_pack("{s:s}", "type", "begun");
        cbx_wire_send(r->fd, begun, (struct cbx_str){ 0 }, NULL);
    }
    failed = failed ? failed : cbx_sessions_enter(e->sessions, place, NULL, &session, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_sink sink = sink_of(r), front = cbx_relay_sink(&r->fd);
    cbx_executor_count(e, 1);
    struct cbx_sandbox *sandbox = cbx_session_sandbox(session);
    failed = sandbox == NULL ? cbx_fail(err, CBX_ENOTFOUND, "its sandbox is gone")
             : front.cancelled(front.context)
                 ? cbx_fail(err, CBX_ESTATE, "the front was killed; the next one asks again")
                 : cbx_sandbox_resume(sandbox, run, &sink, &result, err);
    cbx_sessions_leave(e->sessions, session);
    if (failed) {
        cbx_executor_count(e, -1);
        return failed;
    }
    hand_over(r, audit, run, "resume", &result);
    return 0;
}
