/* SPDX-License-Identifier: MIT
 * Lines in, lines out: a malformed line of a client gives one error and does not stop the
 * server. */
#include "gateway/front/mcp/protocol/jsonrpc.h"
#include "gateway/front/mcp/protocol/stdio.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}\n"

/* Serves `bytes` and compares the output. */
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
    cbx_mcp_done(&mcp);
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

/* Writes a line of `len` bytes, `head` and `tail` included, before a ping with id 2. */
static void assert_long_answers(const char *head, const char *tail, size_t len,
                                const char *expected)
{
    static const char next[] = "\n" PING("2") "\n";
    char *bytes = malloc(len + sizeof(next));
    assert_non_null(bytes);
    memset(bytes, 'x', len);
    memcpy(bytes, head, strlen(head));
    memcpy(bytes + len - strlen(tail), tail, strlen(tail));
    memcpy(bytes + len, next, sizeof(next));
    assert_answers(bytes, len + sizeof(next) - 1, expected);
    free(bytes);
}

static void answers_a_line_that_is_too_long_once_and_goes_on_with_the_next(void **state)
{
    (void)state;
    assert_long_answers("\"", "", 3 * (size_t)CBX_RPC_LINE_MAX + 12345,
                        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"the "
                        "message has 31469625 bytes, allowed are 10485760\"}}\n" PONG("2"));
}

static void answers_lines_of_all_lengths_that_are_too_long(void **state)
{
    (void)state;
    static const size_t lengths[] = { CBX_RPC_LINE_MAX + 1, CBX_RPC_LINE_MAX + 100000,
                                      3 * (size_t)CBX_RPC_LINE_MAX };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char expected[300];
        snprintf(expected, sizeof(expected),
                 "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":"
                 "\"the message has %zu bytes, allowed are 10485760\"}}\n" PONG("2"),
                 lengths[i]);
        assert_long_answers("{\"id\":1,\"method\":\"", "\"}", lengths[i], expected);
    }
}

static void forgets_a_long_line_before_the_next(void **state)
{
    (void)state;
    size_t len = CBX_RPC_LINE_MAX + 200000;
    char *bytes = malloc(2 * len + 2);
    assert_non_null(bytes);
    memset(bytes, 'x', 2 * len + 2);
    memcpy(bytes, "{\"id\":1,\"", 9);
    bytes[len] = bytes[2 * len + 1] = '\n';
    assert_answers(
        bytes, 2 * len + 2,
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"the message "
        "has 10685760 bytes, allowed are 10485760\"}}\n{\"jsonrpc\":\"2.0\",\"error\":{\"code\":"
        "-32600,\"message\":\"the message has 10685760 bytes, allowed are 10485760\"}}\n");
    free(bytes);
}

static void accepts_a_line_of_the_greatest_length(void **state)
{
    (void)state;
    assert_long_answers("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"",
                        "\"}}", CBX_RPC_LINE_MAX, PONG("1") PONG("2"));
}

static void answers_calls_before_it_ends(void **state)
{
    (void)state;
    assert_text_answers(
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32602,\"message\":\"unknown tool 'x', "
        "there are: execute_code, "
        "run_python_code, run_javascript_code, check_code, sandbox_read_file, sandbox_write_file, "
        "close_session, "
        "get_policy\"}}\n");
}

/* The input stays open. Were it read, this test would not end. */
static void ends_when_nobody_reads_the_output(void **state)
{
    (void)state;
    static struct cbx_flow flow;
    static struct cbx_service service = { .flow = &flow };
    static struct cbx_mcp mcp;
    int in[2], out[2];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    close(out[0]);
    cbx_mcp_init(&mcp, &service, 0);
    assert_true(cbx_stdio_serve(in[0], out[1], &mcp));
    cbx_mcp_done(&mcp);
    close(in[0]);
    close(in[1]);
    close(out[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_line_by_line_in_order),
        cmocka_unit_test(takes_a_last_line_without_its_end),
        cmocka_unit_test(says_nothing_to_notifications_responses_and_cancellations_of_nothing),
        cmocka_unit_test(goes_on_after_a_line_that_is_no_message),
        cmocka_unit_test(answers_a_line_that_is_too_long_once_and_goes_on_with_the_next),
        cmocka_unit_test(answers_lines_of_all_lengths_that_are_too_long),
        cmocka_unit_test(forgets_a_long_line_before_the_next),
        cmocka_unit_test(accepts_a_line_of_the_greatest_length),
        cmocka_unit_test(answers_calls_before_it_ends),
        cmocka_unit_test(ends_when_nobody_reads_the_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
