/* SPDX-License-Identifier: MIT
 * What a model gets to read: statuses, denials that stand alone, hostile output made harmless and
 * short. */
#include "gateway/front/mcp/clean.h"
#include "gateway/front/mcp/content.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *result)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
}

static const char *status_of(const json_t *result)
{
    return json_string_value(
        json_object_get(json_object_get(result, "structuredContent"), "status"));
}

static void assert_cleaned(struct cbx_str text, const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    assert_false(cbx_clean(&out, text, 4096));
    assert_string_equal(out.p, expected);
}

static void drops_escape_sequences_and_control_characters(void **state)
{
    (void)state;
    assert_cleaned(CBX_STR("a\x1b[1;31mred\x1b[0m b"), "ared b");
    assert_cleaned(CBX_STR("\x1b]0;title\atext\x1b]8;;http://x\x1b\\link"), "textlink");
    assert_cleaned(CBX_STR("bell\a nul\0 back\b\x7f\ttab\r\nline"), "bell nul back\ttab\nline");
    assert_cleaned(CBX_STR("10%\r20%\r"), "10%\n20%");
}

static void lets_no_unfinished_sequence_swallow_the_rest(void **state)
{
    (void)state;
    assert_cleaned(CBX_STR("\x1b]never ends"), "never ends");
    assert_cleaned(CBX_STR("\x1b[12"), "12");
    assert_cleaned(CBX_STR("end\x1b"), "end");
}

static void shows_invisible_characters_and_bad_utf8(void **state)
{
    (void)state;
    assert_cleaned(CBX_STR("a\u202e"
                           "b\xff"),
                   "a\\u{202e}b\\xff");
    assert_cleaned(CBX_STR("gr\u00fc\u00dfe \U0001f600"), "gr\u00fc\u00dfe \U0001f600");
}

static void keeps_the_beginning_and_the_end_of_what_is_too_long(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'm', sizeof(text));
    memcpy(text, "begin", 5);
    memcpy(text + sizeof(text) - 3, "end", 3);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    assert_true(cbx_clean(&out, (struct cbx_str){ text, sizeof(text) }, 100));
    assert_int_equal(strncmp(out.p, "begin", 5), 0);
    assert_string_equal(out.p + out.len - 3, "end");
    assert_non_null(strstr(out.p, "\n[... 900 bytes left out ...]\n"));
}

