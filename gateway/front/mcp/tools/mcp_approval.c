/* SPDX-License-Identifier: MIT
 * Approval by elicitation. */
#include "gateway/front/mcp/tools/mcp_approval.h"

#include "gateway/front/denial/question.h"
#include "gateway/front/dialect.h"
#include "gateway/front/mcp/tools/content.h"
#include "gateway/front/service/approvals.h"
#include "gateway/front/service/service_sessions.h"
#include "gateway/front/vouch.h"
#include "policies/base/text/printable.h"
#include "policies/base/time/clock.h"

#define KEY      "approve" /* key of the question in a result */
#define HOW      "elicitation"
#define PROTOCOL "2026-07-28"

void cbx_mcp_retry_done(struct cbx_mcp_retry *retry)
{
    json_decref(retry->state);
    *retry = (struct cbx_mcp_retry){ 0 };
}

/* --- the client ------------------------------------------------------------------------------- */

/* {} means forms, as before other modes existed. */
bool cbx_mcp_can_elicit(const json_t *capabilities)
{
    const json_t *elicitation = json_object_get(capabilities, "elicitation");
    return json_is_object(elicitation) && (json_is_object(json_object_get(elicitation, "form")) ||
                                           json_object_get(elicitation, "url") == NULL);
}

bool cbx_mcp_may_ask(const struct cbx_mcp *mcp, const struct cbx_rpc_message *request,
                     struct cbx_str session)
{
    CBX_AUTO_JSON capabilities = cbx_mcp_session_capabilities(mcp->sessions, session);
    return mcp->contents == NULL && cbx_str_is(request->method, "tools/call") &&
           cbx_mcp_can_elicit(capabilities) &&
           cbx_tools_may_ask(cbx_flow_policies(mcp->service->flow),
                             cbx_json_str(json_object_get(request->params, "name")));
}

/* Copies a client's own name as one printable line that fits. */
static void copy_name(const char *name, char *out, size_t size)
{
    CBX_AUTO_DONE(buf) clean;
    cbx_buf_init(&clean, 1024);
    cbx_printable_add(&clean, cbx_str_of(name), CBX_PRINTABLE_LINE);
    struct cbx_str cut = cbx_str_cut(cbx_buf_str(&clean), size - 1);
    snprintf(out, size, "%.*s", CBX_STR_ARG(cut));
}

static void name_client(const struct cbx_tool_call *call, struct cbx_approval *out)
{
    const struct cbx_claims *claims = call->claims;
    bool named = claims != NULL && claims->claimed_client[0] != '\0';
    copy_name(named ? claims->claimed_client : "unnamed", out->client, sizeof(out->client));
    copy_name(named ? claims->claimed_client_version : "", out->client_version,
              sizeof(out->client_version));
}

/* Makes "client NAME VERSION WHAT; nothing ran. ..." After a declined question the text forbids
 * a second call: models that read "call again" call again. */
static json_t *refuse(const struct cbx_tool_call *call, const struct cbx_outcome *asking,
                      const char *what)
{
    char text[512];
    bool declined = strcmp(what, "declined") == 0;
    struct cbx_approval by = { 0 };
    name_client(call, &by);
    snprintf(text, sizeof(text),
             "client %s%s%s %s; nothing ran. %s, change the code, or ask the operator of this "
             "gateway.",
             by.client, by.client_version[0] != '\0' ? " " : "", by.client_version, what,
             declined ? "Do not send it again unless the user asks for it"
                      : "Call the tool again to have the client asked again");
    return cbx_content_of_failure("needs-approval", asking, text);
}

/* --- the question ----------------------------------------------------------------------------- */

/* The form has no fields: accepting is enough. */
static json_t *make_question(const struct cbx_tool_call *call, const struct cbx_job *job,
                             const struct cbx_outcome *asking)
{
    const struct cbx_policies *policies = cbx_flow_policies(call->mcp->service->flow);
    const struct cbx_policy *policy = cbx_policies_find(policies, cbx_buf_str(&job->policy));
    const struct cbx_question question = { .outcome = asking,
                                           .source = cbx_buf_str(&job->source),
                                           .policy = policy != NULL ? policy->name : CBX_STR(""),
                                           .language = cbx_dialect_shown(job->language),
                                           .session = job->session };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_QUESTION_BYTES_MAX);
    cbx_question_add(&question, &text);
    return json_pack("{s:s,s:{s:o,s:{s:s,s:{}}}}", "method", "elicitation/create", "params",
                     "message", cbx_json_text(cbx_buf_str(&text)), "requestedSchema", "type",
                     "object", "properties");
}

static enum cbx_mcp_answer read_answer(const json_t *response)
{
    static const char *const words[] = { [CBX_ANSWER_ACCEPT] = "accept",
                                         [CBX_ANSWER_DECLINE] = "decline",
                                         [CBX_ANSWER_CANCEL] = "cancel" };
    struct cbx_str action = cbx_json_str(json_object_get(response, "action"));
    for (int i = CBX_ANSWER_ACCEPT; i <= CBX_ANSWER_CANCEL; i++) {
        if (cbx_str_is(action, words[i])) {
            return (enum cbx_mcp_answer)i;
        }
    }
    return CBX_ANSWER_NONE;
}

