/* SPDX-License-Identifier: MIT
 * The table of sandboxes in use: opening, the queue, entering and leaving. While a slot is
 * entered, only the thread that entered it uses its sandbox, except to interrupt, answer or end
 * it. */
#include "gateway/executor/sessions/sessions_internal.h"

#include "policies/base/list.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- opening ---------------------------------------------------------------------------------- */

static int count_sessions(const struct cbx_sessions *sessions)
{
    int n = 0;
    for (int i = 0; i < sessions->slots; i++) {
        n += sessions->items[i].state != CBX_SLOT_FREE && !sessions->items[i].one_shot;
    }
    return n;
}

static struct cbx_session *take_slot(struct cbx_sessions *sessions, const char *id,
                                     const char *principal, const struct cbx_limits *limits)
{
    struct cbx_session *slot = NULL;
    for (int i = 0; slot == NULL && i < sessions->slots; i++) {
        slot = sessions->items[i].state == CBX_SLOT_FREE ? &sessions->items[i] : NULL;
    }
    if (slot != NULL) {
        int64_t now = cbx_clock_ms();
        *slot = (struct cbx_session){
            .state = CBX_SLOT_OPENING, .limits = *limits, .created_ms = now, .last_used_ms = now
        };
        snprintf(slot->id, sizeof(slot->id), "%s", id);
        snprintf(slot->principal, sizeof(slot->principal), "%s", principal);
    }
    return slot;
}

int cbx_sessions_reserve(struct cbx_sessions *sessions, const struct cbx_permit *permit,
                         struct cbx_err *err)
{
    bool one_shot = permit->session[0] == '\0';
    const char *id = one_shot ? permit->decision : permit->session;
    struct cbx_session *slot = NULL;
    int failed = 0;
    pthread_mutex_lock(&sessions->lock);
    if (sessions->stopping) {
        failed = cbx_fail(err, CBX_ESTATE, "the gateway is stopping");
    } else if (cbx_sessions_find_slot(sessions, id) != NULL) {
        failed = cbx_fail(err, CBX_ESTATE, "session '%s' exists already", id);
    } else if (!one_shot && count_sessions(sessions) >= sessions->max) {
        failed = cbx_fail(err, CBX_EBUSY, "%d sessions are open, allowed are %d; close one",
                          sessions->max, sessions->max);
    } else if ((slot = take_slot(sessions, id, permit->principal, &permit->limits)) == NULL) {
        failed = cbx_fail(err, CBX_EBUSY, "%d results wait to be acknowledged",
                          sessions->slots - sessions->max);
    } else {
        slot->one_shot = one_shot;
        slot->policy_sha256 = permit->policy_sha256;
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

/* Returns the next state of a slot after its opening, run or call. */
static enum cbx_slot_state state_after_leaving(enum cbx_slot_state state)
{
    return state == CBX_SLOT_CLOSING ? CBX_SLOT_DRAINED : CBX_SLOT_IDLE;
}

void cbx_sessions_fill(struct cbx_sessions *sessions, const char *id, struct cbx_sandbox *sandbox)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = cbx_sessions_find_slot(sessions, id);
    if (session != NULL) {
        session->sandbox = sandbox;
        session->state = state_after_leaving(session->state);
        /* Making the sandbox may have taken longer than the idle timeout of a session. */
        session->last_used_ms = cbx_clock_ms();
    }
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->lock);
}

bool cbx_sessions_adopt(struct cbx_sessions *sessions, struct cbx_sandbox *sandbox)
{
    const char *session = cbx_sandbox_session(sandbox), *run = cbx_sandbox_run_id(sandbox);
    const char *id = session[0] != '\0' ? session : run;
    struct cbx_session *slot = NULL;
    pthread_mutex_lock(&sessions->lock);
    if (!sessions->stopping && id[0] != '\0' && cbx_sessions_find_slot(sessions, id) == NULL) {
        slot = take_slot(sessions, id, cbx_sandbox_principal(sandbox), cbx_sandbox_limits(sandbox));
    }
    if (slot != NULL) {
        slot->state = CBX_SLOT_IDLE;
        slot->one_shot = session[0] == '\0';
        slot->sandbox = sandbox;
        slot->policy_sha256 = *cbx_sandbox_policy_sha256(sandbox);
        int64_t age_ms = cbx_time_ms() - cbx_sandbox_claimed_ms(sandbox);
        slot->created_ms -= age_ms > 0 ? age_ms : 0;
        slot->ended_ms = slot->last_used_ms;
        snprintf(slot->run_id, sizeof(slot->run_id), "%s", run);
    }
    pthread_mutex_unlock(&sessions->lock);
    return slot != NULL;
}

