/* SPDX-License-Identifier: MIT
 * MCP methods, in both eras. */
#include "gateway/front/mcp/protocol/mcp_server.h"
#include "gateway/front/mcp/protocol/mcp_contents.h"

#include "gateway/front/mcp/prompts.h"
#include "gateway/front/mcp/protocol/headers.h"
#include "gateway/front/mcp/resources.h"
#include "gateway/front/mcp/tools/content.h"
#include "gateway/front/mcp/tools/mcp_approval.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"
#include "policies/release.h"

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_CLIENT       "io.modelcontextprotocol/clientInfo"
#define META_SERVER       "io.modelcontextprotocol/serverInfo"
#define META_LOG_LEVEL    "io.modelcontextprotocol/logLevel"

#define STATELESS_VERSION "2026-07-28"
static const char *const handshake_versions[] = { "2025-11-25", "2025-06-18", "2025-03-26",
                                                  "2024-11-05" };
enum {
    HANDSHAKE_VERSIONS = sizeof(handshake_versions) / sizeof(handshake_versions[0]),
    LIST_TTL_MS = 300000,
    RESOURCE_MAX = 4 * 1024 * 1024 /* bytes of a resource in one response */
};

enum era { ERA_HANDSHAKE = 1, ERA_STATELESS = 2 };

/* One request on its way to its response. */
struct exchange {
    struct cbx_mcp *mcp;
    const struct cbx_rpc_message *request;
    const struct cbx_mcp_peer *peer;
    enum era era;
    json_t *data; /* data of an error; owned */
};

/* --- which era -------------------------------------------------------------------------------- */

static int fail_version(struct exchange *x, struct cbx_str requested, struct cbx_err *err)
{
    x->data = json_pack("{s:[s],s:o}", "supported", STATELESS_VERSION, "requested",
                        cbx_json_text(requested));
    cbx_fail(err, CBX_EINVAL,
             "protocol version '%.*s' is not served in _meta, supported is " STATELESS_VERSION
             "; older ones begin with initialize",
             CBX_STR_SHOWN(requested));
    return CBX_RPC_UNSUPPORTED_VERSION;
}

static int fail_params(struct cbx_err *err, const char *text)
{
    cbx_fail(err, CBX_EINVAL, "%s", text);
    return CBX_RPC_INVALID_PARAMS;
}

enum { RANK_INFO = 1 };

/* Returns the rank of a log level in the order of severity; -1 for an unknown name. */
static int rank_level(const json_t *level)
{
    static const char *const levels[] = { "debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency" };
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (cbx_str_is(cbx_json_str(level), levels[i])) {
            return (int)i;
        }
    }
    return -1;
}

/* Only other contents send log messages; otherwise a level is checked and has no effect. */
static int check_log_level(const json_t *level, struct cbx_err *err)
{
    if (rank_level(level) >= 0) {
        return 0;
    }
    cbx_fail(err, CBX_EINVAL,
             "the log level is '%.*s', allowed are: debug, info, notice, warning, error, critical, "
             "alert, emergency",
             CBX_STR_SHOWN(cbx_json_str(level)));
    return CBX_RPC_INVALID_PARAMS;
}

static int check_claim(struct exchange *x, const json_t *meta, struct cbx_err *err)
{
    const json_t *version = json_object_get(meta, META_VERSION);
    const json_t *client = json_object_get(meta, META_CLIENT);
    const json_t *level = json_object_get(meta, META_LOG_LEVEL);
    if (!json_is_string(version)) {
        return fail_params(err, "_meta: " META_VERSION " must be a string");
    }
    if (!json_is_object(json_object_get(meta, META_CAPABILITIES))) {
        return fail_params(err, "_meta: " META_CAPABILITIES " is missing or no object");
    }
    if (client != NULL && !json_is_object(client)) {
        return fail_params(err, "_meta: " META_CLIENT " must be an object");
    }
    if (!cbx_str_is(cbx_json_str(version), STATELESS_VERSION)) {
        return fail_version(x, cbx_json_str(version), err);
    }
    if (level != NULL) {
        return check_log_level(level, err);
    }
    return 0;
}

