/* SPDX-License-Identifier: MIT
 * What the parts of the MCP server share: the service behind it, and the client of a request. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_H

#include "gateway/front/mcp/mcp_sessions.h"
#include "gateway/front/mcp/protocol/request_state.h"
#include "gateway/front/service/service.h"
#include "gateway/identity/caller.h"

struct cbx_mcp_fixtures; /* fixtures.h */

/* The server. The service is borrowed. */
struct cbx_mcp {
    struct cbx_service *service;
    struct cbx_mcp_sessions *sessions; /* owned */
    struct cbx_request_key states;     /* of the questions that clients keep (request_state.h) */
    int64_t idle_ms; /* a session without a run for this long is closed; 0 = not told */
    pthread_mutex_t lock;
    pthread_cond_t ended; /* an execution ended */
    /* Served in the place of tools, resources and prompts; borrowed. NULL = none. */
    const struct cbx_mcp_fixtures *fixtures;
};

/* No sessions, and a key of its own. Before cbx_mcp_done no request may be in work (cbx_mcp_sessions_stop). */
void cbx_mcp_init(struct cbx_mcp *mcp, struct cbx_service *service, int64_t idle_ms);
void cbx_mcp_done(struct cbx_mcp *mcp);

/* The client of one request, as its transport reaches it. Borrowed for the length of the request. */
struct cbx_mcp_peer {
    bool (*is_cancelled)(void *context); /* then the program is interrupted; may be NULL */
    /* Sends a notification (a line of JSON with its end) that belongs to the request; may be NULL. */
    void (*notify)(void *context, struct cbx_str line);
    /* Keeps an idle connection open; may be NULL. */
    void (*keep_alive)(void *context);
    /* True when no answer can reach the client any more, so that no question is to be waited for; may be NULL. */
    bool (*is_gone)(void *context);
    void *context;
    struct cbx_str session;          /* its id in mcp_sessions.h; {NULL, 0} = none */
    const struct cbx_caller *caller; /* NULL: the only user of this process */
};

/* Who makes the request of this client; `peer` may be NULL. */
static inline const struct cbx_caller *cbx_mcp_caller(const struct cbx_mcp_peer *peer)
{
    return peer != NULL && peer->caller != NULL ? peer->caller : cbx_caller_local();
}

/* The policy of the caller's calls (borrowed); NULL when there is none, with the error of cbx_caller_policy. */
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
