/* SPDX-License-Identifier: MIT
 * The entrance. */
#include "gateway/front/entrance.h"

#include "gateway/front/access.h"
#include "gateway/front/forward/forward.h"
#include "gateway/front/forward/owner.h"
#include "gateway/front/forward/replica_watch.h"
#include "gateway/front/jobs/takeover.h"
#include "gateway/front/mcp/protocol/http.h"
#include "gateway/front/mcp/protocol/jsonrpc.h"
#include "gateway/front/rest/rest.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>

#define METADATA "/.well-known/oauth-protected-resource"

static bool is_get(const struct cbx_http_request *request)
{
    return cbx_str_is(request->method, "GET");
}

enum { ORIGIN_BYTES = 300 };

/* The origin by which the client reached the gateway: the server has checked that Host is one of
 * its names. */
static const char *write_origin(const struct cbx_http_request *request, char out[ORIGIN_BYTES])
{
    if (request->host.len == 0 || request->host.len >= ORIGIN_BYTES - sizeof("https://")) {
        return NULL;
    }
    snprintf(out, ORIGIN_BYTES, "%s://%.*s", request->https ? "https" : "http",
             CBX_STR_ARG(request->host));
    return out;
}

/* RFC 9728, section 3.1: the path of the resource follows the path of the metadata. */
static bool answer_metadata(const struct cbx_entrance *entrance,
                            const struct cbx_http_request *request, const char *origin,
                            struct cbx_http_response *out)
{
    struct cbx_str at = CBX_STR(METADATA);
    if (!is_get(request) || !cbx_str_starts(request->path, at)) {
        return false;
    }
    struct cbx_str path = cbx_str_sub(request->path, at.len, request->path.len);
    json_t *json = NULL;
    if (path.len == 0 || cbx_str_is(path, "/mcp")) {
        json = cbx_identity_metadata(entrance->identity, origin, path.len == 0 ? "" : "/mcp");
    }
    if (json == NULL) {
        cbx_rest_refuse(404, "this gateway has no issuers of tokens", out);
    } else {
        out->status = 200;
        out->json = json;
    }
    return true;
}

static void refuse(const struct cbx_http_request *request, const struct cbx_auth_refusal *refusal,
                   struct cbx_http_response *out)
{
    cbx_log(CBX_LOG_DEBUG, "request %s: answered %d: %s", request->id, refusal->status,
            refusal->text);
    cbx_rest_refuse(refusal->status, refusal->text, out);
    out->retry_s = refusal->retry_s;
    snprintf(out->challenge, sizeof(out->challenge), "%s", refusal->challenge);
}

/* Records an invalid credential, or a principal that may not use the gateway. A client without a
 * credential only asks how to be authenticated. */
static void note_refusal(const struct cbx_entrance *entrance,
                         const struct cbx_http_request *request,
                         const struct cbx_auth_refusal *refusal)
{
    struct cbx_claims claims = { 0 };
    bool refused = refusal->status == 401 || refusal->status == 403;
    if (refused && (request->authorization.p != NULL || request->has_peer)) {
        cbx_claims_read_http(request, &claims);
        cbx_access_note(entrance->service->flow, CBX_ACCESS_REFUSED_CREDENTIAL,
                        &(struct cbx_access_entry){ .reason = refusal->text }, &claims);
    }
}

/* --- requests at the same time ---------------------------------------------------------------- */

/* A request that counts towards the caller's limit. Its exchange holds it until the client has
 * the response; the call of MCP also until it returns, because a call by events continues after
 * its client disconnects. */
struct counted {
    struct cbx_quotas *quotas;
    atomic_int holders;
    char principal[CBX_NAME_MAX + 1];
};

static void drop_counted(void *context)
{
    struct counted *c = context;
    if (c != NULL && atomic_fetch_sub(&c->holders, 1) == 1) {
        cbx_quotas_end(c->quotas, c->principal);
        free(c);
    }
}

/* True for requests that end, or answer, a running one: a caller at its limit could do neither
 * otherwise. */
static bool is_about_another(const struct cbx_http_request *request)
{
    static const struct cbx_str ends[] = { CBX_STR("/cancel"), CBX_STR("/interrupt"),
                                           CBX_STR("/input") };
    bool about = false;
    if (cbx_str_is(request->path, "/mcp")) {
        CBX_AUTO_DONE(rpc_message) message = { 0 };
        struct cbx_err err;
        return cbx_rpc_read(request->body, &message, &err) == 0 && message.kind != CBX_RPC_REQUEST;
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        about |= cbx_str_is(request->method, "POST") && cbx_str_ends(request->path, ends[i]);
    }
    return about;
}