static int read_era(struct exchange *x, struct cbx_err *err)
{
    const json_t *meta = json_object_get(x->request->params, "_meta");
    x->era = json_object_get(meta, META_VERSION) != NULL ? ERA_STATELESS : ERA_HANDSHAKE;
    if (x->era == ERA_STATELESS) {
        return check_claim(x, meta, err);
    }
    return 0;
}

/* --- the methods ------------------------------------------------------------------------------ */

static json_t *make_server_info(void)
{
    return json_pack("{s:s,s:s,s:s}", "name", "codebox", "title", "codebox", "version",
                     CBX_VERSION);
}

static json_t *make_capabilities(const struct exchange *x)
{
    return x->mcp->contents != NULL
               ? x->mcp->contents->capabilities(x->era == ERA_STATELESS)
               : json_pack("{s:{},s:{},s:{}}", "tools", "resources", "prompts");
}

static const struct cbx_policy *policy_of(const struct exchange *x)
{
    return cbx_mcp_policy(x->mcp, cbx_mcp_caller(x->peer), NULL);
}

/* Responds with the requested version if it is one of this era, else the newest of the era. */
static int answer_initialize(struct exchange *x, json_t **result, struct cbx_err *err)
{
    struct cbx_str requested = cbx_json_str(json_object_get(x->request->params, "protocolVersion"));
    const char *version = handshake_versions[0];
    if (requested.p == NULL) {
        return fail_params(err, "initialize needs a protocolVersion");
    }
    for (size_t i = 0; i < HANDSHAKE_VERSIONS; i++) {
        version = cbx_str_is(requested, handshake_versions[i]) ? handshake_versions[i] : version;
    }
    *result = json_pack("{s:s,s:o,s:o,s:o}", "protocolVersion", version, "capabilities",
                        make_capabilities(x), "serverInfo", make_server_info(), "instructions",
                        cbx_mcp_instructions(x->mcp->service->flow, policy_of(x)));
    return 0;
}

static int answer_ping(struct exchange *x, json_t **result, struct cbx_err *err)
{
    (void)x;
    (void)err;
    *result = json_object();
    return 0;
}

static int answer_set_level(struct exchange *x, json_t **result, struct cbx_err *err)
{
    const json_t *level = json_object_get(x->request->params, "level");
    int failed = check_log_level(level, err);
    if (!failed && x->peer != NULL) {
        cbx_mcp_session_set_level(x->mcp->sessions, x->peer->session, rank_level(level));
    }
    *result = failed ? NULL : json_object();
    return failed;
}

/* Only clients of the stateless era use the method, so their claim is missing. */
static int answer_discover(struct exchange *x, json_t **result, struct cbx_err *err)
{
    if (x->era != ERA_STATELESS) {
        return fail_params(err,
                           "server/discover needs _meta: " META_VERSION " and " META_CAPABILITIES);
    }
    *result = json_pack("{s:[s],s:o,s:o}", "supportedVersions", STATELESS_VERSION, "capabilities",
                        make_capabilities(x), "instructions",
                        cbx_mcp_instructions(x->mcp->service->flow, policy_of(x)));
    return 0;
}

static int check_cursor(const struct exchange *x, struct cbx_err *err)
{
    const json_t *cursor = json_object_get(x->request->params, "cursor");
    if (cursor != NULL && !json_is_null(cursor)) {
        return fail_params(err, "the list has one page, this server gives no cursors");
    }
    return 0;
}

static int answer_list(struct exchange *x, json_t **result, struct cbx_err *err)
{
    int failed = check_cursor(x, err);
    *result = failed ? NULL
                     : json_pack("{s:o}", "tools",
                                 cbx_tools_list(policy_of(x), x->mcp->service->flow->small_images));
    return failed;
}

/* Only the text of the client is judged and run, never a changed one. */
static json_t *refuse_unpaired(const struct cbx_unpaired *unpaired)
{
    char text[256];
    snprintf(text, sizeof(text),
             "field '%s' has %s, half of a surrogate pair, which no text in UTF-8 can hold; send "
             "both halves or the character itself",
             unpaired->name, unpaired->escape);
    return cbx_content_of_failure("invalid", NULL, text);
}

