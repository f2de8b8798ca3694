/* SPDX-License-Identifier: MIT
 * Sessions of the handshake era. */
#include "gateway/front/mcp/mcp_sessions.h"

#include "policies/base/auto.h"
#include "policies/base/list.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <stdlib.h>

enum { QUESTION_MAX_BYTES = 1024 * 1024, CAPABILITIES_MAX_BYTES = 16 * 1024, TICK_MS = 1000 };

struct session {
    char id[CBX_MCP_SESSION_ID + 1]; /* empty = free */
    char principal[CBX_NAME_MAX + 1];
    json_t *capabilities;
    struct cbx_claims claims;
    int level;
    int64_t used_ms; /* the time of its last use */
};

/* A waiting request of the server; on the stack of its thread. */
struct question {
    struct question *next;
    const struct session *session;
    json_int_t id;
    json_t *response; /* owned */
    bool ended;       /* true after its session ended */
};

struct cbx_mcp_sessions {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct session items[CBX_MCP_SESSIONS_MAX];
    json_int_t questions; /* number so far */
    int waiting_count;
    struct question *waiting;
    struct cbx_mcp_call *calls;
    bool stopped;
};

struct cbx_mcp_sessions *cbx_mcp_sessions_new(void)
{
    struct cbx_mcp_sessions *s = cbx_new(sizeof(*s));
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

static void end(struct cbx_mcp_sessions *s, struct session *session)
{
    for (struct question *q = s->waiting; q != NULL; q = q->next) {
        q->ended |= q->session == session;
    }
    for (struct cbx_mcp_call *call = s->calls; call != NULL; call = call->next) {
        call->session = call->session == session ? NULL : call->session;
    }
    json_decref(session->capabilities);
    *session = (struct session){ 0 };
    pthread_cond_broadcast(&s->changed);
}

static struct session *find(struct cbx_mcp_sessions *s, struct cbx_str id)
{
    for (size_t i = 0; i < CBX_MCP_SESSIONS_MAX && id.len > 0; i++) {
        struct session *session = &s->items[i];
        if (cbx_str_is(id, session->id)) {
            bool idle = session->used_ms + INT64_C(1000) * CBX_MCP_SESSION_IDLE_S < cbx_clock_ms();
            if (idle) {
                end(s, session);
            }
            return idle ? NULL : session;
        }
    }
    return NULL;
}

static struct session *find_of(struct cbx_mcp_sessions *s, struct cbx_str principal,
                               struct cbx_str id)
{
    struct session *session = find(s, id);
    return session != NULL && cbx_str_is(principal, session->principal) ? session : NULL;
}

static int count_of(const struct cbx_mcp_sessions *s, const char *principal)
{
    int count = 0;
    for (size_t i = 0; i < CBX_MCP_SESSIONS_MAX; i++) {
        count += s->items[i].id[0] != '\0' && strcmp(s->items[i].principal, principal) == 0;
    }
    return count;
}

static struct session *find_free(struct cbx_mcp_sessions *s)
{
    for (size_t i = 0; i < CBX_MCP_SESSIONS_MAX; i++) {
        if (s->items[i].id[0] == '\0') {
            return &s->items[i];
        }
    }
    return NULL;
}

/* Selects, of the principal with most sessions, the least recently used one. So a principal that
 * opens many loses its own. Only a full table has this quadratic search. */
static struct session *choose_to_end(struct cbx_mcp_sessions *s)
{
    struct session *chosen = NULL;
    int most = 0;
    for (size_t i = 0; i < CBX_MCP_SESSIONS_MAX; i++) {
        struct session *session = &s->items[i];
        bool is_same = chosen != NULL && strcmp(session->principal, chosen->principal) == 0;
        int count = is_same ? most : count_of(s, session->principal);
        if (count > most || (count == most && session->used_ms < chosen->used_ms)) {
            chosen = session;
            most = count;
        }
    }
    return chosen;
}

static struct session *make_room(struct cbx_mcp_sessions *s)
{
    struct session *room = find_free(s);
    if (room == NULL) {
        room = choose_to_end(s);
        end(s, room);
    }
    return room;
}

static void enqueue(struct cbx_mcp_sessions *s, const struct session *session, struct question *q)
{
    *q = (struct question){ .next = s->waiting, .session = session, .id = ++s->questions };
    s->waiting = q;
    s->waiting_count++;
}

static void dequeue(struct cbx_mcp_sessions *s, const struct question *q)
{
    CBX_LIST_REMOVE(s->waiting, q, next);
    s->waiting_count--;
}

/* --- sessions --------------------------------------------------------------------------------- */

void cbx_mcp_sessions_stop(struct cbx_mcp_sessions *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    for (size_t i = 0; i < CBX_MCP_SESSIONS_MAX; i++) {
        end(s, &s->items[i]);
    }
    pthread_mutex_unlock(&s->lock);
}

static json_t *copy_capabilities(const json_t *params)
{
    const json_t *capabilities = json_object_get(params, "capabilities");
    bool fits = json_dumpb(capabilities, NULL, 0, JSON_COMPACT) <= CAPABILITIES_MAX_BYTES;
    return fits ? json_deep_copy(capabilities) : NULL;
}

bool cbx_mcp_session_open(struct cbx_mcp_sessions *s, struct cbx_str principal,
                          const json_t *params, char id[CBX_MCP_SESSION_ID + 1])
{
    struct cbx_sha256 random;
    cbx_random(random.bytes, sizeof(random.bytes));
    cbx_sha256_hex(&random, id);
    cbx_tag_mark(id);
    pthread_mutex_lock(&s->lock);
    bool opens = !s->stopped;
    if (opens) {
        struct session *session = make_room(s);
        memcpy(session->id, id, sizeof(session->id));
        snprintf(session->principal, sizeof(session->principal), "%.*s", CBX_STR_ARG(principal));
        session->capabilities = copy_capabilities(params);
        cbx_claims_read_client(json_object_get(params, "clientInfo"), &session->claims);
        session->used_ms = cbx_clock_ms();
    }
    pthread_mutex_unlock(&s->lock);
    return opens;
}

bool cbx_mcp_session_use(struct cbx_mcp_sessions *s, struct cbx_str principal, struct cbx_str id)
{
    pthread_mutex_lock(&s->lock);
    struct session *session = find_of(s, principal, id);
    if (session != NULL) {
        session->used_ms = cbx_clock_ms();
    }
    pthread_mutex_unlock(&s->lock);
    return session != NULL;
}

bool cbx_mcp_session_close(struct cbx_mcp_sessions *s, struct cbx_str principal, struct cbx_str id)
{
    pthread_mutex_lock(&s->lock);
    struct session *session = find_of(s, principal, id);
    for (struct cbx_mcp_call *call = s->calls; call != NULL && session != NULL; call = call->next) {
        if (call->session == session) {
            atomic_store(&call->cancelled, true);
        }
    }
    if (session != NULL) {
        end(s, session);
    }
    pthread_mutex_unlock(&s->lock);
    return session != NULL;
}

json_t *cbx_mcp_session_capabilities(struct cbx_mcp_sessions *s, struct cbx_str id)
{
    pthread_mutex_lock(&s->lock);
    const struct session *session = find(s, id);
    json_t *copy = session != NULL ? json_deep_copy(session->capabilities) : NULL;
    pthread_mutex_unlock(&s->lock);
    return copy;
}

void cbx_mcp_session_claims(struct cbx_mcp_sessions *s, struct cbx_str id,
                            struct cbx_claims *claims)
{
    pthread_mutex_lock(&s->lock);
    const struct session *session = find(s, id);
    if (session != NULL) {
        memcpy(claims->claimed_client, session->claims.claimed_client,
               sizeof(claims->claimed_client));
        memcpy(claims->claimed_client_version, session->claims.claimed_client_version,
               sizeof(claims->claimed_client_version));
    }
    pthread_mutex_unlock(&s->lock);
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

/* --- calls ------------------------------------------------------------------------------------ */

void cbx_mcp_session_begin_call(struct cbx_mcp_sessions *s, struct cbx_str id,
                                const json_t *request, struct cbx_mcp_call *call)
{
    pthread_mutex_lock(&s->lock);
    *call = (struct cbx_mcp_call){ .next = s->calls, .session = find(s, id), .id = request };
    s->calls = call;
    pthread_mutex_unlock(&s->lock);
}

void cbx_mcp_session_end_call(struct cbx_mcp_sessions *s, const struct cbx_mcp_call *call)
{
    pthread_mutex_lock(&s->lock);
    CBX_LIST_REMOVE(s->calls, call, next);
    pthread_mutex_unlock(&s->lock);
}

void cbx_mcp_session_cancel(struct cbx_mcp_sessions *s, struct cbx_str id, const json_t *request)
{
    pthread_mutex_lock(&s->lock);
    const struct session *session = find(s, id);
    for (struct cbx_mcp_call *call = s->calls; call != NULL && session != NULL; call = call->next) {
        if (call->session == session && json_equal(call->id, request)) {
            atomic_store(&call->cancelled, true);
        }
    }
    pthread_mutex_unlock(&s->lock);
}

/* --- requests to the client ------------------------------------------------------------------- */

static void write_question(const json_t *question, json_int_t id, struct cbx_buf *line)
{
    CBX_AUTO_JSON request = json_pack("{s:s,s:I}", "jsonrpc", "2.0", "id", id);
    json_object_update(request, (json_t *)question);
    cbx_json_write_as_is(line, request);
    cbx_buf_add_char(line, '\n');
}

/* Waits for at most a tick; false if the wait is over. */
static bool await_tick(struct cbx_mcp_sessions *s, const struct question *q, int64_t deadline)
{
    int64_t now = cbx_clock_ms(), until = now + TICK_MS < deadline ? now + TICK_MS : deadline;
    pthread_mutex_lock(&s->lock);
    bool waits = q->response == NULL && !q->ended;
    while (waits && cbx_cond_wait_until(&s->changed, &s->lock, until)) {
        waits = q->response == NULL && !q->ended;
    }
    waits = q->response == NULL && !q->ended;
    pthread_mutex_unlock(&s->lock);
    return waits && until < deadline;
}

/* Takes the question from the list; the caller owns its response. */
static void await(struct cbx_mcp_sessions *s, struct question *q, const struct cbx_mcp_asker *asker)
{
    int64_t deadline = cbx_clock_ms() + asker->wait_ms;
    bool goes_on = true;
    while (goes_on && await_tick(s, q, deadline)) {
        goes_on = asker->goes_on == NULL || asker->goes_on(asker->context);
    }
    pthread_mutex_lock(&s->lock);
    q->ended |= !goes_on;
    dequeue(s, q);
    pthread_mutex_unlock(&s->lock);
}

/* Returns 0 if the question waits. */
static int begin_question(struct cbx_mcp_sessions *s, struct cbx_str id, struct question *q,
                          struct cbx_err *err)
{
    pthread_mutex_lock(&s->lock);
    const struct session *session = find(s, id);
    bool busy = s->waiting_count >= CBX_MCP_QUESTIONS_MAX;
    if (session != NULL && !busy) {
        enqueue(s, session, q);
    }
    pthread_mutex_unlock(&s->lock);
    if (session == NULL) {
        return cbx_fail(err, CBX_EIO, "the client opened no session, so it cannot be asked");
    }
    if (busy) {
        return cbx_fail(err, CBX_EBUSY, "%d questions wait for an answer already",
                        CBX_MCP_QUESTIONS_MAX);
    }
    return 0;
}

int cbx_mcp_session_ask(struct cbx_mcp_sessions *s, struct cbx_str id, const json_t *question,
                        const struct cbx_mcp_asker *asker, json_t **result, struct cbx_err *err)
{
    struct question q;
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, QUESTION_MAX_BYTES);
    int failed = begin_question(s, id, &q, err);
    if (failed) {
        return failed;
    }
    write_question(question, q.id, &line);
    asker->send(asker->context, cbx_buf_str(&line));
    await(s, &q, asker);
    CBX_AUTO_JSON response = q.response;
    json_t *answer = q.ended ? NULL : json_object_get(response, "result");
    if (response == NULL && !q.ended) {
        return cbx_fail(err, CBX_ETIMEDOUT, "no answer came within %d s", asker->wait_ms / 1000);
    }
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
