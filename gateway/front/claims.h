/* SPDX-License-Identifier: MIT
 * A client's claims about itself and a call, for the audit log. The front verifies no claim and
 * decides nothing by it, and a claim that is malformed or too long never fails a call. Also the
 * credential that the front did verify, which is passed on in the same way. */
#ifndef CBX_GATEWAY_FRONT_MCP_CLAIMS_H
#define CBX_GATEWAY_FRONT_MCP_CLAIMS_H

#include "gateway/front/http/http_server.h"
#include "gateway/identity/caller.h"

/* One text per claim of subject.def, and the credential, terminated; empty = no claim. */
struct cbx_claims {
    struct cbx_str proof, voucher_subject; /* as in subjects; borrowed. Neither written nor read */
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning) char member[(max_bytes) + 1];
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
};

/* Reads {name, version}. Other types than text are ignored; long texts are cut. NULL is fine. */
void cbx_claims_read_client(const json_t *client_info, struct cbx_claims *claims);

/* Adds the claims of a request: `id` as JSON, and from its _meta (NULL = none) the client, the
 * trace (traceparent of W3C Trace Context; malformed ones are ignored) and the tool use
 * (claims.def). */
void cbx_claims_read_request(const char *id, const json_t *meta, struct cbx_claims *claims);

/* Sets the credential of the caller, and borrows its proof. No data of a client changes it. */
void cbx_claims_prove(const struct cbx_caller *caller, struct cbx_claims *claims);

/* Sets the HTTP data of the request: its origin, its id, and the trace of a well-formed header
 * `traceparent`. */
void cbx_claims_read_http(const struct cbx_http_request *request, struct cbx_claims *claims);

/* Write the claims that are not empty into the JSON object `into`, and read them back. */
void cbx_claims_write(const struct cbx_claims *claims, json_t *into);
void cbx_claims_read(const json_t *from, struct cbx_claims *claims);

/* Points the claims of the subject to these. NULL is fine. */
void cbx_claims_lend(const struct cbx_claims *claims, struct cbx_subject *subject);

#endif