/* Returns the client's declarations: in this request, or by initialize (new reference). */
static json_t *read_capabilities(const struct exchange *x)
{
    if (x->era == ERA_STATELESS) {
        return json_incref(
            json_object_get(json_object_get(x->request->params, "_meta"), META_CAPABILITIES));
    }
    return x->peer != NULL ? cbx_mcp_session_capabilities(x->mcp->sessions, x->peer->session)
                           : NULL;
}

/* Returns how the client can be asked to approve the call. */
static enum cbx_asking asking_of(const struct exchange *x)
{
    CBX_AUTO_JSON capabilities = read_capabilities(x);
    bool reached = x->era == ERA_STATELESS || (x->peer != NULL && x->peer->notify != NULL);
    bool may = cbx_caller_may(cbx_mcp_caller(x->peer), CBX_RIGHT_APPROVE);
    return !may || !reached || !cbx_mcp_can_elicit(capabilities) ? CBX_ASKS_NOT
           : x->era == ERA_STATELESS                             ? CBX_ASKS_BY_RESULT
                                                                 : CBX_ASKS_BY_REQUEST;
}

static int call_tool(struct exchange *x, struct cbx_str name, const struct cbx_mcp_retry *retry,
                     json_t **result, struct cbx_err *err)
{
    const json_t *params = x->request->params,
                 *token = json_object_get(json_object_get(params, "_meta"), "progressToken");
    bool has_token = json_is_string(token) || json_is_integer(token);
    struct cbx_tool_call call = { .mcp = x->mcp,
                                  .name = name,
                                  .arguments = json_object_get(params, "arguments"),
                                  .claims = &x->request->claims,
                                  .progress = has_token ? token : NULL,
                                  .peer = x->peer,
                                  .began_ms = cbx_clock_ms(),
                                  .asking = asking_of(x),
                                  .retry = retry };
    return cbx_tools_call(name, &call, result, err) != 0 ? CBX_RPC_INVALID_PARAMS : 0;
}

static int answer_call(struct exchange *x, json_t **result, struct cbx_err *err)
{
    struct cbx_str name = cbx_json_str(json_object_get(x->request->params, "name"));
    const json_t *arguments = json_object_get(x->request->params, "arguments");
    if (name.p == NULL) {
        return fail_params(err, "tools/call needs the name of a tool");
    }
    if (arguments != NULL && !json_is_object(arguments)) {
        return fail_params(err, "the arguments of a tool are an object");
    }
    if (x->request->unpaired.escape[0] != '\0') {
        *result = refuse_unpaired(&x->request->unpaired);
        return 0;
    }
    CBX_AUTO_DONE(mcp_retry) retry = { 0 };
    int failed = 0;
    if (x->era == ERA_STATELESS) {
        failed = cbx_mcp_retry_read(x->mcp, cbx_mcp_caller(x->peer)->principal, x->request->params,
                                    &retry, err);
    }
    if (failed) {
        return CBX_RPC_INVALID_PARAMS;
    }
    return call_tool(x, name, &retry, result, err);
}

static int answer_resources(struct exchange *x, json_t **result, struct cbx_err *err)
{
    int failed = check_cursor(x, err);
    *result = failed ? NULL : json_pack("{s:o}", "resources", cbx_resources_list());
    return failed;
}

static int answer_templates(struct exchange *x, json_t **result, struct cbx_err *err)
{
    int failed = check_cursor(x, err);
    *result = failed ? NULL : json_pack("{s:o}", "resourceTemplates", cbx_resources_templates());
    return failed;
}

/* "Not found" is a separate error in the handshake era. */
static int fail_resource(struct exchange *x, int failed, struct cbx_str uri)
{
    x->data = json_pack("{s:o}", "uri", cbx_json_text(cbx_str_sub(uri, 0, 4096)));
    return failed == CBX_ENOTFOUND && x->era == ERA_HANDSHAKE ? CBX_RPC_RESOURCE_NOT_FOUND
           : failed == CBX_ENOTFOUND || failed == CBX_EINVAL || failed == CBX_ETOOBIG
               ? CBX_RPC_INVALID_PARAMS
               : CBX_RPC_INTERNAL_ERROR;
}

