/* SPDX-License-Identifier: MIT
 * The entrance. */
#include "gateway/front/entrance.h"

#include "gateway/front/mcp/http.h"
#include "gateway/front/rest/rest.h"
#include "policies/base/clock.h"
#include "policies/base/log.h"

#define METADATA "/.well-known/oauth-protected-resource"

static bool is_get(const struct cbx_http_request *request)
{
    return cbx_str_is(request->method, "GET");
}

/* RFC 9728, section 3.1: the path of the resource is behind that of the metadata. */
static bool answer_metadata(const struct cbx_entrance *entrance,
                            const struct cbx_http_request *request, struct cbx_http_response *out)
{
    struct cbx_str at = CBX_STR(METADATA);
    if (!is_get(request) || !cbx_str_starts(request->path, at)) {
        return false;
    }
    struct cbx_str path = cbx_str_sub(request->path, at.len, request->path.len);
    json_t *json = path.len == 0 || cbx_str_is(path, "/mcp")
                       ? cbx_identity_metadata(entrance->identity, path.len == 0 ? "" : "/mcp")
                       : NULL;
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

static void serve(const struct cbx_entrance *entrance, const struct cbx_http_request *asked,
                  struct cbx_http_response *out)
{
    struct cbx_http_request request = *asked;
    struct cbx_caller caller = { 0 };
    struct cbx_auth_refusal refusal;
    struct cbx_credentials credentials = { .authorization = request.authorization,
                                           .has_peer = request.has_peer,
                                           .peer = request.peer };
    request.caller = &caller; /* of a public route it may be nobody: zeroed */
    if (answer_metadata(entrance, &request, out) || cbx_page_handle(&entrance->page, asked, out)) {
        return;
    }
    bool known = cbx_identity_authenticate(entrance->identity, &credentials, cbx_clock_ms(),
                                           &caller, &refusal);
    if (!known && !cbx_rest_is_public(request.method, request.path)) {
        refuse(&request, &refusal, out);
    } else if (cbx_str_is(request.path, "/mcp")) {
        cbx_mcp_http(entrance->mcp, &request, out);
    } else {
        cbx_rest_handle(entrance->service, &request, out);
    }
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
