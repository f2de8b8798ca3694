/* SPDX-License-Identifier: MIT
 * What the files of the session table share. */
#ifndef CBX_GATEWAY_EXECUTOR_SESSIONS_SESSIONS_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_SESSIONS_SESSIONS_INTERNAL_H

#include "gateway/executor/sessions/sessions.h"
#include "policies/base/clock.h"

#include <pthread.h>

enum cbx_slot_state {
    CBX_SLOT_FREE = 0,
    CBX_SLOT_OPENING,    /* reserved; its sandbox is being made */
    CBX_SLOT_IDLE,       /* open, no run is in it */
    CBX_SLOT_ENTERED,    /* a run or a call is in it */
    CBX_SLOT_DISCARDING, /* ENTERED, and the result of its run is dropped when it is left */
    CBX_SLOT_CLOSING,    /* closed while entered or opening: what is in it is being ended */
    CBX_SLOT_DRAINED,    /* closed, and nothing is in it any more */
};

struct cbx_session {
    enum cbx_slot_state state;
    bool one_shot;             /* of one run; the id is that of its decision */
    char id[CBX_NAME_MAX + 1]; /* empty = free */
    char principal[CBX_NAME_MAX + 1];
    char run_id[CBX_NAME_MAX + 1]; /* the run whose result is not acknowledged yet; empty = none */
    uint64_t run_seq;              /* its audit record; 0 = an executor before this one wrote it */
    struct cbx_sandbox *sandbox;
    struct cbx_limits limits;
    struct cbx_sha256 policy_sha256; /* under which it was opened: no run of another one enters */
    int64_t created_ms, last_used_ms;
    int64_t ended_ms; /* when the run of run_id ended; 0 = it has not */
};

struct cbx_sessions {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a slot's state, a result or the queue */
    int max, slots;
    bool stopping;
    cbx_discard_fn *discard;
    void *context;
    struct cbx_session *items;
    struct cbx_ticket *queue; /* of all sessions, in the order of admission */
};

/* With the lock held. */
struct cbx_session *cbx_sessions_find_slot(struct cbx_sessions *sessions, const char *id);
struct cbx_session *cbx_sessions_find_slot_of_run(struct cbx_sessions *sessions,
                                                  const char *run_id);

/* Open: neither closing nor closed. Entered: a run or a call is in it. */
static inline bool cbx_slot_is_open(const struct cbx_session *s)
{
    return s->state >= CBX_SLOT_OPENING && s->state <= CBX_SLOT_DISCARDING;
}
static inline bool cbx_slot_is_entered(const struct cbx_session *s)
{
    return s->state == CBX_SLOT_OPENING || s->state == CBX_SLOT_ENTERED ||
           s->state == CBX_SLOT_DISCARDING;
}

/* With the lock held, which is released meanwhile: the session ends and its sandbox is
 * discarded. */
void cbx_sessions_close_slot(struct cbx_sessions *sessions, struct cbx_session *session);

/* With the lock held, which may be released meanwhile; the slot is IDLE: its result is dropped, a
 * one-shot's slot closed. */
void cbx_sessions_drop_result(struct cbx_sessions *sessions, struct cbx_session *session);

#endif
