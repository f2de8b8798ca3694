/* SPDX-License-Identifier: MIT
 * The executor's table of sandboxes in use. One lock for the table; `busy` marks a place that a run
 * is in, and only that run's thread touches its sandbox, except to interrupt or answer it. */
#include "gateway/executor/sessions.h"

#include "gateway/ipc/wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { ONCE_MAX = 1024, UNTAKEN_MS = 10 * 60 * 1000 };

struct cbx_session {
    char id[CBX_NAME_MAX + 1]; /* empty = free place; of a one-shot run, its decision's */
    char principal[CBX_NAME_MAX + 1];
    char run_id[CBX_NAME_MAX + 1]; /* not acknowledged yet; empty = none */
    struct cbx_sandbox *sandbox;
    bool once, busy, closing;
    bool unwanted; /* nobody will ask for run_id when it is left */
    int64_t created_ms, last_used_ms, idle_ms, life_ms;
    int64_t unacked_ms; /* since when the run is over and its result not taken; 0 = it is not */
};

struct cbx_sessions {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int max, places;
    bool ending;
    cbx_discard_fn *discard;
    void *context;
    struct cbx_session *items;
    struct cbx_turn *line; /* runs that wait to enter, of all sessions */
};

struct cbx_sessions *cbx_sessions_new(int max_sessions, cbx_discard_fn *discard, void *context)
{
    struct cbx_sessions *sessions = calloc(1, sizeof(*sessions));
    int places = max_sessions + ONCE_MAX;
    if (sessions == NULL ||
        (sessions->items = calloc((size_t)places, sizeof(struct cbx_session))) == NULL) {
        abort();
    }
    sessions->max = max_sessions;
    sessions->places = places;
    sessions->discard = discard;
    sessions->context = context;
    pthread_mutex_init(&sessions->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sessions->changed, &clock);
    pthread_condattr_destroy(&clock);
    return sessions;
}

static void give_away(struct cbx_sessions *sessions, struct cbx_sandbox *sandbox)
{
    if (sandbox != NULL) {
        sessions->discard(sessions->context, sandbox);
    }
}

static struct cbx_session *find(struct cbx_sessions *sessions, const char *id)
{
    for (int i = 0; id[0] != '\0' && i < sessions->places; i++) {
        if (strcmp(sessions->items[i].id, id) == 0) {
            return &sessions->items[i];
        }
    }
    return NULL;
}

static struct cbx_session *find_run(struct cbx_sessions *sessions, const char *run_id)
{
    for (int i = 0; run_id[0] != '\0' && i < sessions->places; i++) {
        if (strcmp(sessions->items[i].run_id, run_id) == 0) {
            return &sessions->items[i];
        }
    }
    return NULL;
}

static int count(const struct cbx_sessions *sessions)
{
    int n = 0;
    for (int i = 0; i < sessions->places; i++) {
        n += sessions->items[i].id[0] != '\0' && !sessions->items[i].once;
    }
    return n;
}

static struct cbx_session *take_place(struct cbx_sessions *sessions, const char *id,
                                      const char *principal, const struct cbx_limits *limits)
{
    struct cbx_session *place = NULL;
    for (int i = 0; place == NULL && i < sessions->places; i++) {
        place = sessions->items[i].id[0] == '\0' ? &sessions->items[i] : NULL;
    }
    if (place != NULL) {
        int64_t now = cbx_clock_ms();
        *place = (struct cbx_session){ .created_ms = now,
                                       .last_used_ms = now,
                                       .idle_ms = limits->idle_ms,
                                       .life_ms = limits->life_ms };
        snprintf(place->id, sizeof(place->id), "%s", id);
        snprintf(place->principal, sizeof(place->principal), "%s", principal);
    }
    return place;
}