static int answer_read(struct exchange *x, json_t **result, struct cbx_err *err)
{
    struct cbx_str whole = cbx_json_str(json_object_get(x->request->params, "uri")), uri = whole;
    int64_t offset, length;
    CBX_AUTO_DONE(resource) resource = { 0 };
    if (whole.p == NULL) {
        return fail_params(err, "resources/read needs a uri");
    }
    int failed = cbx_resource_range(&uri, &offset, &length, err);
    if (!failed) {
        failed = cbx_resource_read(x->mcp, cbx_mcp_caller(x->peer), &x->request->claims, uri,
                                   &resource, err);
    }
    size_t size = failed ? 0 : resource.bytes.len;
    if (!failed && length == 0 && size > (size_t)offset + RESOURCE_MAX) {
        failed = cbx_fail(err, CBX_ETOOBIG,
                          "the resource has %zu bytes, at most %d are read at once; add "
                          "?offset=N&length=N to the URI",
                          size, RESOURCE_MAX);
    }
    if (failed) {
        return fail_resource(x, failed, whole);
    }
    length = length > RESOURCE_MAX ? RESOURCE_MAX : length;
    *result = json_pack("{s:[o]}", "contents",
                        cbx_resource_contents(whole, &resource, (size_t)offset, (size_t)length));
    return 0;
}

static int answer_prompts(struct exchange *x, json_t **result, struct cbx_err *err)
{
    int failed = check_cursor(x, err);
    *result = failed ? NULL : json_pack("{s:o}", "prompts", cbx_prompts_list());
    return failed;
}

static int answer_prompt(struct exchange *x, json_t **result, struct cbx_err *err)
{
    return cbx_prompt_get(x->request->params, result, err) != 0 ? CBX_RPC_INVALID_PARAMS : 0;
}

/* --- other contents --------------------------------------------------------------------------- */

static bool takes_logs(const struct exchange *x)
{
    int rank =
        rank_level(json_object_get(json_object_get(x->request->params, "_meta"), META_LOG_LEVEL));
    if (x->era == ERA_STATELESS) {
        return rank >= 0 && rank <= RANK_INFO;
    }
    return x->peer == NULL ||
           cbx_mcp_session_level(x->mcp->sessions, x->peer->session) <= RANK_INFO;
}

static struct cbx_mcp_request make_request(const struct exchange *x, const json_t *capabilities)
{
    return (struct cbx_mcp_request){ .method = x->request->method,
                                     .params = x->request->params,
                                     .capabilities = capabilities,
                                     .peer = x->peer,
                                     .stateless = x->era == ERA_STATELESS,
                                     .logs = takes_logs(x) };
}

static int answer_other(struct exchange *x, json_t **result, struct cbx_err *err)
{
    CBX_AUTO_JSON capabilities = read_capabilities(x);
    struct cbx_mcp_request request = make_request(x, capabilities);
    int failed = check_cursor(x, err);
    if (failed) {
        return failed;
    }
    failed = x->mcp->contents->answer(&request, result, err);
    if (failed && cbx_str_is(x->request->method, "resources/read")) {
        return fail_resource(x, failed, cbx_json_str(json_object_get(request.params, "uri")));
    }
    return failed == CBX_EIO ? CBX_RPC_INTERNAL_ERROR : failed ? CBX_RPC_INVALID_PARAMS : 0;
}

/* A request that needs an undeclared capability of the client is refused, before it has an
 * effect. */
static int check_capabilities(struct exchange *x, struct cbx_err *err)
{
    json_t *required = NULL;
    if (x->mcp->contents == NULL || x->era != ERA_STATELESS) {
        return 0;
    }
    CBX_AUTO_JSON capabilities = read_capabilities(x);
    struct cbx_mcp_request request = make_request(x, capabilities);
    if (x->mcp->contents->allows(&request, &required)) {
        return 0;
    }
    x->data = json_pack("{s:o}", "requiredCapabilities", required);
    cbx_fail(err, CBX_EINVAL, "the client did not declare a capability that this needs");
    return CBX_RPC_MISSING_CAPABILITY;
}

/* --- the table -------------------------------------------------------------------------------- */