/* Returns NULL for "accept". */
static json_t *refuse_answer(const struct cbx_tool_call *call, const struct cbx_outcome *asking,
                             enum cbx_mcp_answer answer)
{
    switch (answer) {
    case CBX_ANSWER_ACCEPT:
        return NULL;
    case CBX_ANSWER_DECLINE:
        return refuse(call, asking, "declined");
    case CBX_ANSWER_CANCEL:
        return refuse(call, asking, "dismissed the question");
    default:
        return refuse(call, asking, "gave an answer that is not accept, decline or cancel");
    }
}

/* Returns NULL if the approval is made; else the result with the reason why nothing runs. */
static json_t *approve(const struct cbx_tool_call *call, const char *digest, const char *asked,
                       const char *protocol, struct cbx_approval *out)
{
    struct cbx_err err = { 0 };
    *out = (struct cbx_approval){ .how = HOW };
    if (cbx_vouch(call->mcp->service->flow, CBX_VOUCHER_APPROVAL,
                  cbx_mcp_caller(call->peer)->principal, call->claims, digest, out->voucher,
                  &err) != 0) {
        return cbx_content_of_error(&err, NULL);
    }
    snprintf(out->digest, sizeof(out->digest), "%s", digest);
    snprintf(out->asked, sizeof(out->asked), "%s", asked);
    snprintf(out->protocol, sizeof(out->protocol), "%s", protocol);
    name_client(call, out);
    return NULL;
}

/* --- the stateless era ------------------------------------------------------------------------ */

static json_t *text_of_hash(const struct cbx_sha256 *hash)
{
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(hash, hex);
    return json_string(hex);
}

/* Hashes the call of the question: a state is not accepted with another call. */
static json_t *hash_call(const struct cbx_tool_call *call)
{
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON json =
        json_pack("[o,O?]", cbx_json_text(call->name), (json_t *)(uintptr_t)call->arguments);
    cbx_buf_init(&text, 2 * (size_t)CBX_RPC_LINE_MAX);
    cbx_json_write(&text, json);
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&text));
    return text_of_hash(&hash);
}

static int open_state(struct cbx_mcp *mcp, const char *principal, const json_t *text,
                      struct cbx_mcp_retry *out, struct cbx_err *err)
{
    int failed = cbx_request_state_open(&mcp->states, cbx_json_str(text), cbx_str_of(principal),
                                        cbx_clock_ms(), &out->state, err);
    out->expires_ms = json_integer_value(json_object_get(out->state, "expires_ms"));
    return failed == CBX_ESTALE ? 0 : failed;
}

static int read_response(const json_t *responses, struct cbx_mcp_retry *out, struct cbx_err *err)
{
    const json_t *response = json_object_get(responses, KEY);
    if (responses != NULL && !json_is_object(responses)) {
        return cbx_fail(err, CBX_EINVAL, "inputResponses must be an object");
    }
    out->answer = read_answer(response);
    if (response != NULL && out->answer == CBX_ANSWER_NONE) {
        return cbx_fail(err, CBX_EINVAL,
                        "inputResponses." KEY ": action must be accept, decline or cancel");
    }
    return 0;
}

int cbx_mcp_retry_read(struct cbx_mcp *mcp, const char *principal, const json_t *params,
                       struct cbx_mcp_retry *out, struct cbx_err *err)
{
    const json_t *text = json_object_get(params, "requestState");
    CBX_AUTO_DONE(mcp_retry) retry = { 0 };
    int failed = read_response(json_object_get(params, "inputResponses"), &retry, err);
    if (failed) {
        return failed;
    }
    if (text != NULL) {
        failed = open_state(mcp, principal, text, &retry, err);
    }
    if (failed) {
        return failed;
    }
    *out = retry;
    retry = (struct cbx_mcp_retry){ 0 };
    return 0;
}

