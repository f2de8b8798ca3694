/* SPDX-License-Identifier: MIT
 * The session table: results, closing, expiry, messages to runs, listing. */
#include "gateway/executor/sessions/sessions_internal.h"
#include "policies/base/time/deadline.h"

#include <string.h>

enum { UNACKNOWLEDGED_MS = 10 * 60 * 1000 };

/* --- closing ---------------------------------------------------------------------------------- */

static bool is_of(const struct cbx_session *session, const struct cbx_session_name *name)
{
    return name->principal == NULL || strcmp(session->principal, name->principal) == 0;
}

int cbx_sessions_close(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                       struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = cbx_sessions_find_slot(sessions, name->id);
    int failed = 0;
    if (session == NULL || !cbx_slot_is_open(session) || !is_of(session, name)) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", name->id);
    }
    if (!failed) {
        cbx_sessions_close_slot(sessions, session);
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

static bool is_expired(const struct cbx_session *s, int64_t now_ms, int64_t idle_ms)
{
    const struct cbx_limits *l = &s->limits;
    int64_t idle = s->one_shot                              ? UNACKNOWLEDGED_MS
                   : l->idle_ms > 0 && l->idle_ms < idle_ms ? l->idle_ms
                                                            : idle_ms;
    return s->state == CBX_SLOT_IDLE && (s->last_used_ms + idle <= now_ms ||
                                         (l->life_ms > 0 && s->created_ms + l->life_ms <= now_ms));
}

int cbx_sessions_expire(struct cbx_sessions *sessions, int64_t now_ms, int64_t idle_ms)
{
    int closed = 0;
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->slots; i++) {
        if (is_expired(&sessions->items[i], now_ms, idle_ms)) {
            cbx_sessions_close_slot(sessions, &sessions->items[i]);
            closed++;
        }
    }
    pthread_mutex_unlock(&sessions->lock);
    return closed;
}

/* --- results ---------------------------------------------------------------------------------- */

