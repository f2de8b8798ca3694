/* SPDX-License-Identifier: MIT
 * The executor process. */
#include "gateway/executor.h"

#include "gateway/executor_parts.h"
#include "gateway/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static int64_t lease_ms(const struct cbx_executor *e)
{
    return e->config.lease_ms > 0 ? e->config.lease_ms : CBX_SANDBOX_LEASE_MS;
}

/* --- what the first request opens ------------------------------------------------------------- */

int cbx_executor_audit(struct cbx_executor *e, struct cbx_audit **out, struct cbx_err *err)
{
    pthread_mutex_lock(&e->lock);
    int failed = e->audit == NULL ? cbx_audit_open(e->config.state_dir, &e->audit, err) : 0;
    *out = e->audit;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

static bool is_ours(void *context, const char *id)
{
    struct cbx_executor *e = context;
    return cbx_sessions_has(e->sessions, id) || (e->pool != NULL && cbx_pool_has(e->pool, id));
}

/* What an executor before us left: sessions and results are taken over, everything else goes. */
static void adopt(struct cbx_executor *e, const struct cbx_sandbox_config *config)
{
    char label[128];
    size_t i, removed;
    json_t *id;
    CBX_AUTO_JSON ids = NULL;
    snprintf(label, sizeof(label), "codebox.instance=%s", e->instance.name);
    if (cbx_engine_container_running(e->engine, label, &ids, NULL) != 0) {
        return;
    }
    json_array_foreach(ids, i, id)
    {
        struct cbx_sandbox *sandbox = NULL;
        if (cbx_sandbox_adopt(e->engine, config, json_string_value(id), &sandbox, NULL) == 0) {
            if (cbx_sessions_adopt(e->sessions, sandbox)) {
                cbx_pool_count(e->pool);
            } else {
                cbx_sandbox_leave(sandbox);
            }
        }
    }
    cbx_sandbox_reap(e->engine, e->instance.name, 0, is_ours, e, &removed, NULL);
}

/* The executor of a gateway whose master was killed may not have ended yet. */
static int make_instance(struct cbx_executor *e, const uint8_t seed[CBX_INSTANCE_SEED_BYTES],
                         struct cbx_err *err)
{
    enum { WAIT_MS = 20000, STEP_MS = 50 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
    int failed = CBX_EBUSY;
    for (int waited = 0; failed == CBX_EBUSY && waited < WAIT_MS; waited += STEP_MS) {
        if (waited > 0) {
            nanosleep(&step, NULL);
        }
        failed = cbx_instance_make(e->config.state_dir, seed, &e->instance, err);
    }
    return failed;
}

/* With the lock held. */
static int open_engine(struct cbx_executor *e, struct cbx_err *err)
{
    uint8_t seed[CBX_INSTANCE_SEED_BYTES];
    memcpy(seed, e->secrets.seed, sizeof(seed));
    int failed = cbx_engine_new(e->config.docker_host, &e->engine, err);
    if (!failed && e->config.persistent) {
        failed = cbx_instance_seed(e->config.state_dir, seed, err);
    }
    if (!failed && e->instance.name[0] == '\0') {
        failed = make_instance(e, seed, err);
    }
    if (failed) {
        cbx_engine_free(cbx_steal(&e->engine));
        return failed;
    }
    struct cbx_sandbox_config config = { .instance = e->instance.name,
                                         .runtime = e->config.runtime,
                                         .lease_ms = (uint32_t)lease_ms(e),
                                         .apparmor = e->config.apparmor };
    memcpy(config.secret, e->instance.secret, sizeof(config.secret));
    e->pool = cbx_pool_new(e->engine, &config, &e->config.pool);
    adopt(e, &config);
    cbx_instance_reap(e->config.state_dir, e->engine);
    for (int i = 0; i < e->config.profile_count; i++) {
        cbx_pool_announce(e->pool, e->config.profiles[i].kernel, &e->config.profiles[i].limits);
    }
    return 0;
}

int cbx_executor_pool(struct cbx_executor *e, struct cbx_pool **out, struct cbx_err *err)
{
    pthread_mutex_lock(&e->lock);
    int failed = e->ending         ? cbx_fail(err, CBX_ESTATE, "the gateway is ending")
                 : e->pool == NULL ? open_engine(e, err)
                                   : 0;
    *out = e->pool;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

/* Before there is a pool, nothing was made that it could be given. */
void cbx_executor_discard(void *executor, struct cbx_sandbox *sandbox)
{
    struct cbx_executor *e = executor;
    if (sandbox != NULL) {
        cbx_pool_discard(e->pool, sandbox);
    }
}

int cbx_executor_enter(struct cbx_executor *e, const struct cbx_sink *sink, struct cbx_err *err)
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

void cbx_executor_leave(struct cbx_executor *e)
{
    pthread_mutex_lock(&e->lock);
    e->running--;
    pthread_cond_signal(&e->place_free);
    pthread_mutex_unlock(&e->lock);
}

void cbx_executor_count(struct cbx_executor *e, int change)
{
    pthread_mutex_lock(&e->lock);
    e->active += change;
    pthread_mutex_unlock(&e->lock);
}

/* --- the smaller requests -----------------------------------------------------------------------
 */

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

/* One more thread, or none: a front that was taken over may ask for as many as it likes. */
static bool count_thread(struct cbx_executor *e)
{
    enum { THREADS_MAX = 1024 };
    pthread_mutex_lock(&e->lock);
    bool fits = e->threads < THREADS_MAX;
    e->threads += fits;
    pthread_mutex_unlock(&e->lock);
    return fits;
}

static void uncount_thread(struct cbx_executor *e)
{
    pthread_mutex_lock(&e->lock);
    e->threads--;
    pthread_mutex_unlock(&e->lock);
}

static void *serve_request(void *context)
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
    if (failed && !r.dropped) {
        answer_error(&r, failed, &err);
    }
    close(r.fd);
    uncount_thread(r.executor);
    return NULL;
}

static void start_thread(struct cbx_executor *e, int fd)
{
    if (!count_thread(e)) {
        close(fd);
        return;
    }
    struct cbx_executor_request *r = malloc(sizeof(*r));
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 512 * 1024);
    if (r != NULL) {
        *r = (struct cbx_executor_request){ .executor = e, .fd = fd };
    }
    if (r == NULL || pthread_create(&thread, &attributes, serve_request, r) != 0) {
        free(r);
        uncount_thread(e);
        close(fd); /* the front sees a dead executor for this one request: nothing ran */
    }
    pthread_attr_destroy(&attributes);
}

/* Leases, sessions whose time is over, and containers that nobody knows. */
static void look_after(struct cbx_executor *e, int64_t now, int64_t *kept, int64_t *reaped)
{
    pthread_mutex_lock(&e->lock);
    struct cbx_pool *pool = e->pool;
    pthread_mutex_unlock(&e->lock);
    if (pool == NULL) {
        return;
    }
    cbx_sessions_expire(e->sessions, now, e->config.idle_ms);
    if (now - *kept >= lease_ms(e) / 4) {
        *kept = now;
        cbx_sessions_keep(e->sessions);
        cbx_pool_keep(pool);
        cbx_instance_touch(&e->instance);
    }
    if (now - *reaped >= lease_ms(e) / 2) {
        *reaped = now;
        size_t removed; /* one that is being made is in no table yet, so it must be old */
        cbx_sandbox_reap(e->engine, e->instance.name, lease_ms(e) / 1000, is_ours, e, &removed,
                         NULL);
        cbx_instance_reap(e->config.state_dir, e->engine);
    }
}

static void *housekeep(void *context)
{
    struct cbx_executor *e = context;
    int64_t period_ms = e->config.idle_ms < 4000 ? e->config.idle_ms / 4 + 10 : 1000;
    int64_t kept = 0, reaped = cbx_clock_ms();
    if (e->config.persistent) {
        struct cbx_pool *pool;
        struct cbx_err err;
        cbx_executor_pool(e, &pool, &err); /* sessions of before are waited for */
    }
    for (;;) {
        struct timespec period = { .tv_sec = period_ms / 1000,
                                   .tv_nsec = (period_ms % 1000) * 1000000 };
        nanosleep(&period, NULL);
        look_after(e, cbx_clock_ms(), &kept, &reaped);
    }
    return NULL;
}

/* Runs see that nobody listens to them, end, and write down what became of them; they get a moment
 * for it. */
static void await_runs(struct cbx_executor *e)
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

/* Sandboxes that nobody may come back to are removed; the others live on until their lease ends. */
static void end(struct cbx_executor *e)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    if (pthread_mutex_timedlock(&e->lock, &until) != 0) {
        _exit(0); /* somebody waits for an engine, or for the gateway before us: there is nothing
                     yet */
    }
    e->ending = true;
    struct cbx_pool *pool = e->pool;
    pthread_mutex_unlock(&e->lock);
    if (!e->config.persistent) {
        await_runs(e);
    }
    cbx_sessions_close_all(e->sessions, e->config.persistent);
    if (pool != NULL) {
        cbx_pool_stop(pool);
    }
    cbx_instance_done(&e->instance, !e->config.persistent);
    _exit(0); /* not freed: late requests may still look at the tables */
}

