/* SPDX-License-Identifier: MIT
 * Other contents through the dispatcher, with the fixtures of the conformance suite: the server
 * serves them only if it has them, and they ask for the client's declared capabilities and accept
 * only their own state. */
#include "gateway/front/mcp/protocol/mcp_server.h"
#include "tests/clients/fixtures/fixtures.c"
#include "tests/unit/unit.h"

#include <string.h>

#define META(capabilities)                                                                         \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":" capabilities "}"
#define ALL "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}"

static struct cbx_flow flow;
static struct cbx_service service = { .flow = &flow };
static struct cbx_mcp mcp;

static int set_up(void **state)
{
    (void)state;
    cbx_mcp_init(&mcp, &service, 0);
    mcp.contents = cbx_mcp_contents_of(mcp.sessions);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_mcp_done(&mcp);
    return 0;
}

static json_t *ask_as(const struct cbx_mcp_peer *peer, const char *method, const char *params)
{
    char line[4096];
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    CBX_AUTO_DONE(buf) out;
    struct cbx_err err = { 0 };
    json_t *answer = NULL;
    cbx_buf_init(&out, CBX_RPC_ANSWER_MAX);
    snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}",
             method, params);
    assert_int_equal(cbx_rpc_read(cbx_str_of(line), &message, &err), 0);
    cbx_mcp_answer(&mcp, &message, peer, &out);
    assert_int_equal(cbx_json_parse(cbx_buf_str(&out), CBX_RPC_ANSWER_MAX, &answer, &err), 0);
    return answer;
}

static json_t *ask(const char *method, const char *params)
{
    return ask_as(NULL, method, params);
}

static json_int_t code_of(const json_t *answer)
{
    return json_integer_value(json_object_get(json_object_get(answer, "error"), "code"));
}

static const json_t *result_of(const json_t *answer)
{
    return json_object_get(answer, "result");
}

static const char *text_of(const json_t *answer)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(result_of(answer), "content"), 0), "text"));
}

static const char *type_of(const json_t *answer)
{
    return json_string_value(json_object_get(result_of(answer), "resultType"));
}

/* Every item that a list names is answered; its schema has the arguments that are called. */
static void every_fixture_that_is_listed_is_answered(void **state)
{
    (void)state;
    static const char *const lists[][4] = {
        { "tools/list", "tools", "name", "tools/call" },
        { "prompts/list", "prompts", "name", "prompts/get" },
        { "resources/list", "resources", "uri", "resources/read" },
    };
    for (size_t k = 0; k < 3; k++) {
        CBX_AUTO_JSON list = ask(lists[k][0], "");
        const json_t *items = json_object_get(result_of(list), lists[k][1]), *item;
        size_t i;
        assert_true(json_array_size(items) > 2);
        json_array_foreach(items, i, item)
        {
            char params[512];
            snprintf(params, sizeof(params),
                     META(ALL) ",\"%s\":\"%s\",\"arguments\":{\"arg1\":\"a\",\"arg2\":\"b\","
                               "\"resourceUri\":\"c\",\"prompt\":\"d\",\"message\":\"e\"}",
                     lists[k][2], json_string_value(json_object_get(item, lists[k][2])));
            CBX_AUTO_JSON answer = ask(lists[k][3], params);
            assert_non_null(result_of(answer));
        }
    }
}

static void a_server_without_fixtures_lists_and_answers_none(void **state)
{
    (void)state;
    static const char *const methods[] = { "completion/complete", "resources/subscribe",
                                           "resources/unsubscribe" };
    mcp.contents = NULL;
    CBX_AUTO_JSON list = ask("tools/list", "");
    CBX_AUTO_MEM char *text = json_dumps(list, 0);
    assert_null(strstr(text, "test_"));
    for (size_t i = 0; i < 3; i++) {
        CBX_AUTO_JSON answer = ask(methods[i], "\"uri\":\"test://static-text\"");
        assert_int_equal(code_of(answer), CBX_RPC_METHOD_NOT_FOUND);
    }
    CBX_AUTO_JSON call = ask("tools/call", "\"name\":\"test_simple_text\"");
    assert_int_equal(code_of(call), CBX_RPC_INVALID_PARAMS);
    CBX_AUTO_JSON begun = ask("initialize", "\"protocolVersion\":\"2025-11-25\"");
    const json_t *capabilities = json_object_get(result_of(begun), "capabilities");
    assert_int_equal(json_object_size(capabilities), 3);
}

