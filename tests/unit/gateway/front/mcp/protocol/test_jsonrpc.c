/* SPDX-License-Identifier: MIT
 * Lines to messages and back: accepted lines, codes of refusals, and ids. */
#include "gateway/front/mcp/protocol/jsonrpc.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static int read_code(const char *line)
{
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    struct cbx_err err = { 0 };
    int code = cbx_rpc_read(cbx_str_of(line), &message, &err);
    assert_true(code == 0 || (err.text[0] != '\0' && message.kind == CBX_RPC_NONE));
    return code;
}

static void tells_requests_notifications_and_responses_apart(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum cbx_rpc_kind kind;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", CBX_RPC_REQUEST },
        { " {\"jsonrpc\" : \"2.0\", \"method\":\"a\", \"params\":{\"id\":3}}\r",
          CBX_RPC_NOTIFICATION },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", CBX_RPC_RESPONSE },
        { "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"\"}}", CBX_RPC_RESPONSE },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(rpc_message) message = { 0 };
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_rpc_read(cbx_str_of(cases[i].line), &message, &err), 0);
        assert_int_equal(message.kind, cases[i].kind);
    }
}

static void keeps_an_id(void **state)
{
    (void)state;
    static const char *const ids[] = { "1",
                                       "\"1\"",
                                       "9007199254740993",
                                       "-9223372036854775808",
                                       "\"\xC3\xA4\"",
                                       "\"a\\\"b\\\\\"",
                                       "\"\"" };
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        char line[200];
        snprintf(line, sizeof(line),
                 "{\"params\":{\"id\":7,\"x\":[\"id\"]},\"method\":\"id\",\"id\" :\t%s "
                 ",\"jsonrpc\":\"2.0\"}",
                 ids[i]);
        CBX_AUTO_DONE(rpc_message) message = { 0 };
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_rpc_read(cbx_str_of(line), &message, &err), 0);
        assert_string_equal(message.id, ids[i]);
    }
}

static void refuses_ids_that_mcp_does_not_have(void **state)
{
    (void)state;
    static const char *const ids[] = { "null", "1.0", "1e3", "true", "[1]", "{}" };
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        char line[100];
        snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", ids[i]);
        assert_int_equal(read_code(line), CBX_RPC_INVALID_REQUEST);
    }
}

static void refuses_an_id_that_is_too_long(void **state)
{
    (void)state;
    char line[CBX_RPC_ID_MAX + 100];
    snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"p\"}",
             CBX_RPC_ID_MAX - 2, 0);
    assert_int_equal(read_code(line), 0);
    snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"p\"}",
             CBX_RPC_ID_MAX - 1, 0);
    assert_int_equal(read_code(line), CBX_RPC_INVALID_REQUEST);
}

static void refuses_what_is_not_json_as_a_parse_error(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{", "", "nonsense", "{\"a\":1}{\"b\":2}", "{\"id\":1,\"id\":2}", "\"\xff\"", "[1,]"
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_int_equal(read_code(lines[i]), CBX_RPC_PARSE_ERROR);
    }
}

static void refuses_batches_and_what_is_no_request(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "[]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
        "1",
        "null",
        "{}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":1}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":[]}",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_int_equal(read_code(lines[i]), CBX_RPC_INVALID_REQUEST);
    }
    assert_int_equal(read_code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}"),
                     CBX_RPC_INVALID_PARAMS);
}

static void keeps_the_id_of_a_request_that_it_refuses(void **state)
{
    (void)state;
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_rpc_read(CBX_STR("{\"id\":\"x\",\"method\":5}"), &message, &err),
                     CBX_RPC_INVALID_REQUEST);
    assert_string_equal(message.id, "\"x\"");
}

static void gives_no_id_of_a_line_that_it_cannot_parse(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"method\":\"b\"}",
        "{\"id\":2,\"method\":\"\xff\"}",
        "{\"id\":3,\"method\":\"a\"",
        "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"method\":\"a\"}",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        CBX_AUTO_DONE(rpc_message) message = { 0 };
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_rpc_read(cbx_str_of(lines[i]), &message, &err), CBX_RPC_PARSE_ERROR);
        assert_string_equal(message.id, "");
    }
}