static int stop_pipe[2] = { -1, -1 };

static void on_stop(int number)
{
    (void)number;
    (void)!write(stop_pipe[1], "s", 1);
}

static bool read_secrets(int fd, struct cbx_executor_secrets *out)
{
    bool whole = read(fd, out, sizeof(*out)) == (ssize_t)sizeof(*out);
    close(fd);
    return whole;
}

_Noreturn void cbx_executor_main(int control, int secrets_fd,
                                 const struct cbx_executor_config *config)
{
    static struct cbx_executor e;
    e.config = *config;
    pthread_mutex_init(&e.lock, NULL);
    pthread_cond_init(&e.place_free, NULL);
    pthread_cond_init(&e.run_begun, NULL);
    cbx_jail_common();
    prctl(PR_SET_NAME, "cbx-executor");
    if (!read_secrets(secrets_fd, &e.secrets) || pipe2(stop_pipe, O_CLOEXEC) < 0) {
        _exit(1);
    }
    struct sigaction stop = { .sa_handler = on_stop };
    sigaction(SIGTERM, &stop, NULL);
    e.sessions = cbx_sessions_new(config->max_sessions, cbx_executor_discard, &e);
    pthread_t thread;
    if (pthread_create(&thread, NULL, housekeep, &e) != 0) {
        _exit(1);
    }
    for (;;) {
        struct pollfd fds[] = { { .fd = control, .events = POLLIN },
                                { .fd = stop_pipe[0], .events = POLLIN } };
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        int fd;
        char tag;
        struct cbx_err err;
        if ((fds[1].revents & POLLIN) != 0 ||
            (fds[0].revents != 0 && cbx_wire_receive_fd(control, &fd, &tag, &err) != 0)) {
            break;
        }
        if (fds[0].revents != 0 && fd >= 0) {
            start_thread(&e, fd);
        }
    }
    end(&e);
    _exit(0);
}
