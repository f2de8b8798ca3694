/* SPDX-License-Identifier: MIT
 * Sessions of the handshake era: the client's declarations in initialize, its running calls, and
 * the server's requests to it. Over HTTP each has an id that the client sends; over stdio there
 * is one. In memory, and a limited number: beyond it, the principal with most sessions loses its
 * least recently used one. All functions are thread-safe. */
#ifndef CBX_GATEWAY_FRONT_MCP_MCP_SESSIONS_H
#define CBX_GATEWAY_FRONT_MCP_MCP_SESSIONS_H

#include "gateway/front/claims.h"
#include "policies/base/hash.h"
#include "policies/base/text/json.h"

#include <stdatomic.h>

enum {
    CBX_MCP_SESSION_ID = CBX_SHA256_HEX,
    CBX_MCP_SESSIONS_MAX = 1024,
    /* an unused session ends: a desktop's client survives a night */
    CBX_MCP_SESSION_IDLE_S = 24 * 3600,
    /* concurrent, of all sessions: each holds a thread of the server */
    CBX_MCP_QUESTIONS_MAX = 64,
};

struct cbx_mcp_sessions;

/* Makes an empty table; owned by the caller. No thread may wait in it when it is freed:
 * cbx_mcp_sessions_stop. */
struct cbx_mcp_sessions *cbx_mcp_sessions_new(void);
void cbx_mcp_sessions_free(struct cbx_mcp_sessions *sessions);

/* Ends all sessions, and all requests that wait for a response; later ones cannot be opened. */
void cbx_mcp_sessions_stop(struct cbx_mcp_sessions *sessions);

/* --- sessions --------------------------------------------------------------------------------- */

/* Opens a session for the params of an initialize (NULL = none) and writes its id, 64
 * hexadecimal digits that cannot be guessed, and a NUL. It belongs to this principal. False
 * after cbx_mcp_sessions_stop. */
bool cbx_mcp_session_open(struct cbx_mcp_sessions *sessions, struct cbx_str principal,
                          const json_t *params, char id[CBX_MCP_SESSION_ID + 1]);

/* True if the principal has a session with this id; updates its time of use. Call it for each
 * request before the functions below, which accept any id. */
bool cbx_mcp_session_use(struct cbx_mcp_sessions *sessions, struct cbx_str principal,
                         struct cbx_str id);

/* Ends it and cancels its calls; false if the principal has none with this id. */
bool cbx_mcp_session_close(struct cbx_mcp_sessions *sessions, struct cbx_str principal,
                           struct cbx_str id);

/* Returns the client's declared capabilities, a new reference; NULL if there is no such session,
 * or they exceed 16 KiB. */
json_t *cbx_mcp_session_capabilities(struct cbx_mcp_sessions *sessions, struct cbx_str id);

/* Adds the client's name and version; no effect without a session. */
void cbx_mcp_session_claims(struct cbx_mcp_sessions *sessions, struct cbx_str id,
                            struct cbx_claims *claims);

/* The rank of the least severe log message that the client accepts: 0 until it is set, and
 * without a session. */
void cbx_mcp_session_set_level(struct cbx_mcp_sessions *sessions, struct cbx_str id, int rank);
int cbx_mcp_session_level(struct cbx_mcp_sessions *sessions, struct cbx_str id);

/* --- calls ------------------------------------------------------------------------------------ */

/* A running request of the client; of its thread, between _begin and _end. */
struct cbx_mcp_call {
    struct cbx_mcp_call *next;
    const void *session; /* NULL = none, or it ended */
    const json_t *id;    /* id of the request; borrowed */
    atomic_bool cancelled;
};
void cbx_mcp_session_begin_call(struct cbx_mcp_sessions *sessions, struct cbx_str id,
                                const json_t *request, struct cbx_mcp_call *call);
void cbx_mcp_session_end_call(struct cbx_mcp_sessions *sessions, const struct cbx_mcp_call *call);

/* Cancels the session's call with this request id; no effect on an unknown or ended one. */
void cbx_mcp_session_cancel(struct cbx_mcp_sessions *sessions, struct cbx_str id,
                            const json_t *request);

/* --- requests to the client ------------------------------------------------------------------- */

/* The transport of a request to the client, and the wait for its response. */
struct cbx_mcp_asker {
    void (*send)(void *context, struct cbx_str line); /* a line with its end */
    /* Called about every second; false ends the waiting. May be NULL. */
    bool (*goes_on)(void *context);
    void *context;
    int wait_ms;
};

/* Sends {"method", "params"} as a request and waits for the response. *result is a new
 * reference. CBX_ETIMEDOUT without a response in time; CBX_EIO if the client responded with an
 * error, goes_on ended the wait, or the session ended; CBX_EBUSY if too many requests wait. */
int cbx_mcp_session_ask(struct cbx_mcp_sessions *sessions, struct cbx_str id,
                        const json_t *question, const struct cbx_mcp_asker *asker, json_t **result,
                        struct cbx_err *err);

/* Passes a response of the client to the waiting request of the same session; no effect if none
 * waits. */
void cbx_mcp_session_answer(struct cbx_mcp_sessions *sessions, struct cbx_str id,
                            const json_t *response);

#endif
