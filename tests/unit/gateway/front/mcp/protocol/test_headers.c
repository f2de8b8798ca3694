/* SPDX-License-Identifier: MIT
 * The headers of a request over HTTP must agree with its body. */
#include "gateway/front/mcp/protocol/headers.h"
#include "gateway/front/mcp/protocol/mcp_server.h"
#include "tests/unit/unit.h"

#include <string.h>

#define VERSION "2026-07-28"

static int match(const char *method, const char *params, const char *header_method,
                 const char *header_name, const char *header_version)
{
    char line[1024];
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}",
             method, params);
    assert_int_equal(cbx_rpc_read(cbx_str_of(line), &message, &err), 0);
    struct cbx_http_mcp headers = { 0 };
    if (header_method != NULL) {
        headers.method = cbx_str_of(header_method);
    }
    if (header_name != NULL) {
        headers.name = cbx_str_of(header_name);
    }
    if (header_version != NULL) {
        headers.version = cbx_str_of(header_version);
    }
    return cbx_mcp_headers_match(&headers, &message, CBX_STR(VERSION), &err);
}

static void headers_that_repeat_the_body_pass(void **state)
{
    (void)state;
    static const char *const good[][4] = {
        { "tools/list", "", "tools/list", NULL },
        { "tools/call", "\"name\":\"x\"", "tools/call", "x" },
        { "prompts/get", "\"name\":\"x y\"", "prompts/get", "x y" },
        { "resources/read", "\"uri\":\"a://b\"", "resources/read", "a://b" },
        { "tools/call", "\"name\":\"\u00e9\"", "tools/call", "=?base64?w6k=?=" },
        { "tools/call", "\"name\":7", "tools/call", NULL }, /* the method reports the error */
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(match(good[i][0], good[i][1], good[i][2], good[i][3], VERSION), 0);
    }
}

static void headers_that_say_something_else_or_nothing_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][5] = {
        { "tools/list", "", NULL, NULL, VERSION },
        { "tools/list", "", "Tools/list", NULL, VERSION },
        { "tools/list", "", "tools/list", NULL, NULL },
        { "tools/list", "", "tools/list", NULL, "2025-11-25" },
        { "tools/call", "\"name\":\"x\"", "tools/call", NULL, VERSION },
        { "tools/call", "\"name\":\"x\"", "tools/call", "X", VERSION },
        { "tools/call", "\"name\":\"x\"", "tools/call", "=?base64?eA=?=", VERSION },
        { "tools/call", "\"name\":\"x\"", "tools/call", "=?base64?eA==", VERSION },
        { "tools/call", "\"name\":\"x\"", "tools/call", "=?base64?e!==?=", VERSION },
        { "tools/call", "\"name\":\"x\"", "tools/call", "=?base64?eQ==?=", VERSION },
        { "tools/call", "\"name\":\"x\"", "tools/call", "=?base64?", VERSION },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(match(bad[i][0], bad[i][1], bad[i][2], bad[i][3], bad[i][4]),
                         CBX_RPC_HEADER_MISMATCH);
    }
}

static struct cbx_mcp mcp;

/* The code of a request, and its HTTP status. */
static int check(const char *line, const char *version, int *status)
{
    struct cbx_err err = { 0 };
    struct cbx_mcp_check out;
    struct cbx_http_mcp headers = { 0 };
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    if (version != NULL) {
        headers.version = cbx_str_of(version);
    }
    assert_int_equal(cbx_rpc_read(cbx_str_of(line), &message, &err), 0);
    int code = cbx_mcp_check(&mcp, &message, &headers, &out, &err);
    json_decref(out.data);
    *status = out.status;
    return code;
}

static void the_era_of_a_request_decides_what_its_headers_must_be(void **state)
{
    (void)state;
    static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
                      none[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}";
    int status;
    assert_int_equal(check(list, NULL, &status), 0);
    assert_int_equal(check(list, "2025-03-26", &status), 0);
    assert_int_equal(check(list, "1999-01-01", &status), CBX_RPC_INVALID_REQUEST);
    assert_int_equal(status, 400);
    assert_int_equal(check(list, VERSION, &status), CBX_RPC_INVALID_PARAMS);
    assert_int_equal(status, 400);
    assert_int_equal(check(none, NULL, &status), CBX_RPC_METHOD_NOT_FOUND);
    assert_int_equal(status, 200);
}

static void a_header_that_contradicts_the_version_in_the_body_is_the_first_mistake(void **state)
{
    (void)state;
    static const char other[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{\"_meta\":{"
        "\"io.modelcontextprotocol/protocolVersion\":\"v999\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";
    int status;
    assert_int_equal(check(other, VERSION, &status), CBX_RPC_HEADER_MISMATCH);
    assert_int_equal(status, 400);
    assert_int_equal(check(other, "v999", &status), CBX_RPC_UNSUPPORTED_VERSION);
    assert_int_equal(check(other, NULL, &status), CBX_RPC_UNSUPPORTED_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_that_repeat_the_body_pass),
        cmocka_unit_test(headers_that_say_something_else_or_nothing_are_refused),
        cmocka_unit_test(the_era_of_a_request_decides_what_its_headers_must_be),
        cmocka_unit_test(a_header_that_contradicts_the_version_in_the_body_is_the_first_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