int cbx_sessions_reserve(struct cbx_sessions *sessions, const struct cbx_permit *permit,
                         struct cbx_err *err)
{
    bool once = permit->session[0] == '\0';
    const char *id = once ? permit->decision : permit->session;
    struct cbx_session *place = NULL;
    int failed = 0;
    pthread_mutex_lock(&sessions->lock);
    if (sessions->ending) {
        failed = cbx_fail(err, CBX_ESTATE, "the gateway is ending");
    } else if (find(sessions, id) != NULL) {
        failed = cbx_fail(err, CBX_ESTATE, "session '%s' exists already", id);
    } else if (!once && count(sessions) >= sessions->max) {
        failed = cbx_fail(err, CBX_EBUSY, "%d sessions are open, allowed are %d; close one",
                          sessions->max, sessions->max);
    } else if ((place = take_place(sessions, id, permit->principal, &permit->limits)) == NULL) {
        failed = cbx_fail(err, CBX_EBUSY, "%d results wait to be taken", ONCE_MAX);
    } else {
        place->once = once;
        place->busy = true;
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

bool cbx_sessions_adopt(struct cbx_sessions *sessions, struct cbx_sandbox *sandbox)
{
    const char *session = cbx_sandbox_session(sandbox), *run = cbx_sandbox_run_id(sandbox);
    const char *id = session[0] != '\0' ? session : run;
    struct cbx_session *place = NULL;
    pthread_mutex_lock(&sessions->lock);
    if (!sessions->ending && id[0] != '\0' && find(sessions, id) == NULL) {
        place =
            take_place(sessions, id, cbx_sandbox_principal(sandbox), cbx_sandbox_limits(sandbox));
    }
    if (place != NULL) {
        place->once = session[0] == '\0';
        place->sandbox = sandbox;
        int64_t age_ms = cbx_time_ms() - cbx_sandbox_claimed_ms(sandbox);
        place->created_ms -= age_ms > 0 ? age_ms : 0;
        place->unacked_ms = place->last_used_ms;
        snprintf(place->run_id, sizeof(place->run_id), "%s", run);
    }
    pthread_mutex_unlock(&sessions->lock);
    return place != NULL;
}

static struct timespec as_timespec(int64_t ms)
{
    return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
}

static bool is_first(const struct cbx_sessions *sessions, const struct cbx_turn *turn)
{
    const struct cbx_turn *first = sessions->line;
    while (first != NULL && first != turn && strcmp(first->session, turn->session) != 0) {
        first = first->next;
    }
    return first == turn;
}

/* With the lock held: waits until nobody has it, and with a turn until that has come and the result
 * of the run before is taken, or is there for so long. What was found is looked at anew after each
 * wait: others wait too, and one of them may have left a result of its own. */
static struct cbx_session *await_turn(struct cbx_sessions *sessions, const char *id,
                                      const struct cbx_turn *turn, int64_t patience_ms)
{
    struct cbx_session *session;
    while ((session = find(sessions, id)) != NULL && !session->closing) {
        if (session->busy || (turn != NULL && !is_first(sessions, turn))) {
            pthread_cond_wait(&sessions->changed, &sessions->lock);
        } else if (turn == NULL || session->run_id[0] == '\0' ||
                   session->unacked_ms + patience_ms <= cbx_clock_ms()) {
            break;
        } else {
            struct timespec until = as_timespec(session->unacked_ms + patience_ms);
            pthread_cond_timedwait(&sessions->changed, &sessions->lock, &until);
        }
    }
    return session;
}

/* With the lock held. */
static void step_out(struct cbx_sessions *sessions, const struct cbx_turn *turn)
{
    struct cbx_turn **at = &sessions->line;
    while (*at != NULL && *at != turn) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = turn->next;
        pthread_cond_broadcast(&sessions->changed);
    }
}

void cbx_sessions_line_up(struct cbx_sessions *sessions, const char *id, struct cbx_turn *turn)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_turn **last = &sessions->line;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    snprintf(turn->session, sizeof(turn->session), "%s", id);
    turn->next = NULL;
    *last = turn;
    pthread_mutex_unlock(&sessions->lock);
}

void cbx_sessions_step_out(struct cbx_sessions *sessions, struct cbx_turn *turn)
{
    pthread_mutex_lock(&sessions->lock);
    step_out(sessions, turn);
    pthread_mutex_unlock(&sessions->lock);
}

