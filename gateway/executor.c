/* SPDX-License-Identifier: MIT
 * The executor process. */
#include "gateway/executor.h"

#include "docker/engine.h"
#include "docker/sandbox.h"
#include "gateway/audit.h"
#include "gateway/instance.h"
#include "gateway/jail.h"
#include "gateway/relay.h"
#include "gateway/sessions.h"
#include "gateway/wire.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

struct executor {
    struct cbx_executor_config config;
    struct cbx_seal_key key;
    pthread_mutex_t
        lock; /* audit, engine, guard, running: everything below that is made or counted */
    struct cbx_audit *audit;
    struct cbx_engine *engine;
    struct cbx_instance instance;
    struct cbx_replay_guard guard;
    pthread_cond_t place_free;
    int running, waiting, active, threads;
    struct cbx_sessions *sessions;
};

/* One request on its way through. */
struct request {
    struct executor *executor;
    int fd;
};

/* --- what the first request opens ------------------------------------------------------------- */

static int get_audit(struct executor *e, struct cbx_audit **out, struct cbx_err *err)
{
    pthread_mutex_lock(&e->lock);
    int failed = e->audit == NULL ? cbx_audit_open(e->config.state_dir, &e->audit, err) : 0;
    *out = e->audit;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

/* Connects, and removes what gateways before us left behind. */
static int get_engine(struct executor *e, struct cbx_engine **out, struct cbx_err *err)
{
    pthread_mutex_lock(&e->lock);
    int failed = 0;
    if (e->engine == NULL) {
        failed = cbx_engine_new(e->config.docker_host, &e->engine, err);
        if (!failed) {
            failed = cbx_instance_make(e->config.state_dir, &e->instance, err);
        }
        if (!failed) {
            cbx_instance_reap(e->config.state_dir, e->engine);
        } else {
            cbx_engine_free(cbx_steal(&e->engine));
        }
    }
    *out = e->engine;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

/* Waits for one of the max_runs places; given back by leave_run. A front that hangs up gives its
 * place in the queue up. */
static int enter_run(struct executor *e, const struct cbx_sink *sink, struct cbx_err *err)
{
    enum { WAITING_MAX = 512, TICK_MS = 200 };
    int failed = 0;
    pthread_mutex_lock(&e->lock);
    if (e->running >= e->config.max_runs && e->waiting >= WAITING_MAX) {
        failed = cbx_fail(err, CBX_EBUSY, "%d programs run and %d wait; try again later",
                          e->running, e->waiting);
    }
    e->waiting++;
    while (!failed && e->running >= e->config.max_runs) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&e->place_free, &e->lock, &until);
        if (sink->cancelled(sink->context)) {
            failed = cbx_fail(err, CBX_ESTATE, "cancelled before it began");
        }
    }
    e->waiting--;
    e->running += failed ? 0 : 1;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

static void leave_run(struct executor *e)
{
    pthread_mutex_lock(&e->lock);
    e->running--;
    pthread_cond_signal(&e->place_free);
    pthread_mutex_unlock(&e->lock);
}

/* Requests whose outcome is not in the log yet: the executor's end waits for them. */
static void count_active(struct executor *e, int change)
{
    pthread_mutex_lock(&e->lock);
    e->active += change;
    pthread_mutex_unlock(&e->lock);
}

/* --- submitting a decision -------------------------------------------------------------------- */

static int make_sandbox(struct executor *e, const struct cbx_permit *permit,
                        struct cbx_sandbox **out, struct cbx_err *err)
{
    struct cbx_engine *engine;
    int failed = get_engine(e, &engine, err);
    if (failed) {
        return failed;
    }
    struct cbx_sandbox_config config = { .instance = e->instance.name,
                                         .runtime = e->config.runtime };
    return cbx_sandbox_new(engine, &config, permit, out, err);
}

static int open_session(struct executor *e, const struct cbx_permit *permit,
                        const struct cbx_sink *sink, struct cbx_err *err)
{
    int failed = cbx_sessions_reserve(e->sessions, permit, err);
    if (failed) {
        return failed;
    }
    struct cbx_sandbox *sandbox = NULL;
    failed = enter_run(e, sink, err);
    if (!failed) {
        failed = make_sandbox(e, permit, &sandbox, err);
        leave_run(e);
    }
    cbx_sessions_fill(e->sessions, permit->session, sandbox);
    if (failed) {
        cbx_sessions_close(e->sessions, permit->session, NULL);
    }
    return failed;
}

static int run_in_session(struct executor *e, const struct cbx_permit *permit, struct cbx_str text,
                          const struct cbx_sink *sink, struct cbx_result *result,
                          struct cbx_err *err)
{
    struct cbx_session *session;
    int failed = cbx_sessions_enter(e->sessions, permit, &session, err);
    if (failed) {
        return failed;
    }
    /* Its turn in the session first: those that wait for that take nobody's place. */
    failed = enter_run(e, sink, err);
    if (failed) {
        cbx_sessions_leave(e->sessions, session);
        return failed;
    }
    struct cbx_sandbox *sandbox = cbx_session_sandbox(session);
    if (sandbox == NULL || !cbx_sandbox_alive(sandbox)) {
        /* The container died since the last run: its state is gone, the session lives on in a new
         * one. */
        failed = make_sandbox(e, permit, &sandbox, err);
        if (!failed) {
            cbx_sessions_replace(e->sessions, session, sandbox);
        }
    }
    failed = failed ? failed : cbx_sandbox_run(sandbox, permit, text, sink, result, err);
    leave_run(e);
    cbx_sessions_leave(e->sessions, session);
    return failed;
}

static int run_once(struct executor *e, const struct cbx_permit *permit, struct cbx_str text,
                    const struct cbx_sink *sink, struct cbx_result *result, struct cbx_err *err)
{
    CBX_AUTO(sandbox) sandbox = NULL;
    int failed = enter_run(e, sink, err);
    if (failed) {
        return failed;
    }
    failed = make_sandbox(e, permit, &sandbox, err);
    failed = failed ? failed : cbx_sandbox_run(sandbox, permit, text, sink, result, err);
    leave_run(e);
    return failed;
}

/* What became of a permit goes into the log too; a run that is over cannot be undone by a full
 * disk, so a failure here is only reported to the operator. */
static void record_outcome(struct cbx_audit *audit, const struct cbx_permit *permit,
                           const struct cbx_result *result, int failed, const struct cbx_err *err)
{
    CBX_AUTO_JSON body = cbx_result_json(result);
    json_object_set_new(body, "decision", json_string(permit->decision));
    json_object_set_new(body, "action", json_string(cbx_action_name(permit->action)));
    json_object_del(body, "evalue");
    json_object_del(body, "traceback");
    json_object_del(body, "type");
    if (failed) {
        json_object_set_new(body, "error", cbx_json_text(cbx_str_of(err->text)));
    }
    struct cbx_err audit_err;
    if (cbx_audit_append(audit, "outcome", body, NULL, &audit_err) != 0) {
        fprintf(stderr, "codebox: %s\n", audit_err.text);
    }
}

static int run_permitted(struct request *r, struct cbx_audit *audit,
                         const struct cbx_permit *permit, struct cbx_str text, struct cbx_err *err)
{
    struct executor *e = r->executor;
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_sink sink = cbx_relay_sink(&r->fd);
    count_active(e, 1);
    int failed = permit->action == CBX_ACTION_OPEN ? open_session(e, permit, &sink, err)
                 : permit->session[0] != '\0' ? run_in_session(e, permit, text, &sink, &result, err)
                                              : run_once(e, permit, text, &sink, &result, err);
    record_outcome(audit, permit, &result, failed, err);
    count_active(e, -1);
    if (failed) {
        return failed;
    }
    CBX_AUTO_JSON done = cbx_result_json(&result);
    return cbx_wire_send(r->fd, done, (struct cbx_str){ 0 }, err);
}

struct submit {
    struct cbx_str op, sealed, mac;
};
static const struct cbx_json_field submit_fields[] = {
    { "op", CBX_JSON_STR, offsetof(struct submit, op), true, false, 0, 16 },
    { "sealed", CBX_JSON_STR, offsetof(struct submit, sealed), true, false, 1, CBX_SEAL_MAX_BYTES },
    { "mac", CBX_JSON_STR, offsetof(struct submit, mac), true, false, CBX_SHA256_HEX,
      CBX_SHA256_HEX },
};

/* Open the seal, write the record, and only then run. */
static int submit(struct request *r, const struct cbx_message *message, struct cbx_err *err)
{
    struct executor *e = r->executor;
    struct submit s = { 0 };
    struct cbx_sha256 mac;
    int failed = cbx_json_read(message->header, submit_fields, 3, &s, err);
    if (failed || !cbx_sha256_from_hex(s.mac, &mac)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is malformed");
    }
    struct cbx_str text = cbx_buf_str(&message->bytes);
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    pthread_mutex_lock(&e->lock);
    failed = cbx_seal_open(&e->key, s.sealed, &mac, text, cbx_time_ms(), &e->guard, &sealed, err);
    pthread_mutex_unlock(&e->lock);
    struct cbx_audit *audit;
    CBX_AUTO(permit) permit = NULL;
    uint64_t seq = 0;
    failed = failed ? failed : get_audit(e, &audit, err);
    failed = failed ? failed : cbx_audit_admit(audit, &sealed, &permit, &seq, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_JSON answer =
        json_pack("{s:s,s:s,s:I}", "type", permit != NULL ? "admitted" : "recorded", "decision",
                  sealed.fields.decision, "seq", (json_int_t)seq);
    failed = cbx_wire_send(r->fd, answer, (struct cbx_str){ 0 }, err);
    return failed || permit == NULL ? failed : run_permitted(r, audit, permit, text, err);
}

/* --- the other requests ----------------------------------------------------------------------- */

/* The front cannot seal, so it can only report denials that nobody decided: a worker that failed.
 */
static int note_failure(struct request *r, const struct cbx_message *message, struct cbx_err *err)
{
    static const char *const names[] = { "language", "policy", "principal", "session", "origin" };
    struct cbx_audit *audit;
    int failed = get_audit(r->executor, &audit, err);
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

static int answer_done(struct request *r, struct cbx_err *err)
{
    CBX_AUTO_JSON answer = json_pack("{s:s}", "type", "done");
    return cbx_wire_send(r->fd, answer, (struct cbx_str){ 0 }, err);
}

static int close_session(struct request *r, const struct cbx_message *message, struct cbx_err *err)
{
    const char *id = json_string_value(json_object_get(message->header, "session"));
    int failed = cbx_sessions_close(r->executor->sessions, id != NULL ? id : "", err);
    return failed ? failed : answer_done(r, err);
}

static int interrupt_session(struct request *r, const struct cbx_message *message,
                             struct cbx_err *err)
{
    const char *id = json_string_value(json_object_get(message->header, "session"));
    int failed = cbx_sessions_interrupt(r->executor->sessions, id != NULL ? id : "", err);
    return failed ? failed : answer_done(r, err);
}

static int answer_health(struct request *r, const struct cbx_message *message, struct cbx_err *err)
{
    (void)message;
    struct cbx_engine *engine = NULL;
    struct cbx_audit *audit;
    struct cbx_err engine_err = { 0 }, audit_err = { 0 };
    bool engine_ok = get_engine(r->executor, &engine, &engine_err) == 0;
    bool audit_ok = get_audit(r->executor, &audit, &audit_err) == 0;
    CBX_AUTO_JSON answer = json_pack(
        "{s:s,s:b,s:o,s:s,s:b,s:o,s:i}", "type", "done", "engine_ok", engine_ok, "engine",
        cbx_json_text(cbx_str_of(engine_ok ? cbx_engine_version(engine) : engine_err.text)), "api",
        engine_ok ? cbx_engine_api(engine) : "", "audit_ok", audit_ok, "audit",
        cbx_json_text(cbx_str_of(audit_ok ? "" : audit_err.text)), "sessions",
        cbx_sessions_count(r->executor->sessions));
    return cbx_wire_send(r->fd, answer, (struct cbx_str){ 0 }, err);
}

static const struct {
    const char *op;
    int (*serve)(struct request *, const struct cbx_message *, struct cbx_err *);
} operations[] = {
    { "submit", submit },        { "failed", note_failure },
    { "close", close_session },  { "interrupt", interrupt_session },
    { "health", answer_health },
};

static void answer_error(struct request *r, int code, const struct cbx_err *err)
{
    /* A text that was cut to fit may end in half a character. */
    CBX_AUTO_JSON answer = json_pack("{s:s,s:i,s:o}", "type", "error", "code", code, "text",
                                     cbx_json_text(cbx_str_of(err->text)));
    cbx_wire_send(r->fd, answer, (struct cbx_str){ 0 }, NULL);
}

/* One more thread, or none: a front that was taken over may ask for as many as it likes. */
static bool count_thread(struct executor *e)
{
    enum { THREADS_MAX = 1024 };
    pthread_mutex_lock(&e->lock);
    bool fits = e->threads < THREADS_MAX;
    e->threads += fits;
    pthread_mutex_unlock(&e->lock);
    return fits;
}

static void uncount_thread(struct executor *e)
{
    pthread_mutex_lock(&e->lock);
    e->threads--;
    pthread_mutex_unlock(&e->lock);
}

static void *serve_request(void *context)
{
    struct request r = *(struct request *)context;
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
            failed = operations[i].serve(&r, &message, &err);
        }
    }
    if (!known && !failed) {
        failed = cbx_fail(&err, CBX_EPROTO, "the executor was asked for something it does not do");
    }
    if (failed) {
        answer_error(&r, failed, &err);
    }
    close(r.fd);
    uncount_thread(r.executor);
    return NULL;
}

static void start_thread(struct executor *e, int fd)
{
    if (!count_thread(e)) {
        close(fd);
        return;
    }
    struct request *r = malloc(sizeof(*r));
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 512 * 1024);
    if (r != NULL) {
        *r = (struct request){ .executor = e, .fd = fd };
    }
    if (r == NULL || pthread_create(&thread, &attributes, serve_request, r) != 0) {
        free(r);
        uncount_thread(e);
        close(fd); /* the front sees a dead executor for this one request: nothing ran */
    }
    pthread_attr_destroy(&attributes);
}