/* Any answer uses the question up, so that a declined question cannot be accepted later. */
static json_t *use_answer(const struct cbx_tool_call *call, const char *asked, const char *session)
{
    struct cbx_err err = { 0 };
    struct cbx_outcome asking = { 0 }; /* for its id */
    snprintf(asking.id, sizeof(asking.id), "%s", asked);
    int failed = cbx_service_use_approval(call->mcp->service, cbx_str_of(asked),
                                          call->retry->expires_ms, &err);
    if (failed) {
        char text[CBX_ERR_TEXT_BYTES + 64];
        snprintf(text, sizeof(text), "%s; nothing ran by this call. Send it without requestState.",
                 err.text);
        return cbx_content_of_failure(failed == CBX_EBUSY ? "busy" : "needs-approval", &asking,
                                      text);
    }
    json_t *refusal = refuse_answer(call, &asking, call->retry->answer);
    if (refusal != NULL && session[0] != '\0') {
        cbx_service_close_session(call->mcp->service, cbx_mcp_caller(call->peer)->principal,
                                  session, NULL);
    }
    return refusal;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

json_t *cbx_mcp_take_retry(const struct cbx_tool_call *call, struct cbx_approval *approval,
                           char *session)
{
    const json_t *state = call->retry != NULL ? call->retry->state : NULL;
    CBX_AUTO_JSON own = state != NULL ? hash_call(call) : NULL;
    session[0] = '\0';
    if (state == NULL || !json_equal(own, json_object_get(state, "call")) ||
        call->asking != CBX_ASKS_BY_RESULT) {
        return NULL;
    }
    snprintf(session, CBX_NAME_MAX + 1, "%s", text_of(state, "session"));
    if (call->retry->answer == CBX_ANSWER_NONE) {
        return NULL; /* the client is asked again */
    }
    json_t *refusal = use_answer(call, text_of(state, "asked"), session);
    return refusal != NULL ? refusal
                           : approve(call, text_of(state, "digest"), text_of(state, "asked"),
                                     PROTOCOL, approval);
}

static json_t *make_state(const struct cbx_tool_call *call, const struct cbx_job *job,
                          const struct cbx_outcome *asking, int64_t expires_ms)
{
    const json_t *session = json_object_get(call->arguments, "session");
    bool opened = cbx_str_is(cbx_json_str(session), "new");
    return json_pack("{s:o,s:s,s:s,s:s,s:I}", "call", hash_call(call), "digest", asking->digest,
                     "asked", asking->id, "session", opened ? job->session : "", "expires_ms",
                     (json_int_t)expires_ms);
}

json_t *cbx_mcp_ask_by_result(const struct cbx_tool_call *call, const struct cbx_job *job,
                              const struct cbx_outcome *asking)
{
    int64_t expires_ms = cbx_clock_ms() + CBX_APPROVAL_MS;
    CBX_AUTO_JSON state = make_state(call, job, asking, expires_ms);
    CBX_AUTO_DONE(buf) sealed;
    cbx_buf_init(&sealed, CBX_REQUEST_STATE_MAX);
    if (cbx_request_state_seal(&call->mcp->states, state,
                               cbx_str_of(cbx_mcp_caller(call->peer)->principal), expires_ms,
                               &sealed) != 0) {
        return cbx_content_of_failure("failed", asking, "the question could not be made");
    }
    json_t *question = make_question(call, job, asking);
    json_object_set_new(json_object_get(question, "params"), "mode", json_string("form"));
    return json_pack("{s:s,s:{s:o},s:o}", "resultType", "input_required", "inputRequests", KEY,
                     question, "requestState", cbx_json_text(cbx_buf_str(&sealed)));
}

/* --- the handshake era ------------------------------------------------------------------------ */

/* A call during the question to its client. */
struct asking {
    const struct cbx_tool_call *call;
    int64_t next_ms; /* time of the next keep-alive */
};

/* Clients that request progress may prolong their timeout by it; other connections are kept
 * open. */
static void show_life(struct asking *a)
{
    enum { LIFE_MS = 10000 };
    const struct cbx_mcp_peer *peer = a->call->peer;
    if (cbx_clock_ms() < a->next_ms) {
        return;
    }
    a->next_ms = cbx_clock_ms() + LIFE_MS;
    cbx_tool_report(a->call, "waiting for approval");
    if (a->call->progress == NULL && peer->keep_alive != NULL) {
        peer->keep_alive(peer->context);
    }
}

static bool goes_on(void *context)
{
    struct asking *a = context;
    const struct cbx_mcp_peer *peer = a->call->peer;
    show_life(a);
    return !cbx_tool_is_cancelled(a->call) && !cbx_service_is_stopping(a->call->mcp->service) &&
           (peer->is_gone == NULL || !peer->is_gone(peer->context));
}

static void send_line(void *context, struct cbx_str line)
{
    const struct asking *a = context;
    a->call->peer->notify(a->call->peer->context, line);
}

static json_t *ask(const struct cbx_tool_call *call, const struct cbx_job *job,
                   const struct cbx_outcome *asking, struct cbx_err *err)
{
    struct asking a = { .call = call };
    const struct cbx_mcp_asker asker = {
        .send = send_line, .goes_on = goes_on, .context = &a, .wait_ms = CBX_APPROVAL_MS
    };
    json_t *result = NULL;
    CBX_AUTO_JSON question = make_question(call, job, asking);
    cbx_mcp_session_ask(call->mcp->sessions, call->peer->session, question, &asker, &result, err);
    return result;
}

json_t *cbx_mcp_ask_by_request(const struct cbx_tool_call *call, struct cbx_job *job,
                               const struct cbx_outcome *asking)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON response = ask(call, job, asking, &err);
    if (response == NULL) {
        if (err.code == CBX_EBUSY) {
            return cbx_content_of_error(&err, asking);
        }
        if (err.code == CBX_ETIMEDOUT) {
            return refuse(call, asking, "did not answer the question in time");
        }
        return refuse(call, asking, "did not answer the question");
    }
    if (cbx_tool_is_cancelled(call)) {
        return refuse(call, asking, "cancelled the call");
    }
    json_t *refusal = refuse_answer(call, asking, read_answer(response));
    if (refusal != NULL) {
        return refusal;
    }
    return approve(call, asking->digest, asking->id, "handshake", &job->approval);
}