enum with_contents { KEPT, REPLACED, ADDED };

static const struct method {
    const char *name;
    int (*answer)(struct exchange *, json_t **, struct cbx_err *);
    unsigned eras;
    bool cacheable;
    enum with_contents with_contents;
} methods[] = {
#define CBX_METHOD(name, handler, eras, cacheable, contents)                                       \
    { name, answer_##handler, eras, cacheable, contents },
#include "gateway/front/mcp/protocol/methods.def"
#undef CBX_METHOD
};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

static const struct method *find_method(const struct exchange *x)
{
    for (size_t i = 0; i < METHODS; i++) {
        const struct method *m = &methods[i];
        if (cbx_str_is(x->request->method, m->name) && (m->eras & x->era) != 0) {
            return m->with_contents != ADDED || x->mcp->contents != NULL ? m : NULL;
        }
    }
    return NULL;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Adds the members common to all results of the stateless era. */
static void complete_result(json_t *result, bool cacheable)
{
    if (json_object_get(result, "resultType") == NULL) {
        json_object_set_new(result, "resultType", json_string("complete"));
    }
    json_object_set_new(result, "_meta", json_pack("{s:o}", META_SERVER, make_server_info()));
    if (cacheable) {
        /* Contents of a resource change (a file, a state); lists do not. */
        bool changes = json_object_get(result, "contents") != NULL;
        json_object_set_new(result, "ttlMs", json_integer(changes ? 0 : LIST_TTL_MS));
        json_object_set_new(result, "cacheScope", json_string("private"));
    }
}

static int dispatch(struct exchange *x, json_t **result, struct cbx_err *err)
{
    int failed = read_era(x, err);
    if (failed) {
        return failed;
    }
    const struct method *method = find_method(x);
    if (method == NULL) {
        cbx_fail(err, CBX_ENOTFOUND, "unknown method '%.*s'", CBX_STR_SHOWN(x->request->method));
        return CBX_RPC_METHOD_NOT_FOUND;
    }
    failed = check_capabilities(x, err);
    if (failed) {
        return failed;
    }
    bool replaced = x->mcp->contents != NULL && method->with_contents == REPLACED;
    if (replaced) {
        failed = answer_other(x, result, err);
    } else {
        failed = method->answer(x, result, err);
    }
    if (!failed && x->era == ERA_STATELESS) {
        complete_result(*result, method->cacheable);
    }
    return failed;
}

static void write_result(const struct cbx_rpc_message *request, const json_t *result,
                         struct cbx_buf *out)
{
    if (cbx_rpc_write_result(out, request->id, result) != 0) {
        cbx_rpc_write_error(out, request->id, CBX_RPC_INTERNAL_ERROR, "the answer is too large",
                            NULL);
    }
}

void cbx_mcp_init(struct cbx_mcp *mcp, struct cbx_service *service, int64_t idle_ms)
{
    *mcp = (struct cbx_mcp){ .service = service, .idle_ms = idle_ms };
    mcp->sessions = cbx_mcp_sessions_new();
    cbx_request_key_init(&mcp->states);
    pthread_mutex_init(&mcp->lock, NULL);
    cbx_cond_init(&mcp->ended);
}

void cbx_mcp_done(struct cbx_mcp *mcp)
{
    cbx_mcp_sessions_free(mcp->sessions);
    pthread_cond_destroy(&mcp->ended);
    pthread_mutex_destroy(&mcp->lock);
}

void cbx_mcp_answer(struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                    const struct cbx_mcp_peer *peer, struct cbx_buf *out)
{
    struct exchange x = { .mcp = mcp, .request = request, .peer = peer };
    CBX_AUTO_JSON result = NULL;
    struct cbx_err err = { 0 };
    int code = dispatch(&x, &result, &err);
    if (code != 0) {
        cbx_rpc_write_error(out, request->id, code, err.text, x.data);
    } else {
        write_result(request, result, out);
    }
    json_decref(x.data);
}

/* Checks the header of the handshake era: one of its versions, or none. */
static int check_handshake_version(struct cbx_str version, struct cbx_err *err)
{
    bool known = version.p == NULL;
    for (size_t i = 0; i < HANDSHAKE_VERSIONS; i++) {
        known |= cbx_str_is(version, handshake_versions[i]);
    }
    if (cbx_str_is(version, STATELESS_VERSION)) {
        return fail_params(err, "a request of " STATELESS_VERSION " has its version in _meta too");
    }
    if (!known) {
        cbx_fail(err, CBX_EINVAL, "MCP-Protocol-Version '%.*s' is not served",
                 CBX_STR_SHOWN(cbx_str_sub(version, 0, 32)));
    }
    return known ? 0 : CBX_RPC_INVALID_REQUEST;
}

/* Proxies use the header, so a header that contradicts the body takes precedence over all other
 * mistakes. */
static int check_headers(struct exchange *x, const struct cbx_http_mcp *headers,
                         struct cbx_err *err)
{
    struct cbx_str version =
        cbx_json_str(json_object_get(json_object_get(x->request->params, "_meta"), META_VERSION));
    bool differs = version.p != NULL && headers->version.p != NULL &&
                   !cbx_str_equal(version, headers->version);
    int code = 0;
    if (!differs) {
        code = read_era(x, err);
    }
    x->era = differs ? ERA_STATELESS : x->era;
    if (code != 0) {
        return code;
    }
    if (x->era == ERA_STATELESS) {
        return cbx_mcp_headers_match(headers, x->request, version, err);
    }
    return check_handshake_version(headers->version, err);
}

int cbx_mcp_check(struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                  const struct cbx_http_mcp *headers, struct cbx_mcp_check *out,
                  struct cbx_err *err)
{
    struct exchange x = { .mcp = mcp, .request = request };
    *out = (struct cbx_mcp_check){ .status = 400 };
    int code = check_headers(&x, headers, err);
    out->stateless = x.era == ERA_STATELESS;
    if (code == 0 && find_method(&x) == NULL) {
        cbx_fail(err, CBX_ENOTFOUND, "unknown method '%.*s'",
                 CBX_STR_SHOWN(cbx_str_sub(request->method, 0, 64)));
        code = CBX_RPC_METHOD_NOT_FOUND;
        out->status = out->stateless ? 404 : 200;
    }
    if (code == 0) {
        code = check_capabilities(&x, err);
    }
    out->data = x.data;
    return code;
}

bool cbx_mcp_sends(const struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                   struct cbx_str session)
{
    const json_t *meta = json_object_get(request->params, "_meta");
    const struct cbx_mcp_request other = { .method = request->method,
                                           .params = request->params,
                                           .stateless =
                                               json_object_get(meta, META_VERSION) != NULL };
    if (mcp->contents != NULL && mcp->contents->sends(&other)) {
        return true;
    }
    return (cbx_mcp_is_slow(request) && json_object_get(meta, "progressToken") != NULL) ||
           (json_object_get(meta, META_VERSION) == NULL && cbx_mcp_may_ask(mcp, request, session));
}

bool cbx_mcp_is_slow(const struct cbx_rpc_message *request)
{
    return cbx_str_is(request->method, "tools/call") ||
           cbx_str_is(request->method, "resources/read");
}

void cbx_mcp_answer_busy(const struct cbx_rpc_message *request, int running, struct cbx_buf *out)
{
    char text[128];
    snprintf(text, sizeof(text),
             "%d calls are under way already and nothing ran; try again when one has ended",
             running);
    struct exchange x = { .request = request };
    struct cbx_err err = { 0 };
    if (!cbx_str_is(request->method, "tools/call")) {
        cbx_rpc_write_error(out, request->id, CBX_RPC_INTERNAL_ERROR, text, NULL);
        return;
    }
    CBX_AUTO_JSON result = cbx_content_of_failure("busy", NULL, text);
    if (read_era(&x, &err) == 0 && x.era == ERA_STATELESS) {
        complete_result(result, false);
    }
    json_decref(x.data);
    write_result(request, result, out);
}

const json_t *cbx_mcp_cancelled_id(const struct cbx_rpc_message *notification)
{
    bool is = cbx_str_is(notification->method, "notifications/cancelled");
    return is ? json_object_get(notification->params, "requestId") : NULL;
}