static int enter(struct cbx_sessions *sessions, const char *id, const struct cbx_turn *turn,
                 const char *principal, int64_t patience_ms, struct cbx_session **out,
                 struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = await_turn(sessions, id, turn, patience_ms);
    step_out(sessions, turn);
    int failed = 0;
    if (session == NULL || session->closing || sessions->ending) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", id);
    } else if (principal != NULL && strcmp(session->principal, principal) != 0) {
        failed = cbx_fail(err, CBX_ESTATE, "session '%s' belongs to another principal", id);
    } else {
        session->busy = true;
        *out = session;
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

int cbx_sessions_enter(struct cbx_sessions *sessions, const char *id, const char *principal,
                       struct cbx_session **out, struct cbx_err *err)
{
    return enter(sessions, id, NULL, principal, 0, out, err);
}

int cbx_sessions_enter_run(struct cbx_sessions *sessions, struct cbx_turn *turn,
                           const char *principal, int64_t patience_ms, struct cbx_session **out,
                           struct cbx_err *err)
{
    return enter(sessions, turn->session, turn, principal, patience_ms, out, err);
}

bool cbx_sessions_is_fresh(struct cbx_sessions *sessions, const struct cbx_permit *permit)
{
    pthread_mutex_lock(&sessions->lock);
    const struct cbx_session *s = find(sessions, permit->session);
    bool fresh = s != NULL && !s->busy && !s->closing && s->run_id[0] == '\0' &&
                 s->sandbox != NULL && strcmp(s->principal, permit->principal) == 0 &&
                 strcmp(cbx_sandbox_policy(s->sandbox), permit->policy) == 0;
    pthread_mutex_unlock(&sessions->lock);
    return fresh;
}

/* With the lock held: ends what runs, waits for it, and takes the sandbox out. The place stays
 * reserved by `closing` until the caller clears it. */
static struct cbx_sandbox *drain(struct cbx_sessions *sessions, struct cbx_session *session)
{
    session->closing = true;
    while (session->busy) {
        if (session->sandbox != NULL) {
            cbx_sandbox_end(session->sandbox);
        }
        pthread_cond_wait(&sessions->changed, &sessions->lock);
    }
    return cbx_steal(&session->sandbox);
}

/* With the lock held, which is given up meanwhile: the session ends and its sandbox goes. */
static void close_one(struct cbx_sessions *sessions, struct cbx_session *session)
{
    struct cbx_sandbox *sandbox = drain(sessions, session);
    *session = (struct cbx_session){ 0 };
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->lock);
    give_away(sessions, sandbox);
    pthread_mutex_lock(&sessions->lock);
}

/* With the lock held, which may be given up meanwhile; nobody has entered it. */
static void forget_run(struct cbx_sessions *sessions, struct cbx_session *session)
{
    char run_id[sizeof(session->run_id)];
    memcpy(run_id, session->run_id, sizeof(run_id));
    session->run_id[0] = '\0';
    session->unwanted = false;
    if (session->once) {
        close_one(sessions, session);
    } else if (session->sandbox != NULL) {
        cbx_sandbox_acknowledge(session->sandbox, run_id);
    }
    pthread_cond_broadcast(&sessions->changed);
}

void cbx_sessions_leave(struct cbx_sessions *sessions, struct cbx_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    session->busy = false;
    session->last_used_ms = cbx_clock_ms();
    session->unacked_ms = session->unacked_ms != 0 ? session->unacked_ms : session->last_used_ms;
    pthread_cond_broadcast(&sessions->changed);
    if (session->unwanted) {
        forget_run(sessions, session);
    }
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
    give_away(sessions, old);
}

void cbx_sessions_begin(struct cbx_sessions *sessions, struct cbx_session *session,
                        const char *run_id)
{
    pthread_mutex_lock(&sessions->lock);
    snprintf(session->run_id, sizeof(session->run_id), "%s", run_id);
    session->unacked_ms = 0;
    session->unwanted = false;
    pthread_mutex_unlock(&sessions->lock);
}