bool cbx_sessions_is_fresh(struct cbx_sessions *sessions, const struct cbx_permit *permit)
{
    pthread_mutex_lock(&sessions->lock);
    const struct cbx_session *s = cbx_sessions_find_slot(sessions, permit->session);
    bool fresh = s != NULL && s->state == CBX_SLOT_IDLE && s->run_id[0] == '\0' &&
                 s->sandbox != NULL && strcmp(s->principal, permit->principal) == 0 &&
                 strcmp(cbx_sandbox_policy(s->sandbox), permit->policy) == 0;
    pthread_mutex_unlock(&sessions->lock);
    return fresh;
}

json_t *cbx_sessions_mounted(struct cbx_sessions *sessions, const char *id)
{
    pthread_mutex_lock(&sessions->lock);
    const struct cbx_session *s = cbx_sessions_find_slot(sessions, id);
    const json_t *mounted =
        s != NULL && s->sandbox != NULL ? cbx_sandbox_mounted(s->sandbox) : NULL;
    json_t *copy = mounted != NULL ? json_deep_copy(mounted) : NULL;
    pthread_mutex_unlock(&sessions->lock);
    return copy;
}

/* --- the queue -------------------------------------------------------------------------------- */

void cbx_sessions_enqueue(struct cbx_sessions *sessions, const char *session,
                          const struct cbx_permit *permit, struct cbx_ticket *ticket)
{
    pthread_mutex_lock(&sessions->lock);
    snprintf(ticket->session, sizeof(ticket->session), "%s", session);
    snprintf(ticket->run, sizeof(ticket->run), "%s", permit->decision);
    snprintf(ticket->principal, sizeof(ticket->principal), "%s", permit->principal);
    ticket->next = NULL;
    CBX_LIST_APPEND(sessions->queue, ticket, next);
    pthread_mutex_unlock(&sessions->lock);
}

void cbx_sessions_dequeue(struct cbx_sessions *sessions, struct cbx_ticket *ticket)
{
    pthread_mutex_lock(&sessions->lock);
    if (CBX_LIST_REMOVE(sessions->queue, ticket, next)) {
        pthread_cond_broadcast(&sessions->changed);
    }
    pthread_mutex_unlock(&sessions->lock);
}

static struct cbx_ticket *find_queued(const struct cbx_sessions *sessions, const char *run)
{
    struct cbx_ticket *ticket = sessions->queue;
    while (ticket != NULL && strcmp(ticket->run, run) != 0) {
        ticket = ticket->next;
    }
    return ticket;
}

static bool is_queued(const struct cbx_sessions *sessions, const char *run)
{
    return find_queued(sessions, run) != NULL;
}

bool cbx_sessions_cancel(struct cbx_sessions *sessions, const char *run, const char *principal)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_ticket *ticket = find_queued(sessions, run);
    bool own = ticket != NULL && strcmp(ticket->principal, principal) == 0;
    if (own) {
        ticket->cancelled = true;
        pthread_cond_broadcast(&sessions->changed);
    }
    pthread_mutex_unlock(&sessions->lock);
    return own;
}

bool cbx_sessions_is_cancelled(struct cbx_sessions *sessions, const struct cbx_ticket *ticket)
{
    pthread_mutex_lock(&sessions->lock);
    bool cancelled = ticket->cancelled;
    pthread_mutex_unlock(&sessions->lock);
    return cancelled;
}

bool cbx_sessions_is_queued(struct cbx_sessions *sessions, const char *run, const char *principal)
{
    pthread_mutex_lock(&sessions->lock);
    const struct cbx_ticket *ticket = find_queued(sessions, run);
    bool queued =
        ticket != NULL && (principal == NULL || strcmp(ticket->principal, principal) == 0);
    pthread_mutex_unlock(&sessions->lock);
    return queued;
}

void cbx_sessions_await_dequeued(struct cbx_sessions *sessions, const char *run)
{
    pthread_mutex_lock(&sessions->lock);
    while (is_queued(sessions, run)) {
        pthread_cond_wait(&sessions->changed, &sessions->lock);
    }
    pthread_mutex_unlock(&sessions->lock);
}

/* True if no earlier ticket of the same session is queued. */
static bool is_first(const struct cbx_sessions *sessions, const struct cbx_ticket *ticket)
{
    const struct cbx_ticket *first = sessions->queue;
    while (first != NULL && first != ticket && strcmp(first->session, ticket->session) != 0) {
        first = first->next;
    }
    return first == ticket;
}

/* --- entering --------------------------------------------------------------------------------- */

static struct timespec as_timespec(int64_t ms)
{
    return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
}

/* Parameters for entering a session. */
struct entry {
    const char *id;
    const char *principal;           /* NULL = do not check */
    const struct cbx_ticket *ticket; /* ticket of a run; NULL = a call */
    const struct cbx_permit *permit; /* permit of a run; NULL = a call */
    int64_t ack_timeout_ms;
};

/* With the lock held: returns the session of this entry; NULL if it belongs to another
 * principal. */
