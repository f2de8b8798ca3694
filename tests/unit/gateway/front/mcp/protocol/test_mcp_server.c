/* SPDX-License-Identifier: MIT
 * Methods in both eras, without policies and processes: results, and codes of refusals. */
#include "gateway/front/mcp/protocol/mcp_server.h"
#include "tests/unit/unit.h"

#include <string.h>

#define META(version)                                                                              \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version                            \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* The answer to a request with this method and these members of params. */
static json_t *ask(const char *method, const char *params)
{
    static struct cbx_flow flow;
    static struct cbx_service service = { .flow = &flow };
    static struct cbx_mcp mcp;
    cbx_mcp_init(&mcp, &service, 0);
    char line[2048];
    int n = snprintf(line, sizeof(line),
                     "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"%s\",\"params\":{%s}}", method,
                     params);
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_RPC_ANSWER_MAX);
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_rpc_read((struct cbx_str){ line, (size_t)n }, &message, &err), 0);
    cbx_mcp_answer(&mcp, &message, NULL, &out);
    json_t *answer = NULL;
    cbx_mcp_done(&mcp);
    assert_int_equal(cbx_json_parse(cbx_buf_str(&out), CBX_RPC_ANSWER_MAX, &answer, &err), 0);
    assert_string_equal(json_string_value(json_object_get(answer, "id")), "q");
    return answer;
}

static json_int_t code_of(const char *method, const char *params)
{
    CBX_AUTO_JSON answer = ask(method, params);
    return json_integer_value(json_object_get(json_object_get(answer, "error"), "code"));
}

static void answers_initialize_with_the_version_asked_for_or_the_newest_of_its_era(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "2024-11-05", "2024-11-05" }, { "2025-03-26", "2025-03-26" },
        { "2025-06-18", "2025-06-18" }, { "2025-11-25", "2025-11-25" },
        { "2026-07-28", "2025-11-25" }, { "1999-01-01", "2025-11-25" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char params[100];
        snprintf(params, sizeof(params), "\"protocolVersion\":\"%s\"", cases[i][0]);
        CBX_AUTO_JSON answer = ask("initialize", params);
        const json_t *result = json_object_get(answer, "result");
        assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")),
                            cases[i][1]);
        assert_null(json_object_get(result, "resultType"));
    }
    assert_int_equal(code_of("initialize", ""), CBX_RPC_INVALID_PARAMS);
}

static void says_in_every_stateless_result_what_it_is_and_who_answers(void **state)
{
    (void)state;
    static const char *const methods[] = { "server/discover", "tools/list" };
    for (size_t i = 0; i < 2; i++) {
        CBX_AUTO_JSON answer = ask(methods[i], META("2026-07-28"));
        const json_t *result = json_object_get(answer, "result");
        assert_string_equal(json_string_value(json_object_get(result, "resultType")), "complete");
        assert_non_null(json_object_get(json_object_get(result, "_meta"),
                                        "io.modelcontextprotocol/serverInfo"));
        assert_true(json_is_integer(json_object_get(result, "ttlMs")));
        assert_string_equal(json_string_value(json_object_get(result, "cacheScope")), "private");
    }
}

static void names_every_language_that_runs_in_its_instructions_and_its_tools(void **state)
{
    (void)state;
    static const char *const methods[] = { "initialize", "server/discover" };
    static const char *const params[] = { "\"protocolVersion\":\"2025-06-18\"",
                                          META("2026-07-28") };
    for (size_t i = 0; i < 2; i++) {
        CBX_AUTO_JSON answer = ask(methods[i], params[i]);
        const char *text =
            json_string_value(json_object_get(json_object_get(answer, "result"), "instructions"));
        assert_non_null(text);
        static const char *const named[] = { "codebox runs Python 3.", ", JavaScript (Node.js ",
                                             ", shell (bash ", ", TypeScript (Node.js ",
                                             " and C (gcc " };
        for (size_t k = 0; k < sizeof(named) / sizeof(named[0]); k++) {
            assert_non_null(strstr(text, named[k]));
        }
    }
    CBX_AUTO_JSON list = ask("tools/list", "");
    const json_t *tool =
        json_array_get(json_object_get(json_object_get(list, "result"), "tools"), 0);
    const json_t *language = json_object_get(
        json_object_get(json_object_get(tool, "inputSchema"), "properties"), "language");
    CBX_AUTO_JSON expected =
        json_pack("[s,s,s,s,s]", "python", "javascript", "shell", "typescript", "c");
    assert_true(json_equal(json_object_get(language, "enum"), expected));
    assert_string_equal(json_string_value(json_object_get(language, "default")), "python");
}

static void lists_the_same_tools_without_any_message_before(void **state)
{
    (void)state;
    CBX_AUTO_JSON old = ask("tools/list", "");
    CBX_AUTO_JSON new = ask("tools/list", META("2026-07-28"));
    const json_t *tools = json_object_get(json_object_get(old, "result"), "tools");
    assert_int_equal(json_array_size(tools), 8);
    assert_true(json_equal(tools, json_object_get(json_object_get(new, "result"), "tools")));
}

static void keeps_the_methods_of_one_era_out_of_the_other(void **state)
{
    (void)state;
    static const char *const gone[] = { "initialize", "ping", "logging/setLevel",
                                        "resources/subscribe", "subscriptions/listen" };
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        assert_int_equal(code_of(gone[i], META("2026-07-28")), CBX_RPC_METHOD_NOT_FOUND);
    }
    assert_int_equal(code_of("tools/List", ""), CBX_RPC_METHOD_NOT_FOUND);
}

