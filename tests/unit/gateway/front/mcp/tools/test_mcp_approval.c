/* SPDX-License-Identifier: MIT
 * Approval by elicitation: the clients that can be asked, and the state that they may send back.
 * tests/clients/approval.mjs has whole rounds with the official clients. */
#include "gateway/front/mcp/protocol/mcp_server.h"
#include "gateway/front/mcp/tools/mcp_approval.h"
#include "gateway/front/service/approvals.h"
#include "policies/base/time/clock.h"
#include "tests/unit/gateway/front/rest/rig.h"

#define ARGUMENTS "\"name\":\"execute_code\",\"arguments\":{\"code\":\"ASK\"}"

static struct cbx_mcp mcp;

static int set_up(void **state)
{
    int failed = rig_setup(state);
    struct rig *rig = *state;
    cbx_mcp_init(&mcp, &rig->service, 0);
    return failed;
}

static int tear_down(void **state)
{
    cbx_mcp_done(&mcp);
    return rig_teardown(state);
}

static json_t *parse(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    return json;
}

static void a_client_with_forms_can_be_asked(void **state)
{
    (void)state;
    static const struct {
        const char *capabilities;
        bool can;
    } cases[] = { { "{\"elicitation\":{}}", true },
                  { "{\"elicitation\":{\"form\":{}}}", true },
                  { "{\"elicitation\":{\"form\":{},\"url\":{}}}", true },
                  { "{\"elicitation\":{\"url\":{}}}", false },
                  { "{\"elicitation\":{\"form\":false,\"url\":{}}}", false },
                  { "{\"elicitation\":true}", false },
                  { "{\"elicitation\":null}", false },
                  { "{\"sampling\":{}}", false } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_JSON json = parse(cases[i].capabilities);
        assert_int_equal(cbx_mcp_can_elicit(json), cases[i].can);
    }
    assert_false(cbx_mcp_can_elicit(NULL));
}

/* A call of the stateless era by a client that can be asked, with further params; its result or
 * error. */
static json_t *call(const char *arguments, json_t *more)
{
    CBX_AUTO_DONE(buf) line;
    CBX_AUTO_DONE(buf) out;
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    struct cbx_err err = { 0 };
    json_t *answer = NULL;
    cbx_buf_init(&line, 1024 * 1024);
    cbx_buf_init(&out, CBX_RPC_ANSWER_MAX);
    cbx_buf_printf(&line,
                   "{%s,\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                   "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}}",
                   arguments);
    CBX_AUTO_JSON params = parse(line.p);
    json_object_update(params, more);
    CBX_AUTO_JSON request = json_pack("{s:s,s:i,s:s,s:O}", "jsonrpc", "2.0", "id", 1, "method",
                                      "tools/call", "params", params);
    cbx_buf_reset(&line);
    cbx_json_write(&line, request);
    assert_int_equal(cbx_rpc_read(cbx_buf_str(&line), &message, &err), 0);
    cbx_claims_read_client(NULL, &message.claims);
    cbx_mcp_answer(&mcp, &message, NULL, &out);
    assert_int_equal(cbx_json_parse(cbx_buf_str(&out), CBX_RPC_ANSWER_MAX, &answer, &err), 0);
    return answer;
}

static const char *status_of(const json_t *answer)
{
    const json_t *result = json_object_get(answer, "result");
    const char *type = text_at(result, "resultType");
    return strcmp(type, "input_required") == 0
               ? type
               : text_at(json_object_get(result, "structuredContent"), "status");
}

static json_t *accepting(const char *state)
{
    return json_pack("{s:s,s:{s:{s:s}}}", "requestState", state, "inputResponses", "approve",
                     "action", "accept");
}

/* The state of a question about the call (the caller frees). */
static char *ask(const char *arguments)
{
    CBX_AUTO_JSON answer = call(arguments, NULL);
    assert_string_equal(status_of(answer), "input_required");
    return clone_text(text_at(json_object_get(answer, "result"), "requestState"));
}

static void an_accepted_question_runs_once(void **state)
{
    (void)state;
    CBX_AUTO_MEM char *sealed = ask(ARGUMENTS);
    CBX_AUTO_JSON more = accepting(sealed);
    CBX_AUTO_JSON first = call(ARGUMENTS, more);
    assert_string_equal(status_of(first), "ok");
    CBX_AUTO_MEM char *text = json_dumps(first, 0);
    assert_contains(text, "approved: client unnamed accepted");
    CBX_AUTO_JSON second = call(ARGUMENTS, more);
    assert_string_equal(status_of(second), "needs-approval");
}

/* The state of the question, sealed anew: for another principal, or with another expiry. */
static char *seal_again(const char *sealed, struct cbx_str principal, int64_t expires_ms)
{
    CBX_AUTO_JSON opened = NULL;
    struct cbx_err err;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_REQUEST_STATE_MAX);
    assert_int_equal(cbx_request_state_open(&mcp.states, cbx_str_of(sealed),
                                            CBX_STR(CBX_CALLER_LOCAL), cbx_clock_ms(), &opened,
                                            &err),
                     0);
    json_object_set_new(opened, "expires_ms", json_integer(expires_ms));
    assert_int_equal(cbx_request_state_seal(&mcp.states, opened, principal, expires_ms, &out), 0);
    return cbx_buf_take(&out);
}

