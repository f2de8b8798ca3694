/* SPDX-License-Identifier: MIT
 * Sessions of the handshake era over HTTP: what a client declared by initialize, and the requests of the server
 * that it has to answer. In memory, and a limited number: the one that was opened first makes room. All
 * functions are thread-safe. */
#ifndef CBX_GATEWAY_FRONT_MCP_SESSIONS_H
#define CBX_GATEWAY_FRONT_MCP_SESSIONS_H

#include "policies/base/hash.h"
#include "policies/base/json.h"

enum { CBX_MCP_SESSION_ID = CBX_SHA256_HEX };

struct cbx_mcp_sessions;

/* An empty table; owned by the caller. No thread may wait in it when it is freed: cbx_mcp_sessions_stop. */
struct cbx_mcp_sessions *cbx_mcp_sessions_new(void);
void cbx_mcp_sessions_free(struct cbx_mcp_sessions *sessions);

/* Ends all sessions, and all requests that wait for an answer; no further one can be opened. */
void cbx_mcp_sessions_stop(struct cbx_mcp_sessions *sessions);

/* Opens a session and writes its id, 64 hexadecimal digits that cannot be guessed, and a NUL. False after
 * cbx_mcp_sessions_stop. */
bool cbx_mcp_session_open(struct cbx_mcp_sessions *sessions, const json_t *capabilities,
                          char id[CBX_MCP_SESSION_ID + 1]);

/* Ends it; false when there is none with this id. */
bool cbx_mcp_session_close(struct cbx_mcp_sessions *sessions, struct cbx_str id);

bool cbx_mcp_session_exists(struct cbx_mcp_sessions *sessions, struct cbx_str id);

/* What the client declared, a new reference; NULL when there is no such session. */
json_t *cbx_mcp_session_capabilities(struct cbx_mcp_sessions *sessions, struct cbx_str id);

/* The rank of the least severe log message that the client takes: 0 until it is set, and without a
 * session. */
void cbx_mcp_session_set_level(struct cbx_mcp_sessions *sessions, struct cbx_str id, int rank);
int cbx_mcp_session_level(struct cbx_mcp_sessions *sessions, struct cbx_str id);

/* Sends {"method", "params"} as a request by `send`, a line with its end, and waits up to 30 s for the answer.
 * *result is a new reference. CBX_EIO when the client answers with an error, not in time, or the session ends. */
int cbx_mcp_session_ask(struct cbx_mcp_sessions *sessions, struct cbx_str id,
                        const json_t *question, void (*send)(void *context, struct cbx_str line),
                        void *context, json_t **result, struct cbx_err *err);

/* Hands a response of the client to the request that waits for it; no effect when none does. */
void cbx_mcp_session_answer(struct cbx_mcp_sessions *sessions, struct cbx_str id,
                            const json_t *response);

#endif