static void arguments_stand_in_the_texts(void **state)
{
    (void)state;
    CBX_AUTO_JSON prompt =
        ask("prompts/get", "\"name\":\"test_prompt_with_arguments\",\"arguments\":{\"arg1\":"
                           "\"{arg2}\",\"arg2\":\"\\\"x\\\"\"}");
    CBX_AUTO_JSON missing = ask("prompts/get", "\"name\":\"test_prompt_with_arguments\"");
    CBX_AUTO_JSON data = ask("resources/read", "\"uri\":\"test://template/7/data\"");
    CBX_AUTO_JSON none = ask("resources/read", "\"uri\":\"test://template/7/8/data\"");
    CBX_AUTO_MEM char *text = json_dumps(prompt, 0);
    CBX_AUTO_MEM char *read = json_dumps(data, 0);
    assert_non_null(strstr(text, "arg1='{arg2}', arg2='\\\"x\\\"'"));
    assert_non_null(strstr(read, "Data for ID: 7"));
    assert_int_equal(code_of(missing), CBX_RPC_INVALID_PARAMS);
    assert_int_equal(code_of(none), CBX_RPC_RESOURCE_NOT_FOUND);
}

static void a_client_is_asked_and_its_answer_completes_the_result(void **state)
{
    (void)state;
    const char *name = META(ALL) ",\"name\":\"test_input_required_result_elicitation\"";
    char params[1024];
    CBX_AUTO_JSON asked = ask("tools/call", name);
    assert_string_equal(type_of(asked), "input_required");
    assert_non_null(
        json_object_get(json_object_get(result_of(asked), "inputRequests"), "user_name"));
    snprintf(params, sizeof(params),
             "%s,\"inputResponses\":{\"user_name\":{\"action\":\"accept\",\"content\":{\"name\":"
             "\"Ada\"}},\"more\":{}}",
             name);
    CBX_AUTO_JSON done = ask("tools/call", params);
    assert_string_equal(type_of(done), "complete");
    assert_string_equal(text_of(done), "Hello, Ada!");
    snprintf(params, sizeof(params), "%s,\"inputResponses\":{\"user_name\":5}", name);
    CBX_AUTO_JSON again = ask("tools/call", params);
    assert_string_equal(type_of(again), "input_required");
    snprintf(params, sizeof(params), "%s,\"inputResponses\":null", name);
    CBX_AUTO_JSON wrong = ask("tools/call", params);
    assert_int_equal(code_of(wrong), CBX_RPC_INVALID_PARAMS);
}

/* Calls a tool of several rounds with a state and one answer. */
static json_t *go_on(const char *tool, const char *key, const char *member, const char *requested)
{
    CBX_AUTO_JSON params =
        json_pack("{s:s,s:s?,s:{s:{s:s,s:{s:s}}},s:{s:s,s:{s:{}}}}", "name", tool, "requestState",
                  requested, "inputResponses", key, "action", "accept", "content", member, "x",
                  "_meta", "io.modelcontextprotocol/protocolVersion", "2026-07-28",
                  "io.modelcontextprotocol/clientCapabilities", "elicitation");
    CBX_AUTO_MEM char *text = json_dumps(params, 0);
    text[strlen(text) - 1] = '\0';
    return ask("tools/call", text + 1);
}

static const char *state_of(const json_t *answer)
{
    return json_string_value(json_object_get(result_of(answer), "requestState"));
}

static void rounds_go_on_with_the_state_of_the_one_before_and_no_other(void **state)
{
    (void)state;
    static const char tool[] = "test_input_required_result_multi_round";
    char tampered[2048];
    CBX_AUTO_JSON first =
        ask("tools/call", META(ALL) ",\"name\":\"test_input_required_result_multi_round\"");
    CBX_AUTO_JSON second = go_on(tool, "step1", "name", state_of(first));
    CBX_AUTO_JSON third = go_on(tool, "step2", "color", state_of(second));
    assert_string_equal(type_of(second), "input_required");
    assert_string_not_equal(state_of(first), state_of(second));
    assert_string_equal(type_of(third), "complete");
    assert_string_equal(text_of(third), "x likes x.");
    CBX_AUTO_JSON other =
        go_on("test_input_required_result_request_state", "confirm", "ok", state_of(first));
    assert_int_equal(code_of(other), CBX_RPC_INVALID_PARAMS);
    snprintf(tampered, sizeof(tampered), "%s-TAMPERED", state_of(second));
    CBX_AUTO_JSON forged = go_on(tool, "step2", "color", tampered);
    assert_int_equal(code_of(forged), CBX_RPC_INVALID_PARAMS);
}

