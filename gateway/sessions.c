/* SPDX-License-Identifier: MIT
 * The executor's table of open sessions. One lock for the table; `busy` marks a session that a run
 * is in, and only that run's thread touches its sandbox, except to interrupt it. */
#include "gateway/sessions.h"

#include "gateway/wire.h"

#include <pthread.h>
#include <stdlib.h>

struct cbx_session {
    char id[CBX_NAME_MAX + 1]; /* empty = free place */
    char principal[CBX_NAME_MAX + 1];
    struct cbx_sandbox *sandbox;
    bool busy, closing;
    int64_t last_used_ms;
};

struct cbx_sessions {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int max;
    bool ending;
    int removing; /* sandboxes that have left the table and are not gone yet */
    struct cbx_session *items;
};

struct cbx_sessions *cbx_sessions_new(int max_sessions)
{
    struct cbx_sessions *sessions = calloc(1, sizeof(*sessions));
    if (sessions == NULL ||
        (sessions->items = calloc((size_t)max_sessions, sizeof(struct cbx_session))) == NULL) {
        abort();
    }
    sessions->max = max_sessions;
    pthread_mutex_init(&sessions->lock, NULL);
    pthread_cond_init(&sessions->changed, NULL);
    return sessions;
}

static struct cbx_session *find(struct cbx_sessions *sessions, const char *id)
{
    for (int i = 0; id[0] != '\0' && i < sessions->max; i++) {
        if (strcmp(sessions->items[i].id, id) == 0) {
            return &sessions->items[i];
        }
    }
    return NULL;
}

int cbx_sessions_reserve(struct cbx_sessions *sessions, const struct cbx_permit *permit,
                         struct cbx_err *err)
{
    int failed = 0;
    pthread_mutex_lock(&sessions->lock);
    if (sessions->ending) {
        failed = cbx_fail(err, CBX_ESTATE, "the gateway is ending");
    } else if (permit->session[0] == '\0' || find(sessions, permit->session) != NULL) {
        failed = cbx_fail(err, CBX_ESTATE, "session '%s' exists already", permit->session);
    }
    struct cbx_session *place = NULL;
    for (int i = 0; !failed && place == NULL && i < sessions->max; i++) {
        place = sessions->items[i].id[0] == '\0' ? &sessions->items[i] : NULL;
    }
    if (!failed && place == NULL) {
        failed = cbx_fail(err, CBX_EBUSY, "%d sessions are open, allowed are %d; close one",
                          sessions->max, sessions->max);
    }
    if (!failed) {
        *place = (struct cbx_session){ .busy = true, .last_used_ms = cbx_clock_ms() };
        snprintf(place->id, sizeof(place->id), "%s", permit->session);
        snprintf(place->principal, sizeof(place->principal), "%s", permit->principal);
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

void cbx_sessions_fill(struct cbx_sessions *sessions, const char *id, struct cbx_sandbox *sandbox)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = find(sessions, id);
    if (session != NULL) {
        session->sandbox = sandbox;
        session->busy = false;
        session->last_used_ms =
            cbx_clock_ms(); /* making it may have taken longer than a session may be idle */
    }
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->lock);
}

int cbx_sessions_enter(struct cbx_sessions *sessions, const struct cbx_permit *permit,
                       struct cbx_session **out, struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session;
    while ((session = find(sessions, permit->session)) != NULL && !session->closing &&
           session->busy) {
        pthread_cond_wait(&sessions->changed, &sessions->lock);
    }
    int failed = 0;
    if (session == NULL || session->closing) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", permit->session);
    } else if (strcmp(session->principal, permit->principal) != 0) {
        failed =
            cbx_fail(err, CBX_ESTATE, "session '%s' belongs to another principal", permit->session);
    } else {
        session->busy = true;
        *out = session;
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

void cbx_sessions_leave(struct cbx_sessions *sessions, struct cbx_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    session->busy = false;
    session->last_used_ms = cbx_clock_ms();
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->lock);
}

