/* SPDX-License-Identifier: MIT
 * The executor's table of sandboxes in use: one slot per session, and one per one-shot run until
 * its result was acknowledged. It determines the order of a session's runs and the state of a
 * session:
 *
 *     FREE -> OPENING -> IDLE <-> ENTERED -> DISCARDING -> IDLE (a one-shot: FREE)
 *               |         |         |           |
 *               +---------+-> CLOSING <---------+-> DRAINED -> FREE
 *
 * A sandbox is entered by one run at a time; others wait in the order in which they were
 * enqueued. Thread-safe. */
#ifndef CBX_GATEWAY_EXECUTOR_SESSIONS_SESSIONS_H
#define CBX_GATEWAY_EXECUTOR_SESSIONS_SESSIONS_H

#include "docker/sandbox/sandbox.h"
#include "policies/permit.h"

struct cbx_sessions;
struct cbx_session;

/* Disposes of an unused sandbox, which may be NULL. */
typedef void cbx_discard_fn(void *context, struct cbx_sandbox *sandbox);

struct cbx_sessions *cbx_sessions_new(int max_sessions, cbx_discard_fn *discard, void *context);

/* Closes all sessions, and frees the table. No other thread may use the table during and after
 * this call. */
void cbx_sessions_free(struct cbx_sessions *sessions);

/* --- opening ---------------------------------------------------------------------------------- */

/* Reserves a slot for the permit's session, or for its single run if it has no session:
 * CBX_EBUSY if all slots are taken, CBX_ESTATE if the id exists. The session is not open before
 * cbx_sessions_fill; on failure the caller drops the slot with cbx_sessions_close. */
int cbx_sessions_reserve(struct cbx_sessions *sessions, const struct cbx_permit *permit,
                         struct cbx_err *err);
void cbx_sessions_fill(struct cbx_sessions *sessions, const char *id, struct cbx_sandbox *sandbox);

/* Adds a sandbox of an earlier executor; false if there is no slot, or its session exists. */
bool cbx_sessions_adopt(struct cbx_sessions *sessions, struct cbx_sandbox *sandbox);

/* True if the session that this permit would open exists already, and had no run: an executor
 * that was killed opened it and could not reply. */
bool cbx_sessions_is_fresh(struct cbx_sessions *sessions, const struct cbx_permit *permit);

/* Returns the mounts of the session's sandbox (new reference); NULL = no mounts, or no sandbox. */
json_t *cbx_sessions_mounted(struct cbx_sessions *sessions, const char *id);

/* --- the order of runs ------------------------------------------------------------------------ */

/* A run that is admitted and has not begun. Zero-initialised and owned by the caller; its
 * address must not change while it is queued. */
struct cbx_ticket {
    char session[CBX_NAME_MAX + 1]; /* empty = a one-shot, which waits for no other run */
    char run[CBX_ID_CHARS + 1];
    char principal[CBX_NAME_MAX + 1];
    bool cancelled; /* read and written with the table's lock (cbx_sessions_is_cancelled) */
    struct cbx_ticket *next;
};

/* Enqueues a run: it enters its session before runs enqueued later. The caller dequeues it after
 * it has begun or failed, not earlier: a run that is neither queued nor begun counts as lost.
 * Dequeuing a ticket that is not queued has no effect. */
void cbx_sessions_enqueue(struct cbx_sessions *sessions, const char *session,
                          const struct cbx_permit *permit, struct cbx_ticket *ticket);
void cbx_sessions_dequeue(struct cbx_sessions *sessions, struct cbx_ticket *ticket);

/* Cancels the ticket of this run and principal: the run does not begin, and if it waits for its
 * session, it fails with CBX_ECANCELLED. False if it is not queued. */
bool cbx_sessions_cancel(struct cbx_sessions *sessions, const char *run, const char *principal);
bool cbx_sessions_is_cancelled(struct cbx_sessions *sessions, const struct cbx_ticket *ticket);

/* True if a run of this id and principal (NULL = any) is queued; the other function waits until
 * no run of this id is queued. */
bool cbx_sessions_is_queued(struct cbx_sessions *sessions, const char *run, const char *principal);
void cbx_sessions_await_dequeued(struct cbx_sessions *sessions, const char *run);

/* --- entering --------------------------------------------------------------------------------- */

/* Enters the session (or one-shot slot) when it has no run. CBX_ENOTFOUND if no session has that
 * id, or it belongs to another principal (NULL = do not check): callers learn nothing of other
 * principals' sessions. Leave it with cbx_sessions_leave. */
int cbx_sessions_enter(struct cbx_sessions *sessions, const char *id, const char *principal,
                       struct cbx_session **out, struct cbx_err *err);
void cbx_sessions_leave(struct cbx_sessions *sessions, struct cbx_session *session);

