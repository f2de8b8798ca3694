/* SPDX-License-Identifier: MIT
 * The contents that `--conformance` serves instead of the gateway's own tools, resources and
 * prompts: the fixtures that the conformance suite of MCP calls by name (fixtures.def). They run
 * nothing and read nothing; they test the dispatcher, both eras and the transports. */
#ifndef CBX_GATEWAY_FRONT_MCP_FIXTURES_H
#define CBX_GATEWAY_FRONT_MCP_FIXTURES_H

#include "gateway/front/mcp/protocol/mcp.h"

/* State of the fixtures between requests. */
struct cbx_mcp_fixtures {
    struct cbx_request_key key;
    struct cbx_mcp_sessions *sessions; /* borrowed */
};

/* Makes a new key; the sessions are the server's. */
void cbx_mcp_fixtures_init(struct cbx_mcp_fixtures *fixtures, struct cbx_mcp_sessions *sessions);

/* A request, borrowed. */
struct cbx_mcp_fixture_request {
    struct cbx_str method;
    const json_t *params;            /* NULL = none */
    const json_t *capabilities;      /* declared capabilities of the client; NULL = none */
    const struct cbx_mcp_peer *peer; /* may be NULL */
    bool stateless;
    bool logs; /* true if the client accepts log messages of the level info */
};

/* The capabilities of a server with fixtures (new reference). */
json_t *cbx_mcp_fixtures_capabilities(bool stateless);

/* True if messages may be sent before the response. */
bool cbx_mcp_fixtures_send(const struct cbx_mcp_fixture_request *request);

/* False if the request needs a capability that its client did not declare: *required is then an
 * object with the required ones (new reference). */
bool cbx_mcp_fixtures_allow(const struct cbx_mcp_fixture_request *request, json_t **required);

/* Handles a request for a list, a tool, a prompt, a resource or a completion. *result is a new
 * reference; in the stateless era it may be "input_required". In the handshake era the client
 * receives requests, and this call waits for the responses. CBX_ENOTFOUND for a name or URI that
 * does not exist; CBX_EINVAL for wrong params and for a requestState that is not the server's;
 * CBX_EIO if the client did not respond. */
int cbx_mcp_fixtures_answer(const struct cbx_mcp_fixtures *fixtures,
                            const struct cbx_mcp_fixture_request *request, json_t **result,
                            struct cbx_err *err);

#endif
