/* SPDX-License-Identifier: MIT
 * What a client says of itself and of a call, for the audit log. Nothing of it is verified, nothing
 * is decided by it, and a claim that is malformed or too long never fails a call. Beside it the credential that the
 * front did verify, which takes the same way. */
#ifndef CBX_GATEWAY_FRONT_MCP_CLAIMS_H
#define CBX_GATEWAY_FRONT_MCP_CLAIMS_H

#include "gateway/front/http/http_server.h"
#include "gateway/identity/caller.h"

/* One text per claim of subject.def, and the credential, terminated; empty = nothing was said. */
struct cbx_claims {
    struct cbx_str proof,
        voucher_subject; /* as subjects have them; borrowed. Neither written nor read */
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) char member[(max_bytes) + 1];
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
};

/* Reads {name, version}. What is no text is nothing; long texts are cut. NULL is fine. */
void cbx_claims_read_client(const json_t *client_info, struct cbx_claims *claims);

/* Adds what a request says: `id` as JSON, and from its _meta (NULL = none) the client, the trace
 * (traceparent of W3C Trace Context; malformed ones are nothing) and the tool use (claims.def). */
void cbx_claims_read_request(const char *id, const json_t *meta, struct cbx_claims *claims);

/* Sets what the caller proved itself with, and borrows its proof. Nothing that a client sends changes it. */
void cbx_claims_prove(const struct cbx_caller *caller, struct cbx_claims *claims);

/* Sets what HTTP has of the request: where it came from, its id, and the trace that a well-formed header `traceparent` has. */
void cbx_claims_read_http(const struct cbx_http_request *request, struct cbx_claims *claims);

/* Writes the claims that are not empty into the JSON object `into`, and reads what was written. */
void cbx_claims_write(const struct cbx_claims *claims, json_t *into);
void cbx_claims_read(const json_t *from, struct cbx_claims *claims);

/* Points the claims of the subject to these. NULL is fine. */
void cbx_claims_lend(const struct cbx_claims *claims, struct cbx_subject *subject);

#endif