static void calls_a_failed_program_a_result_and_a_stopped_one_an_error(void **state)
{
    (void)state;
    static const struct {
        struct cbx_result result;
        const char *begin, *status;
        bool is_error;
    } cases[] = {
        { { .status = CBX_RUN_OK }, "ok\n", "ok", false },
        { { .status = CBX_RUN_ERROR, .exit_code = 3 }, "exit code 3\n", "error", false },
        { { .status = CBX_RUN_ERROR, .exit_code = -1 }, "exit code 1\n", "error", false },
        { { .status = CBX_RUN_TIMEOUT, .exit_code = -1 }, "timeout: ", "timeout", true },
        { { .status = CBX_RUN_CPU, .exit_code = -1 }, "cpu: ", "cpu", true },
        { { .status = CBX_RUN_OOM, .exit_code = -1 }, "oom: ", "oom", true },
        { { .status = CBX_RUN_KILLED, .signal = 9 }, "killed: ", "killed", true },
        { { .status = CBX_RUN_FAILED }, "failed: ", "failed", true },
        { { .status = CBX_RUN_LOST, .lost_since_ms = 1000 },
          "lost: engine unreachable since 1970-01-01T00:00:01Z, outcome unknown\n",
          "lost",
          true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_outcome outcome = { .verdict = CBX_ALLOW,
                                       .ran = true,
                                       .result = cases[i].result };
        CBX_AUTO_JSON items = json_array();
        CBX_AUTO_JSON result = cbx_content_of_run(&outcome, items);
        assert_int_equal(strncmp(text_of(result), cases[i].begin, strlen(cases[i].begin)), 0);
        assert_string_equal(status_of(result), cases[i].status);
        assert_int_equal(json_is_true(json_object_get(result, "isError")), cases[i].is_error);
    }
}

static void leaves_out_pictures_that_are_too_large_and_says_so(void **state)
{
    (void)state;
    size_t len = CBX_CONTENT_IMAGE_MAX / 3 * 4 + 8;
    char *large = malloc(len);
    assert_non_null(large);
    memset(large, 'A', len);
    CBX_AUTO_JSON items =
        json_pack("[{s:s,s:{s:s}},{s:s,s:{s:s%}}]", "kind", "display", "data", "image/png", "iVBO",
                  "kind", "display", "data", "image/png", large, len);
    free(large);
    struct cbx_outcome outcome = { .verdict = CBX_ALLOW,
                                   .ran = true,
                                   .result = { .status = CBX_RUN_OK } };
    CBX_AUTO_JSON result = cbx_content_of_run(&outcome, items);
    assert_int_equal(json_array_size(json_object_get(result, "content")), 2);
    assert_non_null(strstr(text_of(result), "[picture 1: PNG, 3 bytes]"));
    assert_non_null(strstr(text_of(result), "was left out"));
}

static void hands_on_pictures_of_all_kinds_and_the_text_that_says_most(void **state)
{
    (void)state;
    CBX_AUTO_JSON items = json_pack(
        "[{s:s,s:{s:s}},{s:s,s:{s:s,s:s}},{s:s,s:{s:s,s:s}},{s:s,s:{s:s}},{s:s,s:s,s:I}]", "kind",
        "display", "data", "image/jpeg", "/9j/", "kind", "display", "data", "text/plain",
        "<IPython.core.display.Markdown object>", "text/markdown", "# title", "kind", "result",
        "data", "text/plain", "   a\n0  1", "text/html", "<table>", "kind", "display", "data",
        "application/x-odd", "?", "kind", "file", "path", "plot.svg", "size", (json_int_t)5);
    struct cbx_outcome outcome = { .result = { .status = CBX_RUN_OK, .files_truncated = true } };
    CBX_AUTO_JSON result = cbx_content_of_run(&outcome, items);
    const json_t *picture = json_array_get(json_object_get(result, "content"), 1),
                 *structured = json_object_get(result, "structuredContent");
    assert_string_equal(json_string_value(json_object_get(picture, "mimeType")), "image/jpeg");
    assert_string_equal(json_string_value(json_object_get(structured, "result")),
                        "# title\n   a\n0  1\n");
    assert_non_null(strstr(text_of(result), "[picture 1: JPEG, 3 bytes]"));
    assert_non_null(strstr(text_of(result), "[a value of type application/x-odd cannot be shown"));
    assert_non_null(strstr(text_of(result), "are left out at the limit]"));
    const json_t *file = json_array_get(json_object_get(structured, "files"), 0);
    assert_string_equal(json_string_value(json_object_get(file, "type")), "image/svg+xml");
}

static void says_where_output_was_left_out_and_how_much(void **state)
{
    (void)state;
    CBX_AUTO_JSON items =
        json_pack("[{s:s,s:s},{s:s,s:I},{s:s,s:s}]", "kind", "stdout", "text", "head", "kind",
                  "cut", "size", (json_int_t)12345, "kind", "stdout", "text", "tail");
    struct cbx_outcome outcome = { .result = { .status = CBX_RUN_OK, .output_truncated = true } };
    CBX_AUTO_JSON result = cbx_content_of_run(&outcome, items);
    const json_t *structured = json_object_get(result, "structuredContent");
    assert_string_equal(json_string_value(json_object_get(structured, "stdout")),
                        "head\n[... 12345 bytes of output are left out here ...]\ntail");
    assert_null(json_object_get(structured, "stderr"));
}

static void says_what_the_guard_refused_and_by_which_rule(void **state)
{
    (void)state;
    CBX_AUTO_JSON items = json_pack("[{s:s,s:s,s:s,s:s,s:i,s:s,s:s}]", "kind", "blocked",
                                    "capability", "start-process", "rule", "py.process", "what",
                                    "a\x1b[2Jb", "count", 3, "message", "No.", "hint", "Do y.");
    struct cbx_outcome outcome = { .result = { .status = CBX_RUN_OK } };
    CBX_AUTO_JSON result = cbx_content_of_run(&outcome, items);
    assert_non_null(
        strstr(text_of(result), "blocked by rule py.process: No. (a\\x1b[2Jb)\n  hint: Do y.\n"));
    const json_t *blocked =
        json_array_get(json_object_get(json_object_get(result, "structuredContent"), "blocked"), 0);
    assert_int_equal(json_integer_value(json_object_get(blocked, "count")), 3);
    assert_string_equal(json_string_value(json_object_get(blocked, "what")), "a\\x1b[2Jb");
}

static void writes_a_denial_that_stands_alone(void **state)
{
    (void)state;
    struct cbx_outcome outcome = { .verdict = CBX_DENY, .id = "01ABC", .audit_seq = 7 };
    outcome.decision = json_pack(
        "{s:[{s:s,s:s,s:i,s:i},{s:s,s:s,s:s,s:s,s:s,s:i,s:i}]}", "findings", "rule", "warned",
        "effect", "warn", "line", 1, "column", 1, "rule", "py.x", "effect", "deny", "symbol",
        "os.\x1b[2Jsystem", "message", "Not here.", "hint", "Do y.", "line", 4, "column", 2);
    CBX_AUTO_JSON result = cbx_content_of_denial(&outcome, CBX_STR("a\nb\nc\n os.system"));
    assert_string_equal(
        text_of(result),
        "denied by policy rule py.x; nothing ran\n"
        "line 4, column 2: found os.\\x1b[2Jsystem\n     os.system\n     ^\n  Not here.\n"
        "  hint: Do y.\nChange the code as the hints say and send all of it again.\n"
        "audit id 01ABC\n");
    assert_string_equal(status_of(result), "denied");
    assert_true(json_is_true(json_object_get(result, "isError")));
    cbx_outcome_done(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_escape_sequences_and_control_characters),
        cmocka_unit_test(lets_no_unfinished_sequence_swallow_the_rest),
        cmocka_unit_test(shows_invisible_characters_and_bad_utf8),
        cmocka_unit_test(keeps_the_beginning_and_the_end_of_what_is_too_long),
        cmocka_unit_test(calls_a_failed_program_a_result_and_a_stopped_one_an_error),
        cmocka_unit_test(leaves_out_pictures_that_are_too_large_and_says_so),
        cmocka_unit_test(hands_on_pictures_of_all_kinds_and_the_text_that_says_most),
        cmocka_unit_test(says_where_output_was_left_out_and_how_much),
        cmocka_unit_test(says_what_the_guard_refused_and_by_which_rule),
        cmocka_unit_test(writes_a_denial_that_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