int cbx_sessions_find_run(struct cbx_sessions *sessions, const char *run_id,
                          char out[CBX_NAME_MAX + 1], struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = find_run(sessions, run_id);
    int failed = session == NULL
                     ? cbx_fail(err, CBX_ENOTFOUND, "no sandbox knows a run '%.40s'", run_id)
                     : 0;
    if (!failed) {
        memcpy(out, session->id, sizeof(session->id));
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

void cbx_sessions_acknowledge(struct cbx_sessions *sessions, const char *run_id)
{
    struct cbx_session *session;
    pthread_mutex_lock(&sessions->lock);
    while ((session = find_run(sessions, run_id)) != NULL && session->busy && !session->closing) {
        pthread_cond_wait(&sessions->changed, &sessions->lock);
    }
    if (session != NULL && !session->closing) {
        forget_run(sessions, session);
    }
    pthread_mutex_unlock(&sessions->lock);
}

static bool lists(const json_t *ids, const char *id)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(ids, i, entry)
    {
        if (cbx_str_is(cbx_json_str(entry), id)) {
            return true;
        }
    }
    return false;
}

void cbx_sessions_retain(struct cbx_sessions *sessions, const json_t *ids, const json_t *runs)
{
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->places; i++) {
        struct cbx_session *s = &sessions->items[i];
        if (s->id[0] == '\0' || s->closing) {
            continue;
        }
        if (!s->once && !lists(ids, s->id)) {
            close_one(sessions, s);
        } else if (s->run_id[0] != '\0' && !lists(runs, s->run_id)) {
            s->unwanted = true;
            if (!s->busy) {
                forget_run(sessions, s);
            }
        }
    }
    pthread_mutex_unlock(&sessions->lock);
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

void cbx_sessions_close_all(struct cbx_sessions *sessions, bool leave)
{
    pthread_mutex_lock(&sessions->lock);
    sessions->ending = true;
    pthread_cond_broadcast(&sessions->changed);
    for (int i = 0; i < sessions->places; i++) {
        struct cbx_session *session = &sessions->items[i];
        if (session->id[0] != '\0' && !session->closing && !leave) {
            close_one(sessions, session);
        }
        while (session->id[0] != '\0' && !leave) {
            pthread_cond_wait(&sessions->changed, &sessions->lock);
        }
    }
    pthread_mutex_unlock(&sessions->lock);
}

int cbx_sessions_interrupt(struct cbx_sessions *sessions, const char *id, struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = find(sessions, id);
    session = session != NULL ? session : find_run(sessions, id);
    int failed = session == NULL ? cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", id) : 0;
    if (!failed && session->sandbox != NULL) { /* of no effect when nothing runs */
        cbx_sandbox_interrupt(session->sandbox);
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

int cbx_sessions_input(struct cbx_sessions *sessions, const char *id, struct cbx_str line,
                       struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = find(sessions, id);
    session = session != NULL ? session : find_run(sessions, id);
    int failed = session == NULL ? cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", id)
                 : !session->busy || session->sandbox == NULL
                     ? cbx_fail(err, CBX_ESTATE, "nothing runs in session '%s'", id)
                     : cbx_sandbox_input(session->sandbox, line, err);
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

static bool is_over(const struct cbx_session *s, int64_t now_ms, int64_t idle_ms)
{
    int64_t idle = s->once                                  ? UNTAKEN_MS
                   : s->idle_ms > 0 && s->idle_ms < idle_ms ? s->idle_ms
                                                            : idle_ms;
    return s->id[0] != '\0' && !s->busy && !s->closing &&
           (s->last_used_ms + idle <= now_ms ||
            (s->life_ms > 0 && s->created_ms + s->life_ms <= now_ms));
}

int cbx_sessions_expire(struct cbx_sessions *sessions, int64_t now_ms, int64_t idle_ms)
{
    int closed = 0;
    for (int i = 0; i < sessions->places; i++) {
        char id[CBX_NAME_MAX + 1] = "";
        pthread_mutex_lock(&sessions->lock);
        if (is_over(&sessions->items[i], now_ms, idle_ms)) {
            memcpy(id, sessions->items[i].id, sizeof(id));
        }
        pthread_mutex_unlock(&sessions->lock);
        closed += id[0] != '\0' && cbx_sessions_close(sessions, id, NULL) == 0;
    }
    return closed;
}

void cbx_sessions_keep(struct cbx_sessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->places; i++) {
        if (sessions->items[i].sandbox != NULL) {
            cbx_sandbox_keep(sessions->items[i].sandbox);
        }
    }
    pthread_mutex_unlock(&sessions->lock);
}

int cbx_sessions_count(struct cbx_sessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    int n = count(sessions);
    pthread_mutex_unlock(&sessions->lock);
    return n;
}

json_t *cbx_sessions_list(struct cbx_sessions *sessions)
{
    json_t *list = json_array();
    int64_t now = cbx_clock_ms();
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->places; i++) {
        const struct cbx_session *s = &sessions->items[i];
        if (s->id[0] == '\0' || s->once || s->closing || s->sandbox == NULL) {
            continue;
        }
        json_array_append_new(
            list, json_pack("{s:s,s:s,s:s,s:s,s:b,s:I,s:I,s:s%}", "session", s->id, "principal",
                            s->principal, "policy", cbx_sandbox_policy(s->sandbox), "kernel",
                            cbx_sandbox_kernel(s->sandbox), "busy", s->busy, "idle_ms",
                            (json_int_t)(s->busy ? 0 : now - s->last_used_ms), "age_ms",
                            (json_int_t)(now - s->created_ms), "container",
                            cbx_sandbox_id(s->sandbox), (size_t)12));
    }
    pthread_mutex_unlock(&sessions->lock);
    return list;
}

bool cbx_sessions_has(struct cbx_sessions *sessions, const char *container)
{
    bool has = false;
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->places && !has; i++) {
        has = sessions->items[i].sandbox != NULL &&
              strcmp(cbx_sandbox_id(sessions->items[i].sandbox), container) == 0;
    }
    pthread_mutex_unlock(&sessions->lock);
    return has;
}

void cbx_sessions_free(struct cbx_sessions *sessions)
{
    if (sessions == NULL) {
        return;
    }
    cbx_sessions_close_all(sessions, false);
    pthread_mutex_destroy(&sessions->lock);
    pthread_cond_destroy(&sessions->changed);
    free(sessions->items);
    free(sessions);
}
