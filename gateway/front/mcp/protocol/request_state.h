/* SPDX-License-Identifier: MIT
 * State of a request that its client keeps between rounds (requestState of MCP, 2026-07-28):
 * text that only the server can make, for one principal and for a limited time. The client can
 * read it, and can send it more than once. */
#ifndef CBX_GATEWAY_FRONT_MCP_PROTOCOL_REQUEST_STATE_H
#define CBX_GATEWAY_FRONT_MCP_PROTOCOL_REQUEST_STATE_H

#include "policies/base/hash.h"
#include "policies/base/text/json.h"

enum { CBX_REQUEST_STATE_MAX = 64 * 1024 /* bytes of the text */ };

/* A key of HMAC-SHA256. Each process makes its own: texts of another process are refused. */
struct cbx_request_key {
    uint8_t bytes[CBX_SHA256_BYTES];
};

/* Fills it with random bytes. */
void cbx_request_key_init(struct cbx_request_key *key);

/* Appends the text for a JSON value. `expires_ms` is compared with `now_ms` of
 * cbx_request_state_open, so both must be of one clock. CBX_ETOOBIG if the text is longer than
 * CBX_REQUEST_STATE_MAX; nothing is appended then. */
int cbx_request_state_seal(const struct cbx_request_key *key, const json_t *state,
                           struct cbx_str principal, int64_t expires_ms, struct cbx_buf *out);

/* Returns the value in a text sealed with this key for this principal; *out is a new reference.
 * CBX_EINVAL for any other text; CBX_ESTALE after its expiry. */
int cbx_request_state_open(const struct cbx_request_key *key, struct cbx_str text,
                           struct cbx_str principal, int64_t now_ms, json_t **out,
                           struct cbx_err *err);

#endif