static void an_expired_question_is_asked_anew_and_one_of_another_principal_is_an_error(void **state)
{
    (void)state;
    CBX_AUTO_MEM char *sealed = ask(ARGUMENTS);
    int64_t later = cbx_clock_ms() + 60000;
    CBX_AUTO_MEM char *expired = seal_again(sealed, CBX_STR(CBX_CALLER_LOCAL), cbx_clock_ms());
    CBX_AUTO_MEM char *other = seal_again(sealed, CBX_STR("bob"), later);
    CBX_AUTO_JSON of_expired = accepting(expired);
    CBX_AUTO_JSON of_other = accepting(other);
    CBX_AUTO_JSON asked = call(ARGUMENTS, of_expired);
    assert_string_equal(status_of(asked), "input_required");
    CBX_AUTO_JSON refused = call(ARGUMENTS, of_other);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(refused, "error"), "code")),
                     CBX_RPC_INVALID_PARAMS);
}

static void nothing_runs_when_a_used_question_could_not_be_remembered(void **state)
{
    struct rig *rig = *state;
    CBX_AUTO_MEM char *sealed = ask(ARGUMENTS);
    CBX_AUTO_JSON more = accepting(sealed);
    for (int i = 0; i < CBX_SERVICE_APPROVALS; i++) {
        rig->service.approvals[i].expires_ms = INT64_MAX;
    }
    CBX_AUTO_JSON answer = call(ARGUMENTS, more);
    assert_string_equal(status_of(answer), "busy");
    rig->service.approvals[7].expires_ms = 0;
    CBX_AUTO_JSON again = call(ARGUMENTS, more);
    assert_string_equal(status_of(again), "ok");
}

static void what_is_denied_is_not_asked_about(void **state)
{
    (void)state;
    CBX_AUTO_JSON answer =
        call("\"name\":\"execute_code\",\"arguments\":{\"code\":\"DENY ASK\"}", NULL);
    assert_string_equal(status_of(answer), "denied");
}

/* The client of a call of the handshake era that waits for an answer. */
struct client {
    struct rig *rig;
    char session[CBX_MCP_SESSION_ID + 1];
    const char *answer; /* the result, as JSON */
    int questions;
};

static void take_line(void *context, struct cbx_str line)
{
    struct client *client = context;
    CBX_AUTO_JSON message = NULL;
    assert_int_equal(cbx_json_parse(line, line.len, &message, NULL), 0);
    client->questions++;
    assert_string_equal(text_at(message, "method"), "elicitation/create");
    CBX_AUTO_JSON response = json_pack("{s:O,s:o}", "id", json_object_get(message, "id"), "result",
                                       parse(client->answer));
    cbx_mcp_session_answer(mcp.sessions, cbx_str_of(client->session), response);
}

static json_t *call_with_a_session(struct client *client)
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                               "{" ARGUMENTS "}}";
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    CBX_AUTO_DONE(buf) out;
    json_t *answer = NULL;
    struct cbx_err err = { 0 };
    cbx_buf_init(&out, CBX_RPC_ANSWER_MAX);
    assert_int_equal(cbx_rpc_read(cbx_str_of(line), &message, &err), 0);
    cbx_mcp_session_claims(mcp.sessions, cbx_str_of(client->session), &message.claims);
    const struct cbx_mcp_peer peer = { .notify = take_line,
                                       .context = client,
                                       .session = cbx_str_of(client->session) };
    cbx_mcp_answer(&mcp, &message, &peer, &out);
    assert_int_equal(cbx_json_parse(cbx_buf_str(&out), CBX_RPC_ANSWER_MAX, &answer, &err), 0);
    return answer;
}

static void in_the_handshake_era_only_accept_runs(void **state)
{
    static const struct {
        const char *answer, *status;
    } cases[] = { { "{\"action\":\"accept\"}", "ok" },
                  { "{\"action\":\"accept\",\"content\":{\"x\":1}}", "ok" },
                  { "{\"action\":\"decline\"}", "needs-approval" },
                  { "{\"action\":\"cancel\"}", "needs-approval" },
                  { "{\"action\":5}", "needs-approval" },
                  { "{\"action\":\"accept\\u0001\"}", "needs-approval" },
                  { "{}", "needs-approval" } };
    struct client client = { .rig = *state };
    CBX_AUTO_JSON params = parse("{\"capabilities\":{\"elicitation\":{}},\"clientInfo\":{\"name\":"
                                 "\"a\\u001b[31mb\\u202e\",\"version\":\"1\"}}");
    assert_true(
        cbx_mcp_session_open(mcp.sessions, CBX_STR(CBX_CALLER_LOCAL), params, client.session));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        client.answer = cases[i].answer;
        client.questions = 0;
        CBX_AUTO_JSON answer = call_with_a_session(&client);
        CBX_AUTO_MEM char *text = json_dumps(answer, JSON_ENSURE_ASCII);
        if (strcmp(status_of(answer), cases[i].status) != 0) {
            fail_msg("%s: %s", cases[i].answer, text);
        }
        assert_int_equal(client.questions, 1);
        assert_contains(text, "client a\\\\x1b[31mb\\\\u{202e} 1 ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_with_forms_can_be_asked),
        cmocka_unit_test_setup_teardown(an_accepted_question_runs_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_expired_question_is_asked_anew_and_one_of_another_principal_is_an_error, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(nothing_runs_when_a_used_question_could_not_be_remembered,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_denied_is_not_asked_about, set_up, tear_down),
        cmocka_unit_test_setup_teardown(in_the_handshake_era_only_accept_runs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