/* False if the caller is at its limit. *out is NULL for a caller without a limit; else it is for
 * drop_counted. */
static bool count(const struct cbx_entrance *entrance, const struct cbx_http_request *request,
                  const struct cbx_caller *caller, struct counted **out,
                  struct cbx_auth_refusal *refusal)
{
    struct cbx_err err = { 0 };
    struct cbx_quotas *quotas = cbx_identity_quotas(entrance->identity);
    bool counted;
    *out = NULL;
    int failed = cbx_quotas_begin(quotas, caller, &counted, &err);
    if (failed && is_about_another(request)) {
        return true;
    }
    if (failed) {
        cbx_http_drop_gone(request->exchange); /* the next request may succeed */
        *refusal = (struct cbx_auth_refusal){ .status = 429, .retry_s = err.retry_s };
        snprintf(refusal->text, sizeof(refusal->text), "%s", err.text);
        return false;
    }
    if (counted) {
        struct counted *c = cbx_new(sizeof(*c));
        c->quotas = quotas;
        c->holders = 2;
        snprintf(c->principal, sizeof(c->principal), "%s", caller->principal);
        cbx_http_on_end(request->exchange, drop_counted, c);
        *out = c;
    }
    return true;
}

/* Copies the caller's credential: the request ends with its response, and its handler continues. */
static char *copy_proof(const struct cbx_http_request *request)
{
    return cbx_str_copy(request->authorization);
}

static void drop_proof(char *proof)
{
    explicit_bzero(proof, strlen(proof));
    free(proof);
}

/* --- other replicas --------------------------------------------------------------------------- */

/* A call of MCP may be of a session of the protocol here and name an object there: the other
 * replica serves it without the session, and its cancellation, which comes here, is noted here. */
static void send_to(const struct cbx_entrance *entrance, const struct cbx_replica *owner,
                    const struct cbx_http_request *request, struct cbx_http_response *out)
{
    struct cbx_forwarder *forwarder = entrance->service->forwarder;
    struct cbx_http_request sent = *request;
    struct cbx_mcp_call call = { 0 };
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    struct cbx_err err;
    bool is_call =
        cbx_str_is(request->path, "/mcp") && request->mcp.session.p != NULL &&
        cbx_replicas_owner(cbx_forwarder_replicas(forwarder), request->mcp.session) != owner &&
        cbx_rpc_read(request->body, &message, &err) == 0;
    if (!is_call) {
        cbx_forward(forwarder, owner, request, NULL, out);
        return;
    }
    CBX_AUTO_MEM char *session = cbx_str_copy(request->mcp.session);
    sent.mcp.session = (struct cbx_str){ 0 };
    cbx_mcp_session_begin_call(entrance->mcp->sessions, cbx_str_of(session),
                               json_object_get(message.json, "id"), &call);
    cbx_forward(forwarder, owner, &sent, &call.cancelled, out);
    cbx_mcp_session_end_call(entrance->mcp->sessions, &call);
}

/* What an execution gave is in the store: of a replica that is away, others read it where they
 * share the database. */
static bool is_in_store(const struct cbx_service *service, const struct cbx_replica *owner,
                        const struct cbx_http_request *request)
{
    size_t index = (size_t)(owner - cbx_forwarder_replicas(service->forwarder)->others);
    bool stored = cbx_str_starts(request->path, CBX_STR("/v1/executions/")) ||
                  cbx_str_starts(request->path, CBX_STR("/execute/"));
    return stored && is_get(request) && cbx_store_is_shared(service->store) &&
           !cbx_replica_watch_is_up(service->replica_watch, index);
}

/* Forwards the request, if another replica serves it; `caller` is NULL for a request of the page,
 * whose cookie only the replica of its login knows. A forwarded request is not forwarded again.
 * False, without an effect, if this replica serves it. */