int cbx_sessions_find_run(struct cbx_sessions *sessions, const char *run_id, const char *principal,
                          char out[CBX_NAME_MAX + 1], uint64_t *audit_seq, struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = cbx_sessions_find_slot_of_run(sessions, run_id);
    bool own = session != NULL && (principal == NULL || strcmp(session->principal, principal) == 0);
    int failed = 0;
    if (!own) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "no sandbox has a run '%.40s'", run_id);
    }
    if (!failed) {
        memcpy(out, session->id, sizeof(session->id));
        if (audit_seq != NULL) {
            *audit_seq = session->run_seq;
        }
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

void cbx_sessions_acknowledge(struct cbx_sessions *sessions, const char *run_id)
{
    struct cbx_session *session;
    pthread_mutex_lock(&sessions->lock);
    while ((session = cbx_sessions_find_slot_of_run(sessions, run_id)) != NULL &&
           cbx_slot_is_entered(session)) {
        pthread_cond_wait(&sessions->changed, &sessions->lock);
    }
    if (session != NULL && session->state == CBX_SLOT_IDLE) {
        cbx_sessions_drop_result(sessions, session);
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

void cbx_sessions_reconcile(struct cbx_sessions *sessions, const json_t *ids, const json_t *runs)
{
    pthread_mutex_lock(&sessions->lock);
    for (struct cbx_ticket *t = sessions->queue; t != NULL; t = t->next) {
        t->cancelled |= !lists(runs, t->run);
    }
    pthread_cond_broadcast(&sessions->changed);
    for (int i = 0; i < sessions->slots; i++) {
        struct cbx_session *s = &sessions->items[i];
        if (!cbx_slot_is_open(s)) {
            continue;
        }
        if (!s->one_shot && !lists(ids, s->id)) {
            cbx_sessions_close_slot(sessions, s);
        } else if (s->run_id[0] != '\0' && !lists(runs, s->run_id)) {
            if (s->state == CBX_SLOT_IDLE) {
                cbx_sessions_drop_result(sessions, s);
            } else if (s->state == CBX_SLOT_ENTERED) {
                s->state = CBX_SLOT_DISCARDING;
            }
        }
    }
    pthread_mutex_unlock(&sessions->lock);
}

/* --- messages to running programs ------------------------------------------------------------- */

/* Finds by the id of a session or of a run, with the lock held. */
static struct cbx_session *find_either(struct cbx_sessions *sessions,
                                       const struct cbx_session_name *name)
{
    struct cbx_session *session = cbx_sessions_find_slot(sessions, name->id);
    session = session != NULL ? session : cbx_sessions_find_slot_of_run(sessions, name->id);
    return session != NULL && is_of(session, name) ? session : NULL;
}

int cbx_sessions_interrupt(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                           struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = find_either(sessions, name);
    int failed = 0;
    if (session == NULL) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", name->id);
    }
    if (!failed && session->sandbox != NULL) { /* no effect if nothing runs */
        cbx_sandbox_interrupt(session->sandbox);
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

int cbx_sessions_input(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                       struct cbx_str line, struct cbx_err *err)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = find_either(sessions, name);
    int failed;
    if (session == NULL) {
        failed = cbx_fail(err, CBX_ENOTFOUND, "there is no session '%s'", name->id);
    } else if (!cbx_slot_is_entered(session) || session->sandbox == NULL) {
        failed = cbx_fail(err, CBX_ESTATE, "nothing runs in session '%s'", name->id);
    } else {
        failed = cbx_sandbox_input(session->sandbox, line, err);
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

/* Call it with the lock held. */
static int feed(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                struct cbx_str bytes, bool end, size_t *waiting, struct cbx_err *err)
{
    struct cbx_session *session = find_either(sessions, name);
    if (session == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND, "there is no run '%s'", name->id);
    }
    if (!cbx_slot_is_entered(session) || session->sandbox == NULL ||
        strcmp(session->run_id, name->id) != 0) {
        return cbx_fail(err, CBX_ESTATE, "the run has ended");
    }
    return cbx_sandbox_feed(session->sandbox, bytes, end, waiting, err);
}

/* Returns the number of queued input bytes of a run; 0 after its end. */
static size_t count_waiting(struct cbx_sessions *sessions, const struct cbx_session_name *name)
{
    struct cbx_session *session = find_either(sessions, name);
    bool runs = session != NULL && cbx_slot_is_entered(session) && session->sandbox != NULL &&
                strcmp(session->run_id, name->id) == 0;
    return runs ? cbx_sandbox_input_waiting(session->sandbox) : 0;
}

int cbx_sessions_feed(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                      struct cbx_str bytes, bool end, bool wait, size_t *waiting,
                      struct cbx_err *err)
{
    enum { FEW_BYTES = 256 * 1024, WAIT_MS = 5000 };
    int64_t deadline = cbx_clock_ms() + WAIT_MS;
    pthread_mutex_lock(&sessions->lock);
    int failed = feed(sessions, name, bytes, end, waiting, err);
    while (!failed && wait && *waiting > FEW_BYTES && !sessions->stopping &&
           cbx_clock_ms() < deadline) {
        cbx_cond_wait_until(&sessions->changed, &sessions->lock, deadline);
        *waiting = count_waiting(sessions, name);
    }
    pthread_mutex_unlock(&sessions->lock);
    return failed;
}

void cbx_sessions_note_room(struct cbx_sessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->lock);
}

void cbx_sessions_cut_input(struct cbx_sessions *sessions, const char *run_id)
{
    pthread_mutex_lock(&sessions->lock);
    struct cbx_session *session = cbx_sessions_find_slot_of_run(sessions, run_id);
    if (session != NULL && session->sandbox != NULL) {
        cbx_sandbox_cut_input(session->sandbox);
    }
    pthread_mutex_unlock(&sessions->lock);
}

void cbx_sessions_renew_leases(struct cbx_sessions *sessions)
{
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->slots; i++) {
        if (sessions->items[i].sandbox != NULL) {
            cbx_sandbox_renew_lease(sessions->items[i].sandbox);
        }
    }
    pthread_mutex_unlock(&sessions->lock);
}

/* --- listing ---------------------------------------------------------------------------------- */

int cbx_sessions_count(struct cbx_sessions *sessions)
{
    int n = 0;
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->slots; i++) {
        n += sessions->items[i].state != CBX_SLOT_FREE && !sessions->items[i].one_shot;
    }
    pthread_mutex_unlock(&sessions->lock);
    return n;
}

static json_t *describe(const struct cbx_session *s, int64_t now_ms)
{
    bool busy = cbx_slot_is_entered(s);
    json_t *json = json_pack(
        "{s:s,s:s,s:s,s:s,s:b,s:I,s:I,s:s%}", "session", s->id, "principal", s->principal, "policy",
        cbx_sandbox_policy(s->sandbox), "kernel", cbx_sandbox_kernel(s->sandbox), "busy", busy,
        "idle_ms", (json_int_t)(busy ? 0 : now_ms - s->last_used_ms), "age_ms",
        (json_int_t)(now_ms - s->created_ms), "container", cbx_sandbox_id(s->sandbox), (size_t)12);
    if (!busy) { /* else the thread that entered it may change the sandbox */
        char ledger[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(cbx_sandbox_ledger(s->sandbox), ledger);
        json_object_set_new(json, "ledger", json_string(ledger));
        json_object_set_new(json, "untouched", json_boolean(cbx_sandbox_is_untouched(s->sandbox)));
    }
    return json;
}

static bool is_wanted(const char *wanted, const char *name)
{
    return wanted == NULL || wanted[0] == '\0' || strcmp(wanted, name) == 0;
}

json_t *cbx_sessions_list(struct cbx_sessions *sessions, const char *id, const char *principal)
{
    json_t *list = json_array();
    int64_t now = cbx_clock_ms();
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->slots; i++) {
        const struct cbx_session *s = &sessions->items[i];
        if (cbx_slot_is_open(s) && !s->one_shot && s->sandbox != NULL && is_wanted(id, s->id) &&
            is_wanted(principal, s->principal)) {
            json_array_append_new(list, describe(s, now));
        }
    }
    pthread_mutex_unlock(&sessions->lock);
    return list;
}

bool cbx_sessions_has(struct cbx_sessions *sessions, const char *container)
{
    bool has = false;
    pthread_mutex_lock(&sessions->lock);
    for (int i = 0; i < sessions->slots && !has; i++) {
        has = sessions->items[i].sandbox != NULL &&
              strcmp(cbx_sandbox_id(sessions->items[i].sandbox), container) == 0;
    }
    pthread_mutex_unlock(&sessions->lock);
    return has;
}
