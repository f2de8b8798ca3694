/* SPDX-License-Identifier: MIT
 * The executor's table of open sessions. A session is entered by one run at a time; others wait
 * their turn. */
#ifndef CBX_GATEWAY_SESSIONS_H
#define CBX_GATEWAY_SESSIONS_H

#include "docker/sandbox.h"
#include "policies/permit.h"

struct cbx_sessions;
struct cbx_session;

struct cbx_sessions *cbx_sessions_new(int max_sessions);

/* Closes all, and frees. No other thread may use the table any more. */
void cbx_sessions_free(struct cbx_sessions *sessions);

/* Reserves a place for the permit's session: CBX_EBUSY when all are taken, CBX_ESTATE when the id
 * exists. The session is not open before cbx_sessions_fill; on failure the caller drops it with
 * cbx_sessions_close. */
int cbx_sessions_reserve(struct cbx_sessions *sessions, const struct cbx_permit *permit,
                         struct cbx_err *err);
void cbx_sessions_fill(struct cbx_sessions *sessions, const char *id, struct cbx_sandbox *sandbox);

/* Takes the session for one run, waiting while another has it. CBX_ENOTFOUND when there is none of
 * that id; CBX_ESTATE when the permit's principal is not the one that opened it. Give it back with
 * cbx_sessions_leave. */
int cbx_sessions_enter(struct cbx_sessions *sessions, const struct cbx_permit *permit,
                       struct cbx_session **out, struct cbx_err *err);
void cbx_sessions_leave(struct cbx_sessions *sessions, struct cbx_session *session);

/* The sandbox of a session that was entered, and its replacement (owned by the session from then
 * on; may be NULL). */
struct cbx_sandbox *cbx_session_sandbox(struct cbx_session *session);
void cbx_sessions_replace(struct cbx_sessions *sessions, struct cbx_session *session,
                          struct cbx_sandbox *sandbox);

/* Interrupts a run, ends it, removes the sandbox. CBX_ENOTFOUND when there is no such session. */
int cbx_sessions_close(struct cbx_sessions *sessions, const char *id, struct cbx_err *err);
int cbx_sessions_interrupt(struct cbx_sessions *sessions, const char *id, struct cbx_err *err);

/* Closes all, lets nobody reserve a place any more, and returns when every sandbox is removed, also
 * those that other threads are closing. */
void cbx_sessions_close_all(struct cbx_sessions *sessions);

/* Closes what had no run since now_ms - idle_ms; returns how many. */
int cbx_sessions_expire(struct cbx_sessions *sessions, int64_t now_ms, int64_t idle_ms);
int cbx_sessions_count(struct cbx_sessions *sessions);

#endif