static struct cbx_session *find_own(struct cbx_sessions *sessions, const struct entry *entry)
{
    struct cbx_session *s = cbx_sessions_find_slot(sessions, entry->id);
    bool own =
        s != NULL && (entry->principal == NULL || strcmp(s->principal, entry->principal) == 0);
    return own ? s : NULL;
}

/* With the lock held: waits until the session has no run or call and, with a ticket, until the
 * ticket is the first one and the previous run's result is acknowledged or timed out. The slot
 * is looked up again after each wait: another waiter may have entered and left a result. */
static struct cbx_session *await_turn(struct cbx_sessions *sessions, const struct entry *entry)
{
    const struct cbx_ticket *ticket = entry->ticket;
    struct cbx_session *s;
    while ((s = find_own(sessions, entry)) != NULL && cbx_slot_is_open(s) &&
           !(ticket != NULL && ticket->cancelled)) {
        int64_t timeout = s->ended_ms + entry->ack_timeout_ms;
        if (cbx_slot_is_entered(s) || (ticket != NULL && !is_first(sessions, ticket))) {
            pthread_cond_wait(&sessions->changed, &sessions->lock);
        } else if (ticket == NULL || s->run_id[0] == '\0' || timeout <= cbx_clock_ms()) {
            break;
        } else {
            struct timespec until = as_timespec(timeout);
            pthread_cond_timedwait(&sessions->changed, &sessions->lock, &until);
        }
    }
    return s;
}

static int enter(struct cbx_sessions *sessions, const struct entry *entry, struct cbx_session **out,
                 struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = await_turn(sessions, entry);
    int failed = 0;
    if (entry->ticket != NULL && entry->ticket->cancelled) {
        failed = cbx_fail(err, CBX_ECANCELLED, "cancelled before it began");
    } else if (session == NULL || session->state != CBX_SLOT_IDLE || sessions->stopping) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", entry->id);
    } else if (entry->permit != NULL &&
               !cbx_sha256_equal(&session->policy_sha256, &entry->permit->policy_sha256)) {
        failed = cbx_fail(err, CBX_ESTATE,
                          "session '%s' was opened under another policy, or another version of it; "
                          "open a new session",
                          entry->id);
    } else {
        session->state = CBX_SLOT_ENTERED;
        *out = session;
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

int cbx_sessions_enter(struct cbx_sessions *sessions, const char *id, const char *principal,
                       struct cbx_session **out, struct cbx_err *err)
{
    return enter(sessions, &(struct entry){ .id = id, .principal = principal }, out, err);
}

int cbx_sessions_enter_run(struct cbx_sessions *sessions, struct cbx_ticket *ticket,
                           const struct cbx_permit *permit, int64_t ack_timeout_ms,
                           struct cbx_session **out, struct cbx_err *err)
{
    struct entry entry = { .id = ticket->session,
                           .principal = permit->principal,
                           .ticket = ticket,
                           .permit = permit,
                           .ack_timeout_ms = ack_timeout_ms };
    return enter(sessions, &entry, out, err);
}

void cbx_sessions_leave_slot(struct cbx_sessions *sessions, struct cbx_session *session)
{
    bool discards = session->state == CBX_SLOT_DISCARDING;
    session->state = state_after_leaving(session->state);
    pthread_cond_broadcast(&sessions->changed);
    if (discards) {
        cbx_sessions_drop_result(sessions, session);
    }
}

void cbx_sessions_leave(struct cbx_sessions *sessions, struct cbx_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    session->last_used_ms = cbx_clock_ms();
    session->ended_ms = session->ended_ms != 0 ? session->ended_ms : session->last_used_ms;
    cbx_sessions_leave_slot(sessions, session);
    pthread_mutex_unlock(&sessions->lock);
}

struct cbx_sandbox *cbx_session_sandbox(struct cbx_session *session)
{
    return session->sandbox;
}

void cbx_sessions_replace(struct cbx_sessions *sessions, struct cbx_session *session,
                          struct cbx_sandbox *sandbox)
{
    /* another thread may be interrupting the old sandbox */
    pthread_mutex_lock(&sessions->lock);
    struct cbx_sandbox *old = session->sandbox;
    session->sandbox = sandbox;
    pthread_mutex_unlock(&sessions->lock);
    if (old != NULL) {
        sessions->discard(sessions->context, old);
    }
}

void cbx_sessions_begin(struct cbx_sessions *sessions, struct cbx_session *session,
                        const char *run_id, uint64_t audit_seq)
{
    pthread_mutex_lock(&sessions->lock);
    snprintf(session->run_id, sizeof(session->run_id), "%s", run_id);
    session->run_seq = audit_seq;
    session->ended_ms = 0;
    session->state = session->state == CBX_SLOT_DISCARDING ? CBX_SLOT_ENTERED : session->state;
    pthread_mutex_unlock(&sessions->lock);
}

void cbx_sessions_unbegin(struct cbx_sessions *sessions, struct cbx_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    session->run_id[0] = '\0';
    session->run_seq = 0;
    pthread_mutex_unlock(&sessions->lock);
}
