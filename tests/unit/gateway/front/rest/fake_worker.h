/* SPDX-License-Identifier: MIT
 * An analyzer worker of a front, as a thread of the test: it judges by marks in the source. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_REST_FAKE_WORKER_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_REST_FAKE_WORKER_H

#include "analyzer/past/past.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "tests/unit/gateway/front/rest/processes.h"
#include "tests/unit/gateway/scratch.h"

#include <poll.h>
#include <pthread.h>

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
    struct cbx_buf past, source; /* past and source of the last request */
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

#endif