/* Enters for a queued run after all runs enqueued before it have begun or failed, and the
 * previous run's result was acknowledged, or that run ended more than ack_timeout_ms ago.
 * CBX_ESTATE also if the hash of the permit's policy differs from the session's; CBX_ECANCELLED. */
int cbx_sessions_enter_run(struct cbx_sessions *sessions, struct cbx_ticket *ticket,
                           const struct cbx_permit *permit, int64_t ack_timeout_ms,
                           struct cbx_session **out, struct cbx_err *err);

/* Return the sandbox of an entered session; and replace it (the session then owns the new one;
 * may be NULL). */
struct cbx_sandbox *cbx_session_sandbox(struct cbx_session *session);
void cbx_sessions_replace(struct cbx_sessions *sessions, struct cbx_session *session,
                          struct cbx_sandbox *sandbox);

/* The run of the entered session begins; its result is kept until it is acknowledged. */
void cbx_sessions_begin(struct cbx_sessions *sessions, struct cbx_session *session,
                        const char *run_id, uint64_t audit_seq);

/* The run did not begin after all: the next run waits for no result. */
void cbx_sessions_unbegin(struct cbx_sessions *sessions, struct cbx_session *session);

/* --- results ---------------------------------------------------------------------------------- */

/* Finds the slot that has a run, or its result: copies the slot's id, and the number of the
 * run's audit record (0 = not known; may be NULL). CBX_ENOTFOUND, also if the run is of another
 * principal (NULL = any). */
int cbx_sessions_find_run(struct cbx_sessions *sessions, const char *run_id, const char *principal,
                          char out[CBX_NAME_MAX + 1], uint64_t *audit_seq, struct cbx_err *err);

/* The client stored the result of the run; a one-shot's sandbox is discarded. Waits while the
 * session is entered. */
void cbx_sessions_acknowledge(struct cbx_sessions *sessions, const char *run_id);

/* Closes the sessions, drops the results of runs, and cancels the queued runs that are in
 * neither list of ids. */
void cbx_sessions_reconcile(struct cbx_sessions *sessions, const json_t *ids, const json_t *runs);

/* --- ending ----------------------------------------------------------------------------------- */

/* A session as a caller names it. A session of another principal is CBX_ENOTFOUND, like a
 * missing one. */
struct cbx_session_name {
    const char *id;
    const char *principal; /* NULL: the executor itself */
};

/* Interrupts a run, ends it, disposes of the sandbox. CBX_ENOTFOUND if there is no such session. */
int cbx_sessions_close(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                       struct cbx_err *err);

/* By the id of a session or of a run: cbx_sessions_interrupt interrupts it, the other function
 * answers a question of the program: CBX_ESTATE if nothing runs. */
int cbx_sessions_interrupt(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                           struct cbx_err *err);
int cbx_sessions_input(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                       struct cbx_str line, struct cbx_err *err);

/* cbx_sandbox_feed for a run, by its id. With `wait` it returns when few bytes of its input are
 * queued, or after some seconds; meanwhile cbx_sessions_note_room signals that its program has
 * read more. CBX_ENOTFOUND also for a run of another principal; CBX_ESTATE if nothing runs. */
int cbx_sessions_feed(struct cbx_sessions *sessions, const struct cbx_session_name *name,
                      struct cbx_str bytes, bool end, bool wait, size_t *waiting,
                      struct cbx_err *err);
void cbx_sessions_note_room(struct cbx_sessions *sessions);

/* cbx_sandbox_cut_input for a run, by its id; no effect if there is no such run. */
void cbx_sessions_cut_input(struct cbx_sessions *sessions, const char *run_id);

/* Refuses every new session from now on. Closes all sessions and waits for their runs; with
 * `detach` the sandboxes and their runs stay, for the next executor. */
void cbx_sessions_close_all(struct cbx_sessions *sessions, bool detach);

/* Closes sessions that were idle, or existed, for longer than their policy or idle_ms allows,
 * and drops one-shot results that were not acknowledged in time; returns their number. */
int cbx_sessions_expire(struct cbx_sessions *sessions, int64_t now_ms, int64_t idle_ms);

/* Renews the leases of all sandboxes in the table. */
void cbx_sessions_renew_leases(struct cbx_sessions *sessions);

/* Opens the connections of idle sessions that broke again, with one attempt each, several at a
 * time; stops when the engine does not answer. A session counts as entered meanwhile, and not as
 * used. */
void cbx_sessions_reattach(struct cbx_sessions *sessions);

/* --- listing ---------------------------------------------------------------------------------- */

int cbx_sessions_count(struct cbx_sessions *sessions);

/* Returns [{session, principal, policy, kernel, busy, idle_ms, age_ms, container}] (new
 * reference) of this id and this principal; NULL or empty = any. */
json_t *cbx_sessions_list(struct cbx_sessions *sessions, const char *id, const char *principal);

/* True if this container is the sandbox of a session. */
bool cbx_sessions_has(struct cbx_sessions *sessions, const char *container);

#endif