static void *expire_sessions(void *context)
{
    struct executor *e = context;
    int64_t period_ms = e->config.idle_ms < 40000 ? e->config.idle_ms / 4 + 10 : 10000;
    for (;;) {
        struct timespec period = { .tv_sec = period_ms / 1000,
                                   .tv_nsec = (period_ms % 1000) * 1000000 };
        nanosleep(&period, NULL);
        cbx_sessions_expire(e->sessions, cbx_clock_ms(), e->config.idle_ms);
    }
    return NULL;
}

/* Runs see that nobody listens to them, end, and write down what became of them; they get a moment
 * for it. */
static void await_runs(struct executor *e)
{
    enum { WAIT_MS = 3000, STEP_MS = 20 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
    int running = 1;
    for (int waited = 0; running > 0 && waited < WAIT_MS; waited += STEP_MS) {
        pthread_mutex_lock(&e->lock);
        running = e->active;
        pthread_mutex_unlock(&e->lock);
        if (running > 0) {
            nanosleep(&step, NULL);
        }
    }
}

_Noreturn void cbx_executor_main(int control, int key_fd, const struct cbx_executor_config *config)
{
    static struct executor e;
    e.config = *config;
    pthread_mutex_init(&e.lock, NULL);
    pthread_cond_init(&e.place_free, NULL);
    cbx_jail_common();
    prctl(PR_SET_NAME, "cbx-executor");
    if (read(key_fd, e.key.bytes, sizeof(e.key.bytes)) != (ssize_t)sizeof(e.key.bytes)) {
        _exit(1);
    }
    close(key_fd);
    e.sessions = cbx_sessions_new(config->max_sessions);
    pthread_t thread;
    if (pthread_create(&thread, NULL, expire_sessions, &e) != 0) {
        _exit(1);
    }
    for (;;) {
        int fd;
        char tag;
        struct cbx_err err;
        if (cbx_wire_receive_fd(control, &fd, &tag, &err) != 0) {
            break;
        }
        if (fd >= 0) {
            start_thread(&e, fd);
        }
    }
    /* The front is gone. Sandboxes end with their attached streams; asking the engine too is
     * quicker. */
    await_runs(&e);
    cbx_sessions_close_all(
        e.sessions); /* not freed: the expiry and late requests may still look at the table */
    pthread_mutex_lock(&e.lock);
    cbx_instance_done(&e.instance);
    _exit(0);
}
