/* SPDX-License-Identifier: MIT
 * Contents that the MCP server serves in place of the gateway's tools, resources and prompts. The
 * product has none. tests/clients/fixtures links another definition of cbx_mcp_contents_of, which
 * has the fixtures that MCP's conformance suite calls by name. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_CONTENTS_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_MCP_CONTENTS_H

#include "gateway/front/mcp/protocol/mcp.h"

/* A request, borrowed. */
struct cbx_mcp_request {
    struct cbx_str method;
    const json_t *params;            /* NULL = none */
    const json_t *capabilities;      /* declared capabilities of the client; NULL = none */
    const struct cbx_mcp_peer *peer; /* may be NULL */
    bool stateless;
    bool logs; /* true if the client accepts log messages of the level info */
};

struct cbx_mcp_contents {
    /* Returns the capabilities of the server (new reference). */
    json_t *(*capabilities)(bool stateless);

    /* Returns true if messages may be sent before the response. */
    bool (*sends)(const struct cbx_mcp_request *request);

    /* Returns false if the request needs a capability that its client did not declare: *required is
     * then an object with the required ones (new reference). */
    bool (*allows)(const struct cbx_mcp_request *request, json_t **required);

    /* Handles a request for a list, a tool, a prompt, a resource or a completion. *result is a new
     * reference; in the stateless era it may be "input_required". In the handshake era the client
     * receives requests, and this call waits for the responses. CBX_ENOTFOUND for a name or URI
     * that does not exist; CBX_EINVAL for wrong params and for a requestState that is not the
     * server's; CBX_EIO if the client did not respond. */
    int (*answer)(const struct cbx_mcp_request *request, json_t **result, struct cbx_err *err);
};

/* Returns the contents of a server with these sessions (borrowed); NULL = the gateway's. */
const struct cbx_mcp_contents *cbx_mcp_contents_of(struct cbx_mcp_sessions *sessions);

#endif
