/* SPDX-License-Identifier: MIT
 * Types shared by the parts of the MCP server: the service behind it, and the client of a
 * request. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_H

#include "gateway/front/mcp/mcp_sessions.h"
#include "gateway/front/mcp/protocol/request_state.h"
#include "gateway/front/service/service.h"
#include "gateway/identity/caller.h"

struct cbx_mcp_contents; /* mcp_contents.h */

/* The server. The service is borrowed. */
struct cbx_mcp {
    struct cbx_service *service;
    struct cbx_mcp_sessions *sessions; /* owned */
    struct cbx_request_key states;     /* key of the states that clients keep (request_state.h) */
    int64_t idle_ms; /* time without a run after which a session is closed; 0 = not reported */
    pthread_mutex_t lock;
    pthread_cond_t ended; /* an execution ended */
    /* Served instead of tools, resources and prompts; borrowed. NULL = none. */
    const struct cbx_mcp_contents *contents;
};

/* Initialises without sessions, with a new key. No request may be running at cbx_mcp_done
 * (cbx_mcp_sessions_stop). */
void cbx_mcp_init(struct cbx_mcp *mcp, struct cbx_service *service, int64_t idle_ms);
void cbx_mcp_done(struct cbx_mcp *mcp);

/* The transport's interface to the client of one request. Borrowed during the request. */
struct cbx_mcp_peer {
    /* returns true to interrupt the program; may be NULL */
    bool (*is_cancelled)(void *context);
    /* Sends a notification (a line of JSON with its end) that belongs to the request; may be
     * NULL. */
    void (*notify)(void *context, struct cbx_str line);
    /* Keeps an idle connection open; may be NULL. */
    void (*keep_alive)(void *context);
    /* Returns true if no response can reach the client any more, so no question should wait; may
     * be NULL. */
    bool (*is_gone)(void *context);
    void *context;
    struct cbx_str session;          /* id of its session in mcp_sessions.h; {NULL, 0} = none */
    const struct cbx_caller *caller; /* NULL: the only user of this process */
};

/* Returns the caller of this client's request; `peer` may be NULL. */
static inline const struct cbx_caller *cbx_mcp_caller(const struct cbx_mcp_peer *peer)
{
    return peer != NULL && peer->caller != NULL ? peer->caller : cbx_caller_local();
}

/* Returns the policy of the caller's calls (borrowed); NULL if there is none, with the error of
 * cbx_caller_policy. */
static inline const struct cbx_policy *
cbx_mcp_policy(const struct cbx_mcp *mcp, const struct cbx_caller *caller, struct cbx_err *err)
{
    const struct cbx_policy *policy = NULL;
    return cbx_caller_policy(caller, cbx_flow_policies(mcp->service->flow), CBX_STR(""), &policy,
                             err) == 0
               ? policy
               : NULL;
}

#endif