static bool forward(const struct cbx_entrance *entrance, const struct cbx_http_request *request,
                    const struct cbx_caller *caller, struct cbx_http_response *out)
{
    struct cbx_forwarder *forwarder = entrance->service->forwarder;
    const struct cbx_replica *owner = NULL;
    if (forwarder == NULL) {
        return false;
    }
    if (request->replica.len > 0) {
        cbx_takeover_await(entrance->service->takeover);
        return false;
    }
    const struct cbx_replicas *replicas = cbx_forwarder_replicas(forwarder);
    if (caller != NULL) {
        const struct cbx_owners owners = { .replicas = replicas,
                                           .takeover = entrance->service->takeover };
        owner = cbx_owner_find(&owners, request, caller->principal);
    } else if (cbx_owner_is_of_page(request->path)) {
        owner = cbx_owner_of_cookie(replicas, request->cookie);
    }
    if (owner == NULL || is_in_store(entrance->service, owner, request)) {
        return false;
    }
    if (request->has_peer) {
        char text[300];
        snprintf(text, sizeof(text),
                 "replica '%s' has this; callers of the Unix socket can use what replica '%s' has",
                 owner->name, replicas->own_name);
        cbx_rest_refuse(421, text, out);
        return true;
    }
    send_to(entrance, owner, request, out);
    return true;
}

/* A call of MCP that names an object of this replica in a session of another one is served without
 * the session, as one that is forwarded. */
static void leave_session(const struct cbx_entrance *entrance, struct cbx_http_request *request)
{
    const struct cbx_forwarder *forwarder = entrance->service->forwarder;
    if (forwarder != NULL &&
        cbx_replicas_owner(cbx_forwarder_replicas(forwarder), request->mcp.session) != NULL) {
        request->mcp.session = (struct cbx_str){ 0 };
    }
}

/* Two gateways with one name would forward to each other, or take each other's objects for their
 * own. */
static bool is_twin(const struct cbx_entrance *entrance, const struct cbx_http_request *request,
                    struct cbx_http_response *out)
{
    const struct cbx_forwarder *forwarder = entrance->service->forwarder;
    if (forwarder == NULL || request->replica.len == 0 ||
        cbx_replicas_find(cbx_forwarder_replicas(forwarder), request->replica) != NULL) {
        return false;
    }
    cbx_rest_refuse(421,
                    "the replica that forwards this has a name that --peer of this replica does "
                    "not have",
                    out);
    return true;
}

/* --- serving ---------------------------------------------------------------------------------- */

static void serve(const struct cbx_entrance *entrance, const struct cbx_http_request *asked,
                  struct cbx_http_response *out)
{
    struct cbx_http_request request = *asked;
    struct cbx_caller caller = { 0 };
    struct cbx_auth_refusal refusal;
    char text[ORIGIN_BYTES];
    const char *origin = write_origin(asked, text);
    struct cbx_credentials credentials = { .authorization = request.authorization,
                                           .has_peer = request.has_peer,
                                           .peer = request.peer,
                                           .origin = origin,
                                           .is_counted = entrance->service->shared_quotas != NULL &&
                                                         request.replica.len > 0 };
    request.caller = &caller; /* on a public route it may be unknown: zeroed */
    if (is_twin(entrance, asked, out) || forward(entrance, asked, NULL, out)) {
        return;
    }
    if (answer_metadata(entrance, &request, origin, out) ||
        cbx_page_handle(&entrance->page, asked, out)) {
        return;
    }
    struct counted *counted = NULL;
    char *proof = copy_proof(asked);
    /* the request does not exist after the response */
    bool is_mcp = cbx_str_is(request.path, "/mcp");
    bool known = cbx_identity_authenticate(entrance->identity, &credentials, cbx_clock_ms(),
                                           &caller, &refusal);
    caller.proof = cbx_str_of(proof);
    if (known && !count(entrance, asked, &caller, &counted, &refusal)) {
        known = false;
        caller = (struct cbx_caller){ 0 };
    }
    if (!known && !cbx_rest_is_public(request.method, request.path)) {
        note_refusal(entrance, &request, &refusal);
        refuse(&request, &refusal, out);
    } else if (known && forward(entrance, &request, &caller, out)) {
        drop_counted(counted);
    } else if (is_mcp) {
        leave_session(entrance, &request);
        cbx_mcp_http(entrance->mcp, &request, out);
        drop_counted(counted);
    } else {
        drop_counted(counted);
        cbx_rest_handle(entrance->service, &request, out);
    }
    drop_proof(proof);
}

void cbx_entrance_handle(void *context, const struct cbx_http_request *request,
                         struct cbx_http_response *out)
{
    struct cbx_entrance *entrance = context;
    if (cbx_service_says_stop(entrance->service) && !is_get(request)) {
        cbx_rest_refuse(503, "the gateway is stopping; try again after the restart", out);
        return;
    }
    entrance->in_work++;
    serve(entrance, request, out);
    entrance->in_work--;
}
