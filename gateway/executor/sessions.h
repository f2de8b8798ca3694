/* SPDX-License-Identifier: MIT
 * The executor's table of sandboxes in use: sessions, and one-shot runs until their result was
 * taken. A sandbox is entered by one run at a time; others wait their turn. */
#ifndef CBX_GATEWAY_EXECUTOR_SESSIONS_H
#define CBX_GATEWAY_EXECUTOR_SESSIONS_H

#include "docker/sandbox.h"
#include "policies/permit.h"

struct cbx_sessions;
struct cbx_session;

/* What becomes of a sandbox that is needed no more; it may be NULL. */
typedef void cbx_discard_fn(void *context, struct cbx_sandbox *sandbox);

struct cbx_sessions *cbx_sessions_new(int max_sessions, cbx_discard_fn *discard, void *context);

/* Closes all, and frees. No other thread may use the table any more. */
void cbx_sessions_free(struct cbx_sessions *sessions);

/* Reserves a place for the permit's session, or for its one run when it has none: CBX_EBUSY when
 * all are taken, CBX_ESTATE when the id exists. It is not open before cbx_sessions_fill; on failure
 * the caller drops it with cbx_sessions_close. */
int cbx_sessions_reserve(struct cbx_sessions *sessions, const struct cbx_permit *permit,
                         struct cbx_err *err);
void cbx_sessions_fill(struct cbx_sessions *sessions, const char *id, struct cbx_sandbox *sandbox);

/* Puts in what a process before us left; false when there is no place, or its session is there. */
bool cbx_sessions_adopt(struct cbx_sessions *sessions, struct cbx_sandbox *sandbox);

/* Takes the session (or the one-shot run) for one run, waiting while another has it. CBX_ENOTFOUND
 * when there is none of that id; CBX_ESTATE when it is another principal's (NULL = whosever). Give
 * it back with cbx_sessions_leave. */
int cbx_sessions_enter(struct cbx_sessions *sessions, const char *id, const char *principal,
                       struct cbx_session **out, struct cbx_err *err);
void cbx_sessions_leave(struct cbx_sessions *sessions, struct cbx_session *session);

/* The place of a run in the line of its session; the caller's, zeroed. It may not go away while it
 * is in the line. */
struct cbx_turn {
    char session[CBX_NAME_MAX + 1];
    struct cbx_turn *next;
};

/* From here on it comes before those that line up later. It leaves when it has entered, or was
 * refused; or by the second, of no effect when it is in no line. */
void cbx_sessions_line_up(struct cbx_sessions *sessions, const char *id, struct cbx_turn *turn);
void cbx_sessions_step_out(struct cbx_sessions *sessions, struct cbx_turn *turn);

/* Enters for a run that lined up, when it is its turn. It takes the place of the run before it: the
 * result of that is waited for to be acknowledged, for so long since that run was left. */
int cbx_sessions_enter_run(struct cbx_sessions *sessions, struct cbx_turn *turn,
                           const char *principal, int64_t patience_ms, struct cbx_session **out,
                           struct cbx_err *err);

/* Is there the session that this permit would open, as one that nothing ran in? */
bool cbx_sessions_is_fresh(struct cbx_sessions *sessions, const struct cbx_permit *permit);

/* Of what is there now, closes the sessions, and acknowledges the runs, that are in neither list of
 * ids. */
void cbx_sessions_retain(struct cbx_sessions *sessions, const json_t *ids, const json_t *runs);

/* The sandbox of a session that was entered, and its replacement (owned by the session from then
 * on; may be NULL). */
struct cbx_sandbox *cbx_session_sandbox(struct cbx_session *session);
void cbx_sessions_replace(struct cbx_sessions *sessions, struct cbx_session *session,
                          struct cbx_sandbox *sandbox);

/* The run that the session was entered for begins; its result is wanted until it is acknowledged.
 */
void cbx_sessions_begin(struct cbx_sessions *sessions, struct cbx_session *session,
                        const char *run_id);

/* Where a run is or was, by its id: copies the id of its place. CBX_ENOTFOUND. */
int cbx_sessions_find_run(struct cbx_sessions *sessions, const char *run_id,
                          char out[CBX_NAME_MAX + 1], struct cbx_err *err);

/* The result of the run is stored elsewhere; a one-shot's sandbox is discarded. Waits while
 * somebody has entered. */
void cbx_sessions_acknowledge(struct cbx_sessions *sessions, const char *run_id);

/* Interrupts a run, ends it, gives the sandbox away. CBX_ENOTFOUND when there is no such session.
 */
int cbx_sessions_close(struct cbx_sessions *sessions, const char *id, struct cbx_err *err);

/* By the id of a session or of a run. The answer to a question of the program: CBX_ESTATE when
 * nothing runs. */
int cbx_sessions_interrupt(struct cbx_sessions *sessions, const char *id, struct cbx_err *err);
int cbx_sessions_input(struct cbx_sessions *sessions, const char *id, struct cbx_str line,
                       struct cbx_err *err);

/* Closes all, or with `leave` lets go of them for the next process; lets nobody reserve a place any
 * more, and returns when every run has ended or was left. */
void cbx_sessions_close_all(struct cbx_sessions *sessions, bool leave);

/* Closes what was idle or existed for longer than its policy or idle_ms allows, and one-shot
 * results that nobody took; returns how many. Renews the leases of the others. */
int cbx_sessions_expire(struct cbx_sessions *sessions, int64_t now_ms, int64_t idle_ms);
void cbx_sessions_keep(struct cbx_sessions *sessions);
int cbx_sessions_count(struct cbx_sessions *sessions);

/* [{session, principal, policy, kernel, busy, idle_ms, age_ms, container}] (new reference). */
json_t *cbx_sessions_list(struct cbx_sessions *sessions);

/* Is this container the sandbox of a session? */
bool cbx_sessions_has(struct cbx_sessions *sessions, const char *container);

#endif