static void names_the_versions_it_serves_when_it_is_asked_for_another(void **state)
{
    (void)state;
    CBX_AUTO_JSON answer = ask("tools/list", META("2031-01-01"));
    const json_t *error = json_object_get(answer, "error"), *data = json_object_get(error, "data");
    assert_int_equal(json_integer_value(json_object_get(error, "code")),
                     CBX_RPC_UNSUPPORTED_VERSION);
    assert_string_equal(json_string_value(json_object_get(data, "requested")), "2031-01-01");
    assert_string_equal(json_string_value(json_array_get(json_object_get(data, "supported"), 0)),
                        "2026-07-28");
}

static void refuses_an_envelope_that_lacks_something(void **state)
{
    (void)state;
    static const char *const metas[] = {
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}",
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":7,\"io.modelcontextprotocol/"
        "clientCapabilities\":{}}",
        "\"_meta\":{\"io.modelcontextprotocol/"
        "protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":[]}",
        "\"_meta\":{\"io.modelcontextprotocol/"
        "protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"
        "clientCapabilities\":{},\"io.modelcontextprotocol/clientInfo\":1}",
    };
    for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++) {
        assert_int_equal(code_of("tools/list", metas[i]), CBX_RPC_INVALID_PARAMS);
    }
}

static void refuses_to_be_discovered_without_a_claim(void **state)
{
    (void)state;
    assert_int_equal(code_of("server/discover", ""), CBX_RPC_INVALID_PARAMS);
    assert_int_equal(code_of("server/discover", "\"_meta\":{}"), CBX_RPC_INVALID_PARAMS);
}

static void knows_the_eight_log_levels_and_no_others(void **state)
{
    (void)state;
    static const char *const levels[] = { "\"debug\"", "\"emergency\"", "\"loud\"",
                                          "\"Debug\"", "\"\"",          "7",
                                          "null",      "\"warn\"" };
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        char params[300], level[100];
        snprintf(level, sizeof(level), "\"level\":%s", levels[i]);
        snprintf(params, sizeof(params),
                 "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                 "\"io.modelcontextprotocol/clientCapabilities\":{},"
                 "\"io.modelcontextprotocol/logLevel\":%s}",
                 levels[i]);
        int expected = i < 2 ? 0 : CBX_RPC_INVALID_PARAMS;
        assert_int_equal(code_of("logging/setLevel", level), expected);
        assert_int_equal(code_of("tools/list", params), expected);
    }
    assert_int_equal(code_of("logging/setLevel", ""), CBX_RPC_INVALID_PARAMS);
}

static void runs_nothing_that_is_not_what_the_client_sent(void **state)
{
    (void)state;
    CBX_AUTO_JSON answer = ask(
        "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":\"print('\\ud83d')\"}");
    const json_t *result = json_object_get(answer, "result");
    const char *text = json_string_value(
        json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
    assert_true(json_is_true(json_object_get(result, "isError")));
    assert_int_equal(strncmp(text, "invalid: field 'code' has \\ud83d,", 33), 0);
}

static void refuses_malformed_calls_and_unknown_tools_as_protocol_errors(void **state)
{
    (void)state;
    static const char *const params[] = { "", "\"name\":1", "\"name\":\"no_such\"",
                                          "\"name\":\"execute_code\",\"arguments\":[]" };
    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        assert_int_equal(code_of("tools/call", params[i]), CBX_RPC_INVALID_PARAMS);
    }
    assert_int_equal(code_of("tools/list", "\"cursor\":\"2\""), CBX_RPC_INVALID_PARAMS);
}

static void answers_bad_arguments_with_a_result_that_the_model_sees(void **state)
{
    (void)state;
    static const char *const arguments[] = {
        "",
        "\"code\":1",
        "\"code\":\"\"",
        "\"code\":\"1\",\"language\":\"cobol\"",
        "\"code\":\"1\",\"timeout_seconds\":0.5",
        "\"code\":\"1\",\"libraries\":[1]",
        "\"code\":\"1\",\"language\":\"javascript\",\"dependencies\":[\"lodash@file:../x\"]",
        "\"code\":\"1\",\"cod\":\"2\"",
    };
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        char params[300];
        snprintf(params, sizeof(params), "\"name\":\"execute_code\",\"arguments\":{%s}",
                 arguments[i]);
        CBX_AUTO_JSON answer = ask("tools/call", params);
        const json_t *result = json_object_get(answer, "result");
        const char *text = json_string_value(
            json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
        assert_true(json_is_true(json_object_get(result, "isError")));
        assert_int_equal(strncmp(text, "invalid: ", 9), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_initialize_with_the_version_asked_for_or_the_newest_of_its_era),
        cmocka_unit_test(says_in_every_stateless_result_what_it_is_and_who_answers),
        cmocka_unit_test(names_every_language_that_runs_in_its_instructions_and_its_tools),
        cmocka_unit_test(lists_the_same_tools_without_any_message_before),
        cmocka_unit_test(keeps_the_methods_of_one_era_out_of_the_other),
        cmocka_unit_test(names_the_versions_it_serves_when_it_is_asked_for_another),
        cmocka_unit_test(refuses_an_envelope_that_lacks_something),
        cmocka_unit_test(refuses_to_be_discovered_without_a_claim),
        cmocka_unit_test(knows_the_eight_log_levels_and_no_others),
        cmocka_unit_test(runs_nothing_that_is_not_what_the_client_sent),
        cmocka_unit_test(refuses_malformed_calls_and_unknown_tools_as_protocol_errors),
        cmocka_unit_test(answers_bad_arguments_with_a_result_that_the_model_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
