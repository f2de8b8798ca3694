/* SPDX-License-Identifier: MIT
 * The sessions of a service: opened in the executor, with a row in the store. Each belongs to a principal; those of
 * another one do not exist for it (store.h). */
#ifndef CBX_GATEWAY_FRONT_SERVICE_SERVICE_SESSIONS_H
#define CBX_GATEWAY_FRONT_SERVICE_SERVICE_SESSIONS_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"

/* A session that is to be opened. */
struct cbx_opening {
    const char *principal;           /* whose it becomes */
    const char *language;            /* as the flow names it (dialect.h) */
    struct cbx_str policy;           /* empty = the default */
    struct cbx_str origin;           /* the API */
    const struct cbx_claims *claims; /* of the client; NULL = none */
    struct cbx_asked asked;          /* owned: cbx_opening_done */
    char id[37],
        now[32]; /* set when it is opened: its id, unless it has one (cbx_uuid_make), and `created_at` */
};

void cbx_opening_done(struct cbx_opening *opening);
CBX_DEFINE_AUTO_DONE(opening)

/* Judges the opening, makes the sandbox and stores the session. Returns 0 also when the policy denies
 * (outcome->verdict): nothing was opened then. Errors of the flow and of the store; CBX_EQUOTA
 * when the principal has as many as it may; CBX_EENGINE for a sandbox that cannot be made, a missing image included. `outcome` is the caller's (cbx_outcome_done). */
int cbx_service_open_session(struct cbx_service *service, struct cbx_opening *opening,
                             struct cbx_outcome *outcome, struct cbx_err *err);

/* Ends the session and removes its sandbox and its row; its executions stay. CBX_ENOTFOUND "Session not
 * found", the text that clients of CodeBox-AI compare. */
int cbx_service_close_session(struct cbx_service *service, const char *principal, const char *id,
                              struct cbx_err *err);

/* The open sessions (new reference): [{session_id, created_at, language, policy, status, idle_ms, age_ms,
 * container}]. The ids of closed ones are appended to `closed`, which may be NULL. */
int cbx_service_list_sessions(struct cbx_service *service, const char *principal, json_t **out,
                              json_t *closed, struct cbx_err *err);

/* At most `wanted` open sessions behind a position (new reference). Rows of closed sessions are passed over,
 * so that fewer mean that there are no more. */
int cbx_service_page_sessions(struct cbx_service *service, const char *principal,
                              const struct cbx_store_position *after, size_t wanted, json_t **out,
                              struct cbx_err *err);

/* True when nothing ran in the session and nothing was put into it: another sandbox can take the place of its own. */
bool cbx_service_session_is_untouched(struct cbx_service *service, const char *principal,
                                      const char *id);

/* One of them (new reference). CBX_ENOTFOUND. */
int cbx_service_describe_session(struct cbx_service *service, const char *principal, const char *id,
                                 json_t **out, struct cbx_err *err);

#endif
