/* SPDX-License-Identifier: MIT
 * The REST API without a network, an engine or a second process. Requests go to cbx_rest_handle
 * directly; the responses and streams below, which the test reads, replace http/http_server.c and
 * http/http_stream.c. Store, queue, jobs and the client of the executor are real. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_REST_RIG_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_REST_RIG_H

#include "gateway/front/jobs/jobs.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/recovery.h"
#include "gateway/identity/caller.h"
#include "tests/unit/gateway/front/rest/fake_executor.h"
#include "tests/unit/gateway/front/rest/fake_worker.h"

enum { EXCHANGES_MAX = 128, RIG_JOBS = 32 };

/* --- in the place of the HTTP server ---------------------------------------------------------- */

struct rig;
struct cbx_http_exchange {
    struct rig *rig;
    struct cbx_http_response response;
    struct cbx_buf stream_text; /* the streamed text so far */
    char *method, *path, *type, *accept;
    struct cbx_buf body;
    bool returned;    /* the handler */
    pthread_t thread; /* thread of the request */
};

static pthread_mutex_t http_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t http_changed;

void cbx_http_answer(struct cbx_http_exchange *exchange, const struct cbx_http_response *response)
{
    pthread_mutex_lock(&http_lock);
    exchange->response = *response;
    pthread_cond_broadcast(&http_changed);
    pthread_mutex_unlock(&http_lock);
}

struct cbx_http_stream {
    struct cbx_buf text;
    int owners;
    bool ended, gone;
};

struct cbx_http_stream *cbx_http_stream_new(void)
{
    struct cbx_http_stream *stream = take_memory(sizeof(*stream));
    cbx_buf_init(&stream->text, 16 * 1024 * 1024);
    stream->owners = 2;
    return stream;
}

int cbx_http_stream_add(struct cbx_http_stream *stream, struct cbx_str bytes)
{
    pthread_mutex_lock(&http_lock);
    int failed = stream->gone ? CBX_EIO : cbx_buf_add(&stream->text, bytes);
    pthread_cond_broadcast(&http_changed);
    pthread_mutex_unlock(&http_lock);
    return failed;
}

static inline void stream_leave(struct cbx_http_stream *stream)
{
    if (--stream->owners == 0) {
        cbx_buf_done(&stream->text);
        free(stream);
    }
}

void cbx_http_stream_end(struct cbx_http_stream *stream)
{
    pthread_mutex_lock(&http_lock);
    stream->ended = true;
    pthread_cond_broadcast(&http_changed);
    stream_leave(stream);
    pthread_mutex_unlock(&http_lock);
}

void cbx_http_stream_discard(struct cbx_http_stream *stream)
{
    pthread_mutex_lock(&http_lock);
    stream->gone = true;
    stream_leave(stream);
    pthread_mutex_unlock(&http_lock);
}

bool cbx_http_stream_is_gone(struct cbx_http_stream *stream)
{
    pthread_mutex_lock(&http_lock);
    bool gone = stream->gone;
    pthread_mutex_unlock(&http_lock);
    return gone;
}

/* Its clients stay until they have an answer. */
bool cbx_http_is_gone(const struct cbx_http_exchange *exchange)
{
    (void)exchange;
    return false;
}

/* --- the rig ---------------------------------------------------------------------------------- */

struct rig {
    struct scratch scratch;
    struct fake_worker worker;
    struct fake_executor executor;
    struct cbx_flow flow;
    struct cbx_store *store;
    struct cbx_store_limits store_limits; /* zero = the defaults */
    struct cbx_service service;
    bool running;
    struct cbx_http_exchange *exchanges[EXCHANGES_MAX];
    const struct cbx_caller *caller; /* caller of the requests; NULL = the local one */
    const char *key;                 /* Idempotency-Key of requests; NULL = none */
    int exchange_count, handlers_ended;
};

/* Starts like a gateway on the state directory. */
static inline void rig_open(struct rig *rig, int jobs)
{
    struct cbx_err err;
    if (cbx_store_open(rig->scratch.path, &rig->store_limits, &rig->store, &err) != 0) {
        fail_msg("%s", err.text);
    }
    cbx_service_init(&rig->service, &rig->flow, rig->store, jobs);
    rig->running = true;
}