static void a_client_is_asked_only_for_what_it_declared(void **state)
{
    (void)state;
    CBX_AUTO_JSON none = ask("tools/call", META("{}") ",\"name\":\"test_missing_capability\"");
    const json_t *data = json_object_get(json_object_get(none, "error"), "data");
    assert_int_equal(code_of(none), CBX_RPC_MISSING_CAPABILITY);
    assert_true(
        json_is_object(json_object_get(json_object_get(data, "requiredCapabilities"), "sampling")));
    CBX_AUTO_JSON some =
        ask("tools/call", META("{\"sampling\":{}}") ",\"name\":"
                                                    "\"test_input_required_result_capabilities\"");
    const json_t *asked = json_object_get(result_of(some), "inputRequests");
    assert_int_equal(json_object_size(asked), 1);
    assert_non_null(json_object_get(asked, "greeting"));
    CBX_AUTO_JSON old = ask("tools/call", "\"name\":\"test_elicitation_sep1034_defaults\"");
    assert_true(json_is_true(json_object_get(result_of(old), "isError")));
}

static void count_line(void *context, struct cbx_str line)
{
    assert_int_equal(line.p[line.len - 1], '\n');
    ++*(int *)context;
}

static void messages_are_sent_to_clients_that_take_them(void **state)
{
    (void)state;
    static const struct {
        const char *params;
        int lines;
    } cases[] = {
        { "\"name\":\"test_tool_with_progress\"", 0 },
        { "\"name\":\"test_tool_with_progress\",\"_meta\":{\"progressToken\":1}", 3 },
        { "\"name\":\"test_tool_with_logging\"", 3 },
        { "\"name\":\"test_logging_tool\"," META("{}"), 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int lines = 0;
        const struct cbx_mcp_peer peer = { .notify = count_line, .context = &lines };
        CBX_AUTO_JSON answer = ask_as(&peer, "tools/call", cases[i].params);
        assert_non_null(result_of(answer));
        assert_int_equal(lines, cases[i].lines);
    }
}

/* Answers a question as soon as it is sent. */
static void answer_at_once(void *context, struct cbx_str line)
{
    CBX_AUTO_JSON question = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_json_parse(line, line.len, &question, &err), 0);
    CBX_AUTO_JSON response =
        json_pack("{s:s,s:O,s:{s:s,s:{s:s}}}", "jsonrpc", "2.0", "id",
                  json_object_get(question, "id"), "result", "model", "m", "content", "text", "hi");
    cbx_mcp_session_answer(mcp.sessions, cbx_str_of(context), response);
}

static void a_client_with_a_session_is_asked_by_a_request(void **state)
{
    (void)state;
    char id[CBX_MCP_SESSION_ID + 1];
    CBX_AUTO_JSON params = json_pack("{s:{s:{}}}", "capabilities", "sampling");
    assert_true(cbx_mcp_session_open(mcp.sessions, CBX_STR("local"), params, id));
    const struct cbx_mcp_peer peer = { .notify = answer_at_once,
                                       .context = id,
                                       .session = cbx_str_of(id) };
    CBX_AUTO_JSON answer = ask_as(
        &peer, "tools/call", "\"name\":\"test_sampling\",\"arguments\":{\"prompt\":\"hello\"}");
    assert_string_equal(text_of(answer), "LLM response: hi");
    CBX_AUTO_JSON missing = ask_as(&peer, "tools/call", "\"name\":\"test_sampling\"");
    assert_true(json_is_true(json_object_get(result_of(missing), "isError")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_fixture_that_is_listed_is_answered, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_server_without_fixtures_lists_and_answers_none, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(arguments_stand_in_the_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_client_is_asked_and_its_answer_completes_the_result,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(rounds_go_on_with_the_state_of_the_one_before_and_no_other,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_client_is_asked_only_for_what_it_declared, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(messages_are_sent_to_clients_that_take_them, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_client_with_a_session_is_asked_by_a_request, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