struct cbx_sandbox *cbx_session_sandbox(struct cbx_session *session)
{
    return session->sandbox;
}

void cbx_sessions_replace(struct cbx_sessions *sessions, struct cbx_session *session,
                          struct cbx_sandbox *sandbox)
{
    pthread_mutex_lock(&sessions->lock); /* another thread may be interrupting the old one */
    struct cbx_sandbox *old = session->sandbox;
    session->sandbox = sandbox;
    pthread_mutex_unlock(&sessions->lock);
    cbx_sandbox_free(old);
}

/* With the lock held: ends what runs, waits for it, and takes the sandbox out. The place stays
 * reserved by `closing` until the caller clears it. */
static struct cbx_sandbox *drain(struct cbx_sessions *sessions, struct cbx_session *session)
{
    session->closing = true;
    while (session->busy) {
        if (session->sandbox != NULL) {
            cbx_sandbox_interrupt(session->sandbox);
        }
        pthread_cond_wait(&sessions->changed, &sessions->lock);
    }
    return cbx_steal(&session->sandbox);
}

/* With the lock held, which is given up meanwhile: the session ends and its sandbox is removed. */
static void close_one(struct cbx_sessions *sessions, struct cbx_session *session)
{
    struct cbx_sandbox *sandbox = drain(sessions, session);
    *session = (struct cbx_session){ 0 };
    sessions->removing++;
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->lock);
    cbx_sandbox_free(sandbox); /* outside the lock: it talks to the engine */
    pthread_mutex_lock(&sessions->lock);
    sessions->removing--;
    pthread_cond_broadcast(&sessions->changed);
}

int cbx_sessions_close(struct cbx_sessions *sessions, const char *id, struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = find(sessions, id);
    int failed = session == NULL || session->closing
                     ? cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", id)
                     : 0;
    if (!failed) {
        close_one(sessions, session);
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

void cbx_sessions_close_all(struct cbx_sessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    sessions->ending = true;
    for (int i = 0; i < sessions->max; i++) {
        struct cbx_session *session = &sessions->items[i];
        if (session->id[0] != '\0' && !session->closing) {
            close_one(sessions, session);
        }
        while (session->id[0] != '\0') {
            pthread_cond_wait(&sessions->changed, &sessions->lock);
        }
    }
    while (sessions->removing > 0) {
        pthread_cond_wait(&sessions->changed, &sessions->lock);
    }
    pthread_mutex_unlock(&sessions->lock);
}

int cbx_sessions_interrupt(struct cbx_sessions *sessions, const char *id, struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = find(sessions, id);
    int failed = session == NULL ? cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", id) : 0;
    if (!failed && session->busy && session->sandbox != NULL) {
        cbx_sandbox_interrupt(session->sandbox);
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

int cbx_sessions_expire(struct cbx_sessions *sessions, int64_t now_ms, int64_t idle_ms)
{
    int closed = 0;
    for (int i = 0; i < sessions->max; i++) {
        char id[CBX_NAME_MAX + 1] = "";
        pthread_mutex_lock(&sessions->lock);
        struct cbx_session *s = &sessions->items[i];
        if (s->id[0] != '\0' && !s->busy && !s->closing && s->last_used_ms + idle_ms <= now_ms) {
            memcpy(id, s->id, sizeof(id));
        }
        pthread_mutex_unlock(&sessions->lock);
        closed += id[0] != '\0' && cbx_sessions_close(sessions, id, NULL) == 0;
    }
    return closed;
}

int cbx_sessions_count(struct cbx_sessions *sessions)
{
    int count = 0;
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->max; i++) {
        count += sessions->items[i].id[0] != '\0';
    }
    pthread_mutex_unlock(&sessions->lock);
    return count;
}

void cbx_sessions_free(struct cbx_sessions *sessions)
{
    if (sessions == NULL) {
        return;
    }
    cbx_sessions_close_all(sessions);
    pthread_mutex_destroy(&sessions->lock);
    pthread_cond_destroy(&sessions->changed);
    free(sessions->items);
    free(sessions);
}