/* Ends like a gateway after SIGTERM. */
static inline void rig_close(struct rig *rig)
{
    if (rig->running) {
        cbx_service_stop(&rig->service);
        for (; rig->handlers_ended < rig->exchange_count; rig->handlers_ended++) {
            pthread_join(rig->exchanges[rig->handlers_ended]->thread, NULL);
        }
        cbx_service_done(&rig->service);
        cbx_store_free(rig->store);
        rig->running = false;
    }
}

static inline int rig_setup(void **state)
{
    static const char *const names[] = { "default", "strict" };
    struct rig *rig = take_memory(sizeof(*rig));
    int workers[2], executor[2];
    struct cbx_err err;
    cbx_cond_init(&http_changed);
    scratch_make(&rig->scratch);
    if (cbx_policies_load(names, 2, CBX_MODES_ENFORCED, &rig->flow.policies, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(cbx_wire_pair(workers, NULL), 0);
    assert_int_equal(cbx_wire_pair(executor, NULL), 0);
    rig->flow.judge = cbx_judge_new(workers[0], FAKE_WORKERS, DEADLINE_MS);
    rig->flow.executor = executor[0];
    worker_start(&rig->worker, workers[1]);
    executor_start(&rig->executor, executor[1]);
    rig_open(rig, RIG_JOBS);
    *state = rig;
    return 0;
}

static inline int rig_teardown(void **state)
{
    struct rig *rig = *state;
    rig_close(rig);
    cbx_flow_done(&rig->flow);
    worker_join(&rig->worker);
    executor_join(&rig->executor);
    for (int i = 0; i < rig->exchange_count; i++) {
        struct cbx_http_exchange *e = rig->exchanges[i];
        free(e->method);
        free(e->path);
        free(e->type);
        free(e->accept);
        cbx_buf_done(&e->body);
        json_decref(e->response.json);
        free(e->response.bytes);
        free(e->response.attachment);
        if (e->response.stream != NULL) {
            cbx_http_stream_discard(e->response.stream);
        }
        cbx_buf_done(&e->stream_text);
        free(e);
    }
    scratch_remove(&rig->scratch);
    pthread_cond_destroy(&http_changed);
    free(rig);
    return 0;
}

#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

/* --- requests --------------------------------------------------------------------------------- */

struct sending {
    const char *method, *path, *type, *accept; /* the path may have a query */
    struct cbx_str body;
};

static inline void *handle_request(void *context)
{
    struct cbx_http_exchange *e = context;
    struct cbx_str target = cbx_str_of(e->path);
    size_t path_len = strcspn(e->path, "?");
    struct cbx_http_request request = { .caller = e->rig->caller != NULL ? e->rig->caller
                                                                         : cbx_caller_local(),
                                        .method = cbx_str_of(e->method),
                                        .path = cbx_str_sub(target, 0, path_len),
                                        .query = cbx_str_sub(target, path_len + 1, target.len),
                                        .body = cbx_buf_str(&e->body),
                                        .content_type = cbx_str_of(e->type),
                                        .accept = cbx_str_of(e->accept),
                                        .exchange = e,
                                        .id = "request-1" };
    if (e->rig->key != NULL) {
        request.idempotency_key = cbx_str_of(e->rig->key);
    }
    struct cbx_http_response response = { 0 };
    cbx_rest_handle(&e->rig->service, &request, &response);
    if (!response.answered) {
        cbx_http_answer(e, &response);
    }
    pthread_mutex_lock(&http_lock);
    e->returned = true;
    pthread_cond_broadcast(&http_changed);
    pthread_mutex_unlock(&http_lock);
    return NULL;
}

static inline int64_t jobs_begun(struct rig *rig)
{
    pthread_mutex_lock(&rig->service.lock);
    int64_t begun = rig->service.jobs_begun;
    pthread_mutex_unlock(&rig->service.lock);
    return begun;
}

static inline char *clone_text(const char *text)
{
    char *copy = strdup(text != NULL ? text : "");
    assert_non_null(copy);
    return copy;
}

/* Orders the earlier actions of both processes and of the test before the following ones: a request
 * and its reply go through sockets, and ThreadSanitizer does not detect that they order memory
 * accesses. */
static inline void see_processes(struct rig *rig)
{
    pthread_mutex_lock(&rig->worker.lock);
    pthread_mutex_unlock(&rig->worker.lock);
    pthread_mutex_lock(&rig->executor.lock);
    pthread_mutex_unlock(&rig->executor.lock);
}

/* The worker's last request. */
static inline struct fake_worker *worker_seen(struct rig *rig)
{
    see_processes(rig);
    return &rig->worker;
}

/* How often it was asked. */
static inline int worker_judged(struct rig *rig)
{
    pthread_mutex_lock(&rig->worker.lock);
    int judged = rig->worker.judged;
    pthread_mutex_unlock(&rig->worker.lock);
    return judged;
}

/* Sends a request; a thread serves it. */
static inline struct cbx_http_exchange *rig_start(struct rig *rig, const struct sending *s)
{
    assert_true(rig->exchange_count < EXCHANGES_MAX);
    see_processes(rig);
    struct cbx_http_exchange *e = take_memory(sizeof(*e));
    rig->exchanges[rig->exchange_count++] = e;
    cbx_buf_init(&e->stream_text, 16 * 1024 * 1024);
    cbx_buf_init(&e->body, 64 * 1024 * 1024);
    cbx_buf_add(&e->body, s->body);
    e->rig = rig;
    e->method = clone_text(s->method);
    e->path = clone_text(s->path);
    e->type = clone_text(s->type);
    e->accept = clone_text(s->accept);
    assert_int_equal(pthread_create(&e->thread, NULL, handle_request, e), 0);
    return e;
}

/* Sends a request and waits until its handler has returned, or has accepted an execution and waits
 * for it: then the answer comes later (await_answer). */
static inline struct cbx_http_exchange *rig_send(struct rig *rig, const struct sending *s)
{
    int64_t begun = jobs_begun(rig);
    struct cbx_http_exchange *e = rig_start(rig, s);
    bool returned = false;
    while (!returned && jobs_begun(rig) == begun) {
        enum { STEP_MS = 1 };
        pthread_mutex_lock(&http_lock);
        if (!e->returned) {
            cbx_cond_wait_ms(&http_changed, &http_lock, STEP_MS);
        }
        returned = e->returned;
        pthread_mutex_unlock(&http_lock);
    }
    see_processes(rig);
    return e;
}

/* Does the same with JSON, in which ' stands for ". */
static inline struct cbx_http_exchange *rig_json(struct rig *rig, const char *method,
                                                 const char *path, const char *json)
{
    CBX_AUTO_DONE(buf) body;
    cbx_buf_init(&body, 1024 * 1024);
    for (const char *c = json; *c != '\0'; c++) {
        cbx_buf_add_char(&body, *c == '\'' ? '"' : *c);
    }
    struct sending s = {
        .method = method, .path = path, .type = "application/json", .body = cbx_buf_str(&body)
    };
    return rig_send(rig, &s);
}

static inline struct cbx_http_exchange *rig_get(struct rig *rig, const char *path)
{
    struct sending s = { .method = "GET", .path = path };
    return rig_send(rig, &s);
}

/* Waits for the answer and asserts its status; the JSON is borrowed, NULL when there is none. */
static inline const json_t *await_answer(struct cbx_http_exchange *e, int status)
{
    bool in_time = true;
    pthread_mutex_lock(&http_lock);
    while (e->response.status == 0 && in_time) {
        in_time = cbx_cond_wait_ms(&http_changed, &http_lock, DEADLINE_MS);
    }
    pthread_mutex_unlock(&http_lock);
    see_processes(e->rig);
    if (e->response.status != status) {
        CBX_AUTO_MEM char *text =
            e->response.json != NULL ? json_dumps(e->response.json, JSON_COMPACT) : NULL;
        fail_msg("answered %d, not %d: %s", e->response.status, status, text != NULL ? text : "");
    }
    return e->response.json;
}

static inline bool is_answered(struct cbx_http_exchange *e)
{
    pthread_mutex_lock(&http_lock);
    bool answered = e->response.status != 0;
    pthread_mutex_unlock(&http_lock);
    return answered;
}

/* Waits until `needle` was streamed, or, for NULL, until the stream has ended; then stream_text
 * holds all that was. */
static inline void await_stream(struct cbx_http_exchange *e, const char *needle)
{
    bool in_time = true, found = false;
    pthread_mutex_lock(&http_lock);
    while (e->response.status == 0 && in_time) { /* its handler has started the run already */
        in_time = cbx_cond_wait_ms(&http_changed, &http_lock, DEADLINE_MS);
    }
    struct cbx_http_stream *stream = e->response.stream;
    while (stream != NULL && !found && in_time) {
        found = needle != NULL ? source_has(cbx_buf_str(&stream->text), needle) : stream->ended;
        in_time = found || cbx_cond_wait_ms(&http_changed, &http_lock, DEADLINE_MS);
    }
    cbx_buf_reset(&e->stream_text);
    if (stream != NULL) {
        cbx_buf_add(&e->stream_text, cbx_buf_str(&stream->text));
    }
    pthread_mutex_unlock(&http_lock);
    assert_true(found);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static inline const char *text_at(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text != NULL ? text : "";
}

static inline void assert_contains(const char *text, const char *needle)
{
    if (strstr(text, needle) == NULL) {
        fail_msg("'%s' is not in '%s'", needle, text);
    }
}

/* `json` equals the JSON text, in which ' stands for ". */
static inline void assert_json(const json_t *json, const char *expected)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    for (const char *c = expected; *c != '\0'; c++) {
        cbx_buf_add_char(&text, *c == '\'' ? '"' : *c);
    }
    CBX_AUTO_JSON value = json_loads(text.p, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    if (!json_equal(json, value)) {
        CBX_AUTO_MEM char *found = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
        fail_msg("found %s, not %s", found != NULL ? found : "nothing", text.p);
    }
}

/* Asserts a problem document of this status, whose detail contains `needle`. */
static inline const json_t *assert_problem(struct cbx_http_exchange *e, int status,
                                           const char *needle)
{
    const json_t *json = await_answer(e, status);
    assert_string_equal(e->response.type, "application/problem+json");
    assert_contains(text_at(json, "detail"), needle);
    return json;
}

/* --- often ------------------------------------------------------------------------------------ */

/* Opens a session with this body ("{}" = defaults); its id goes to `id`. */
static inline void open_session(struct rig *rig, const char *body, char id[37])
{
    const json_t *json = await_answer(rig_json(rig, "POST", "/v1/sessions", body), 201);
    snprintf(id, 37, "%s", text_at(json, "session_id"));
    assert_int_equal(strlen(id), 36);
}

/* Posts `code`, in which no quote is, to a session; its answer comes when it is over. */
static inline struct cbx_http_exchange *post_code(struct rig *rig, const char *session,
                                                  const char *code)
{
    char body[512];
    snprintf(body, sizeof(body), "{'code':'%s'%s%s%s}", code,
             session[0] != '\0' ? ",'session_id':'" : "", session, session[0] != '\0' ? "'" : "");
    return rig_json(rig, "POST", "/v1/executions", body);
}

/* Does the same, with an immediate response; the execution's id goes to `id`. */
static inline void post_async(struct rig *rig, const char *session, const char *code, char id[37])
{
    char body[512];
    snprintf(body, sizeof(body), "{'async':true,'code':'%s'%s%s%s}", code,
             session[0] != '\0' ? ",'session_id':'" : "", session, session[0] != '\0' ? "'" : "");
    const json_t *json = await_answer(rig_json(rig, "POST", "/v1/executions", body), 202);
    const char *status = text_at(json, "status");
    assert_true(strcmp(status, "queued") == 0 || strcmp(status, "running") == 0);
    snprintf(id, 37, "%s", text_at(json, "execution_id"));
    assert_int_equal(strlen(id), 36);
}

/* GET /v1/executions/ID, which must be there. */
static inline const json_t *get_execution(struct rig *rig, const char *id)
{
    char path[160];
    snprintf(path, sizeof(path), "/v1/executions/%s", id);
    return await_answer(rig_get(rig, path), 200);
}

/* Waits until the execution has this status, and, unless it is negative, so many before it. */
static inline void await_execution(struct rig *rig, const char *id, const char *status, int ahead)
{
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    for (bool is = false; !is; poll(NULL, 0, 1)) {
        CBX_AUTO_JSON row = NULL;
        assert_int_equal(cbx_store_get_execution(rig->store, NULL, id, &row, NULL), 0);
        cbx_live_describe(&rig->service, id, row);
        json_int_t found = json_integer_value(json_object_get(row, "ahead"));
        is = strcmp(text_at(row, "status"), status) == 0 && (ahead < 0 || found == ahead);
        if (!is && cbx_clock_ms() >= end) {
            fail_msg("%s, %d before it", text_at(row, "status"), (int)found);
        }
    }
}

static inline void await_status(struct rig *rig, const char *id, const char *status)
{
    await_execution(rig, id, status, -1);
}

static inline void await_ahead(struct rig *rig, const char *id, int ahead)
{
    await_execution(rig, id, "queued", ahead);
}

#endif
