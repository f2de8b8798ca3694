/* SPDX-License-Identifier: MIT
 * Lines in, lines out: what a client writes badly costs it one error, never the server. */
#include "gateway/front/mcp/jsonrpc.h"
#include "gateway/front/mcp/stdio.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}\n"

/* Serves `bytes` and compares what was written. */
static void assert_answers(const char *bytes, size_t len, const char *expected)
{
    static struct cbx_flow flow;
    static struct cbx_service service = { .flow = &flow };
    static struct cbx_mcp mcp;
    cbx_mcp_init(&mcp, &service, 0);
    CBX_AUTO_FILE in = tmpfile();
    CBX_AUTO_FILE out = tmpfile();
    char answers[4096] = "";
    assert_int_equal(fwrite(bytes, 1, len, in), len);
    rewind(in);
    cbx_stdio_serve(fileno(in), fileno(out), &mcp);
    rewind(out);
    answers[fread(answers, 1, sizeof(answers) - 1, out)] = '\0';
    assert_string_equal(answers, expected);
}

static void assert_text_answers(const char *text, const char *expected)
{
    assert_answers(text, strlen(text), expected);
}

static void answers_line_by_line_in_order(void **state)
{
    (void)state;
    assert_text_answers(PING("1") "\n" PING("\"1\"") "\r\n\n  \n" PING("2") "\n",
                        PONG("1") PONG("\"1\"") PONG("2"));
}

static void takes_a_last_line_without_its_end(void **state)
{
    (void)state;
    assert_text_answers(PING("1") "\n" PING("2"), PONG("1") PONG("2"));
}

static void says_nothing_to_notifications_responses_and_cancellations_of_nothing(void **state)
{
    (void)state;
    assert_text_answers("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                        "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}\n"
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                        "cancelled\",\"params\":{\"requestId\":5,\"reason\":7}}\n"
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}\n"
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
                        "");
}

static void goes_on_after_a_line_that_is_no_message(void **state)
{
    (void)state;
    assert_text_answers("[]\n" PING("2") "\n",
                        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"batches are "
                        "not accepted, send one message per line\"}}\n" PONG("2"));
}

static void answers_a_line_that_is_too_long_once_and_skips_it(void **state)
{
    (void)state;
    static const char tail[] = "\n" PING("2") "\n";
    size_t len = 3 * (size_t)CBX_RPC_LINE_MAX + 12345;
    char *bytes = malloc(len + sizeof(tail));
    assert_non_null(bytes);
    memset(bytes, '"', len);
    memcpy(bytes + len, tail, sizeof(tail));
    assert_answers(bytes, len + sizeof(tail) - 1,
                   "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"a message has "
                   "more than 8388608 bytes\"}}\n" PONG("2"));
    free(bytes);
}

static void answers_calls_before_it_ends(void **state)
{
    (void)state;
    assert_text_answers(
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32602,\"message\":\"unknown tool 'x', "
        "there are: execute_code, "
        "run_python_code, run_javascript_code, check_code, read_file, write_file, close_session, "
        "get_policy\"}}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_line_by_line_in_order),
        cmocka_unit_test(takes_a_last_line_without_its_end),
        cmocka_unit_test(says_nothing_to_notifications_responses_and_cancellations_of_nothing),
        cmocka_unit_test(goes_on_after_a_line_that_is_no_message),
        cmocka_unit_test(answers_a_line_that_is_too_long_once_and_skips_it),
        cmocka_unit_test(answers_calls_before_it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
