/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the session table. */
#ifndef CBX_GATEWAY_EXECUTOR_SESSIONS_SESSIONS_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_SESSIONS_SESSIONS_INTERNAL_H

#include "gateway/executor/sessions/sessions.h"
#include "policies/base/time/clock.h"

#include <pthread.h>

enum cbx_slot_state {
    CBX_SLOT_FREE = 0,
    CBX_SLOT_OPENING,    /* reserved; its sandbox is being made */
    CBX_SLOT_IDLE,       /* open, no run or call has entered it */
    CBX_SLOT_ENTERED,    /* a run or a call has entered it */
    CBX_SLOT_DISCARDING, /* ENTERED, and the result of its run is dropped when it is left */
    CBX_SLOT_CLOSING,    /* close requested while entered or opening; its run is being stopped */
    CBX_SLOT_DRAINED,    /* closed and left */
};

struct cbx_session {
    enum cbx_slot_state state;
    bool one_shot;             /* true for a slot of one run; the id is the run's decision */
    char id[CBX_NAME_MAX + 1]; /* empty = free */
    char principal[CBX_NAME_MAX + 1];
    char run_id[CBX_NAME_MAX + 1]; /* run whose result is not acknowledged yet; empty = none */
    uint64_t run_seq; /* number of its audit record; 0 = an earlier executor wrote the record */
    struct cbx_sandbox *sandbox;
    struct cbx_limits limits;
    /* policy under which it was opened: no run of another policy enters */
    struct cbx_sha256 policy_sha256;
    int64_t created_ms, last_used_ms;
    int64_t ended_ms; /* time when the run of run_id ended; 0 = not ended */
};

struct cbx_sessions {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signals a change of a slot's state, a result or the queue */
    int max, slots;
    bool stopping;
    cbx_discard_fn *discard;
    void *context;
    struct cbx_session *items;
    struct cbx_ticket *queue; /* queue of all sessions, in the order of admission */
};

/* Call them with the lock held. */
struct cbx_session *cbx_sessions_find_slot(struct cbx_sessions *sessions, const char *id);
struct cbx_session *cbx_sessions_find_slot_of_run(struct cbx_sessions *sessions,
                                                  const char *run_id);

/* Open: neither closing nor closed. Entered: by a run or a call. */
static inline bool cbx_slot_is_open(const struct cbx_session *s)
{
    return s->state >= CBX_SLOT_OPENING && s->state <= CBX_SLOT_DISCARDING;
}
static inline bool cbx_slot_is_entered(const struct cbx_session *s)
{
    return s->state == CBX_SLOT_OPENING || s->state == CBX_SLOT_ENTERED ||
           s->state == CBX_SLOT_DISCARDING;
}

/* With the lock held, which is released meanwhile: closes the session and discards its sandbox. */
void cbx_sessions_close_slot(struct cbx_sessions *sessions, struct cbx_session *session);

/* With the lock held, which may be released meanwhile: leaves an entered session. */
void cbx_sessions_leave_slot(struct cbx_sessions *sessions, struct cbx_session *session);

/* With the lock held, which may be released meanwhile; the slot is IDLE: drops its result,
 * closes a one-shot's slot. */
void cbx_sessions_drop_result(struct cbx_sessions *sessions, struct cbx_session *session);

#endif
