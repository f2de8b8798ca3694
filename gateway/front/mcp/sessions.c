/* SPDX-License-Identifier: MIT
 * Sessions of the handshake era. */
#include "gateway/front/mcp/sessions.h"

#include "policies/base/auto.h"
#include "policies/base/clock.h"
#include "policies/base/deadline.h"

#include <stdlib.h>

enum { SESSIONS_MAX = 64, QUESTION_MS = 30000, QUESTION_MAX_BYTES = 1024 * 1024 };

struct session {
    char id[CBX_MCP_SESSION_ID + 1]; /* empty = free */
    json_t *capabilities;
    int level;
};

/* A request of the server that waits for its answer; on the stack of its thread. */
struct question {
    struct question *next;
    const struct session *session;
    json_int_t id;
    json_t *response; /* owned */
    bool ended;       /* with its session */
};

struct cbx_mcp_sessions {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct session items[SESSIONS_MAX];
    size_t next; /* the place of the next session: the oldest */
    json_int_t questions;
    struct question *waiting;
    bool stopped;
};

struct cbx_mcp_sessions *cbx_mcp_sessions_new(void)
{
    struct cbx_mcp_sessions *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        abort();
    }
    pthread_mutex_init(&s->lock, NULL);
    cbx_cond_init(&s->changed);
    return s;
}

void cbx_mcp_sessions_free(struct cbx_mcp_sessions *s)
{
    if (s == NULL) {
        return;
    }
    cbx_mcp_sessions_stop(s);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* --- under the lock --------------------------------------------------------------------------- */

static struct session *find(struct cbx_mcp_sessions *s, struct cbx_str id)
{
    for (size_t i = 0; i < SESSIONS_MAX && id.len > 0; i++) {
        if (cbx_str_is(id, s->items[i].id)) {
            return &s->items[i];
        }
    }
    return NULL;
}

static void end(struct cbx_mcp_sessions *s, struct session *session)
{
    for (struct question *q = s->waiting; q != NULL; q = q->next) {
        q->ended |= q->session == session;
    }
    json_decref(session->capabilities);
    *session = (struct session){ 0 };
    pthread_cond_broadcast(&s->changed);
}

static void enqueue(struct cbx_mcp_sessions *s, const struct session *session, struct question *q)
{
    *q = (struct question){ .next = s->waiting, .session = session, .id = ++s->questions };
    s->waiting = q;
}

static void dequeue(struct cbx_mcp_sessions *s, const struct question *q)
{
    struct question **at = &s->waiting;
    while (*at != q) {
        at = &(*at)->next;
    }
    *at = q->next;
}

/* --- sessions --------------------------------------------------------------------------------- */

void cbx_mcp_sessions_stop(struct cbx_mcp_sessions *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        end(s, &s->items[i]);
    }
    pthread_mutex_unlock(&s->lock);
}

bool cbx_mcp_session_open(struct cbx_mcp_sessions *s, const json_t *capabilities,
                          char id[CBX_MCP_SESSION_ID + 1])
{
    struct cbx_sha256 random;
    cbx_random(random.bytes, sizeof(random.bytes));
    cbx_sha256_hex(&random, id);
    pthread_mutex_lock(&s->lock);
    bool opens = !s->stopped;
    if (opens) {
        struct session *session = &s->items[s->next++ % SESSIONS_MAX];
        end(s, session);
        memcpy(session->id, id, sizeof(session->id));
        session->capabilities = json_deep_copy(capabilities);
    }
    pthread_mutex_unlock(&s->lock);
    return opens;
}

bool cbx_mcp_session_close(struct cbx_mcp_sessions *s, struct cbx_str id)
{
    pthread_mutex_lock(&s->lock);
    struct session *session = find(s, id);
    if (session != NULL) {
        end(s, session);
    }
    pthread_mutex_unlock(&s->lock);
    return session != NULL;
}

bool cbx_mcp_session_exists(struct cbx_mcp_sessions *s, struct cbx_str id)
{
    pthread_mutex_lock(&s->lock);
    bool exists = find(s, id) != NULL;
    pthread_mutex_unlock(&s->lock);
    return exists;
}

json_t *cbx_mcp_session_capabilities(struct cbx_mcp_sessions *s, struct cbx_str id)
{
    pthread_mutex_lock(&s->lock);
    const struct session *session = find(s, id);
    json_t *copy = session != NULL ? json_deep_copy(session->capabilities) : NULL;
    pthread_mutex_unlock(&s->lock);
    return copy;
}

void cbx_mcp_session_set_level(struct cbx_mcp_sessions *s, struct cbx_str id, int rank)
{
    pthread_mutex_lock(&s->lock);
    struct session *session = find(s, id);
    if (session != NULL) {
        session->level = rank;
    }
    pthread_mutex_unlock(&s->lock);
}

int cbx_mcp_session_level(struct cbx_mcp_sessions *s, struct cbx_str id)
{
    pthread_mutex_lock(&s->lock);
    const struct session *session = find(s, id);
    int level = session != NULL ? session->level : 0;
    pthread_mutex_unlock(&s->lock);
    return level;
}

/* --- questions -------------------------------------------------------------------------------- */

static void write_question(const json_t *question, json_int_t id, struct cbx_buf *line)
{
    CBX_AUTO_JSON request = json_pack("{s:s,s:I}", "jsonrpc", "2.0", "id", id);
    json_object_update(request, (json_t *)question);
    cbx_json_write_as_is(line, request);
    cbx_buf_add_char(line, '\n');
}

/* Takes the question from the list; its response is the caller's. */
static void await(struct cbx_mcp_sessions *s, struct question *q)
{
    int64_t deadline = cbx_clock_ms() + QUESTION_MS;
    pthread_mutex_lock(&s->lock);
    while (q->response == NULL && !q->ended &&
           cbx_cond_wait_until(&s->changed, &s->lock, deadline)) {
    }
    dequeue(s, q);
    pthread_mutex_unlock(&s->lock);
}

int cbx_mcp_session_ask(struct cbx_mcp_sessions *s, struct cbx_str id, const json_t *question,
                        void (*send)(void *context, struct cbx_str line), void *context,
                        json_t **result, struct cbx_err *err)
{
    struct question q;
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, QUESTION_MAX_BYTES);
    pthread_mutex_lock(&s->lock);
    const struct session *session = find(s, id);
    if (session != NULL) {
        enqueue(s, session, &q);
    }
    pthread_mutex_unlock(&s->lock);
    if (session == NULL) {
        return cbx_fail(err, CBX_EIO, "the client opened no session, so it cannot be asked");
    }
    write_question(question, q.id, &line);
    send(context, cbx_buf_str(&line));
    await(s, &q);
    CBX_AUTO_JSON response = q.response;
    json_t *answer = json_object_get(response, "result");
    if (answer == NULL) {
        return cbx_fail(err, CBX_EIO, "the client did not answer '%s'",
                        json_string_value(json_object_get(question, "method")));
    }
    *result = json_incref(answer);
    return 0;
}

void cbx_mcp_session_answer(struct cbx_mcp_sessions *s, struct cbx_str id, const json_t *response)
{
    const json_t *number = json_object_get(response, "id");
    pthread_mutex_lock(&s->lock);
    const struct session *session = find(s, id);
    for (struct question *q = s->waiting; q != NULL && json_is_integer(number); q = q->next) {
        if (q->session == session && q->id == json_integer_value(number) && q->response == NULL &&
            !q->ended) {
            q->response = json_deep_copy(response);
            pthread_cond_broadcast(&s->changed);
        }
    }
    pthread_mutex_unlock(&s->lock);
}
