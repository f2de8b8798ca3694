/* SPDX-License-Identifier: MIT
 * The sessions of a service: opened in the executor, with a row in the store. Each belongs to a
 * principal; sessions of another principal count as missing (store.h). */
#ifndef CBX_GATEWAY_FRONT_SERVICE_SERVICE_SESSIONS_H
#define CBX_GATEWAY_FRONT_SERVICE_SERVICE_SESSIONS_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"

/* A session to open. */
struct cbx_opening {
    const char *principal;           /* its principal */
    const char *language;            /* name in the flow (dialect.h) */
    struct cbx_str policy;           /* empty = the default */
    struct cbx_str origin;           /* the API */
    const struct cbx_claims *claims; /* of the client; NULL = none */
    struct cbx_asked asked;          /* owned: cbx_opening_done */
    char id[37],
        /* set when it is opened: its id, unless it has one (cbx_uuid_make), and `created_at` */
        now[32];
};

void cbx_opening_done(struct cbx_opening *opening);
CBX_DEFINE_AUTO_DONE(opening)

/* Judges the opening, makes the sandbox and stores the session. Returns 0 also if the policy
 * denies (outcome->verdict): nothing was opened then. Errors of the flow and of the store;
 * CBX_EQUOTA if the principal has its maximum of sessions; CBX_EENGINE if the sandbox cannot be
 * made, also for a missing image. `outcome` is the caller's (cbx_outcome_done). */
int cbx_service_open_session(struct cbx_service *service, struct cbx_opening *opening,
                             struct cbx_outcome *outcome, struct cbx_err *err);

/* Ends the session and removes its sandbox and its row; its executions stay. CBX_ENOTFOUND
 * "Session not found", the text that clients of CodeBox-AI compare. */
int cbx_service_close_session(struct cbx_service *service, const char *principal, const char *id,
                              struct cbx_err *err);

/* Lists the open sessions (new reference): [{session_id, created_at, language, policy, status,
 * idle_ms, age_ms, container}]. Appends the ids of closed ones to `closed`, which may be NULL. */
int cbx_service_list_sessions(struct cbx_service *service, const char *principal, json_t **out,
                              json_t *closed, struct cbx_err *err);

/* Removes the rows of sessions that were closed because they were idle, or whose sandbox died: of a
 * principal, NULL = of all. *open is the number of open sessions, *removed that of removed rows: 0
 * during a takeover. Errors of the executor and of the store. */
int cbx_service_remove_closed(struct cbx_service *service, const char *principal, size_t *open,
                              size_t *removed, struct cbx_err *err);

/* Lists at most `wanted` open sessions after a position (new reference). Rows of closed sessions
 * are skipped, so fewer items mean the end of the list. */
int cbx_service_page_sessions(struct cbx_service *service, const char *principal,
                              const struct cbx_store_position *after, size_t wanted, json_t **out,
                              struct cbx_err *err);

/* True if the session ran no program and received no file: another sandbox can replace its own. */
bool cbx_service_session_is_untouched(struct cbx_service *service, const char *principal,
                                      const char *id);

/* Describes one of them (new reference). CBX_ENOTFOUND. */
int cbx_service_describe_session(struct cbx_service *service, const char *principal, const char *id,
                                 json_t **out, struct cbx_err *err);

#endif