static void gives_an_id_without_its_escapes(void **state)
{
    (void)state;
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(
        cbx_rpc_read(
            CBX_STR("{\"jsonrpc\":\"2.0\",\"\\u0069d\":\"\\u0041\\/\",\"method\":\"ping\"}"),
            &message, &err),
        0);
    assert_string_equal(message.id, "\"A/\"");
}

static void accepts_unpaired_surrogates_and_says_where_they_were(void **state)
{
    (void)state;
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"a\","
                               "\"params\":{\"text\":\"\\ude00x\"}}";
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_rpc_read(CBX_STR(line), &message, &err), 0);
    assert_int_equal(err.code, 0);
    assert_string_equal(message.id, "\"\xef\xbf\xbd\"");
    assert_string_equal(json_string_value(json_object_get(message.params, "text")),
                        "\xef\xbf\xbdx");
    assert_string_equal(message.unpaired.escape, "\\ud800");
    assert_string_equal(message.unpaired.name, "id");
}

static void says_how_long_a_line_is(void **state)
{
    (void)state;
    size_t len = CBX_RPC_LINE_MAX + 1;
    CBX_AUTO_MEM char *line = malloc(len);
    assert_non_null(line);
    memset(line, 'x', len);
    CBX_AUTO_DONE(rpc_message) message = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_rpc_read((struct cbx_str){ line, len }, &message, &err),
                     CBX_RPC_INVALID_REQUEST);
    assert_string_equal(message.id, "");
    assert_string_equal(err.text, "the message has 10485761 bytes, allowed are 10485760");
}

static void refuses_deep_and_long_lines_before_it_parses_them(void **state)
{
    (void)state;
    char deep[2 * (CBX_JSON_DEPTH_MAX + 1) + 1];
    memset(deep, '[', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(read_code(deep), CBX_RPC_INVALID_REQUEST);
    char *line = malloc(CBX_RPC_LINE_MAX + 2);
    assert_non_null(line);
    memset(line, ' ', CBX_RPC_LINE_MAX + 1);
    line[CBX_RPC_LINE_MAX + 1] = '\0';
    assert_int_equal(read_code(line), CBX_RPC_INVALID_REQUEST);
    free(line);
}

static void writes_one_line_and_leaves_out_an_id_it_does_not_know(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 4096);
    CBX_AUTO_JSON result = json_pack("{s:s}", "text", "two\nlines");
    assert_int_equal(cbx_rpc_write_result(&buf, "\"\\u0041\"", result), 0);
    assert_string_equal(
        buf.p, "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0041\",\"result\":{\"text\":\"two\\nlines\"}}\n");
    cbx_buf_reset(&buf);
    assert_int_equal(cbx_rpc_write_error(&buf, "", CBX_RPC_PARSE_ERROR, "no", NULL), 0);
    assert_string_equal(buf.p,
                        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"no\"}}\n");
}

static void appends_nothing_of_an_answer_that_does_not_fit(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 64);
    CBX_AUTO_JSON result = json_pack("{s:s}", "text", "0123456789012345678901234567890123456789");
    assert_int_equal(cbx_rpc_write_result(&buf, "1", result), CBX_ETOOBIG);
    assert_int_equal(buf.len, 0);
    CBX_AUTO_JSON small = json_object();
    assert_int_equal(cbx_rpc_write_result(&buf, "1", small), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_requests_notifications_and_responses_apart),
        cmocka_unit_test(keeps_an_id),
        cmocka_unit_test(refuses_ids_that_mcp_does_not_have),
        cmocka_unit_test(refuses_an_id_that_is_too_long),
        cmocka_unit_test(refuses_what_is_not_json_as_a_parse_error),
        cmocka_unit_test(refuses_batches_and_what_is_no_request),
        cmocka_unit_test(keeps_the_id_of_a_request_that_it_refuses),
        cmocka_unit_test(gives_no_id_of_a_line_that_it_cannot_parse),
        cmocka_unit_test(gives_an_id_without_its_escapes),
        cmocka_unit_test(accepts_unpaired_surrogates_and_says_where_they_were),
        cmocka_unit_test(says_how_long_a_line_is),
        cmocka_unit_test(refuses_deep_and_long_lines_before_it_parses_them),
        cmocka_unit_test(writes_one_line_and_leaves_out_an_id_it_does_not_know),
        cmocka_unit_test(appends_nothing_of_an_answer_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
