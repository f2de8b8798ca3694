/* SPDX-License-Identifier: MIT
 * The text for a model: statuses, self-contained denials, and hostile output made harmless and
 * short. */
#include "gateway/front/mcp/tools/clean.h"
#include "gateway/front/mcp/tools/content.h"
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
    cbx_clean(&out, text);
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

static void keeps_the_beginning_and_more_of_the_end_of_what_is_too_long(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'm', sizeof(text));
    memcpy(text, "begin", 5);
    memcpy(text + sizeof(text) - 3, "end", 3);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    assert_true(cbx_clean_cut(&out, (struct cbx_str){ text, sizeof(text) }, 660,
                              "read_file with path x://y has all of it"));
    assert_int_equal(strncmp(out.p, "begin", 5), 0);
    assert_string_equal(out.p + out.len - 3, "end");
    assert_non_null(strstr(
        out.p,
        "m\n[... 500 bytes are left out here; read_file with path x://y has all of it ...]\nm"));
    assert_true(cbx_clean_cost(cbx_buf_str(&out)) <= 660);
    cbx_buf_reset(&out);
    assert_false(cbx_clean_cut(&out, (struct cbx_str){ text, sizeof(text) }, 1000, NULL));
    assert_int_equal(out.len, 1000);
}

static void cuts_between_characters_wherever_the_limit_falls(void **state)
{
    (void)state;
    char text[4096];
    size_t len = 0;
    for (int i = 0; i < 500; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "\u00e9\u20ac\"\n");
    }
    for (size_t max = 0; max < 3000; max += 7) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 8192);
        cbx_clean_cut(&out, (struct cbx_str){ text, len }, max, NULL);
        assert_true(cbx_str_is_utf8(cbx_buf_str(&out), NULL));
        assert_true(max < 300 || cbx_clean_cost(cbx_buf_str(&out)) <= max);
    }
}

/* An execution as the service describes it, with these further members (a reference that is
 * taken). */
static json_t *execution_with(const char *outcome, json_t *members)
{
    json_t *execution = json_pack("{s:s,s:s,s:s,s:s}", "execution_id", "e1", "status",
                                  strcmp(outcome, "ok") == 0 ? "completed" : "error", "outcome",
                                  outcome, "decision", "01ABC");
    json_object_update(execution, members);
    json_decref(members);
    return execution;
}

static json_t *shown(const char *outcome, json_t *members)
{
    CBX_AUTO_JSON execution = execution_with(outcome, members);
    return cbx_content_of_execution(execution, 0);
}

static const json_t *structured_of(const json_t *result)
{
    return json_object_get(result, "structuredContent");
}

static void calls_a_failed_program_a_result_and_a_stopped_one_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *outcome, *begin;
        bool is_error;
    } cases[] = {
        { "ok", "ok\n", false },
        { "error", "exit code 1\n", false },
        { "timeout", "timeout: ", true },
        { "cpu", "cpu: ", true },
        { "oom", "oom: ", true },
        { "killed", "killed: no\n", true },
        { "failed", "failed: no\n", true },
        { "lost", "lost: no\n", true },
        { "refused", "refused: ", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_JSON result = shown(cases[i].outcome, json_pack("{s:s}", "error", "no"));
        assert_int_equal(strncmp(text_of(result), cases[i].begin, strlen(cases[i].begin)), 0);
        assert_string_equal(status_of(result), cases[i].outcome);
        assert_int_equal(json_is_true(json_object_get(result, "isError")), cases[i].is_error);
    }
}

static void tells_how_to_wait_for_a_program_that_still_runs(void **state)
{
    (void)state;
    CBX_AUTO_JSON execution =
        json_pack("{s:s,s:s,s:s}", "execution_id", "e1", "session_id", "s1", "status", "running");
    CBX_AUTO_JSON result = cbx_content_of_execution(execution, 0);
    assert_string_equal(status_of(result), "running");
    assert_false(json_is_true(json_object_get(result, "isError")));
    assert_non_null(
        strstr(text_of(result), "sandbox_read_file with path sandbox://executions/e1 waits"));
    assert_non_null(strstr(text_of(result), "session s1"));
}

static void names_every_picture_and_shows_those_that_are_not_too_large(void **state)
{
    (void)state;
    size_t len = CBX_CONTENT_IMAGE_MAX / 3 * 4 + 8;
    char *large = malloc(len);
    assert_non_null(large);
    memset(large, 'A', len);
    CBX_AUTO_JSON result = shown(
        "ok", json_pack("{s:[{s:s,s:{s:s}},{s:s,s:{s:s%}}]}", "output", "kind", "display", "data",
                        "image/png", "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAA", "kind",
                        "display", "data", "image/png", large, len));
    free(large);
    assert_int_equal(json_array_size(json_object_get(result, "content")), 2);
    assert_null(json_object_get(result, "structuredContent")); /* clients would drop the pictures */
    assert_non_null(strstr(
        text_of(result), "[picture 1: PNG 640x480, 36 bytes, sandbox://executions/e1/pictures/1]"));
    assert_non_null(
        strstr(text_of(result), "too large to be shown, sandbox://executions/e1/pictures/2]"));
    assert_non_null(strstr(text_of(result), "execution e1 ran for "));
}

static void a_picture_that_is_not_shown_leaves_the_structured_part(void **state)
{
    (void)state;
    size_t len = CBX_CONTENT_IMAGE_MAX / 3 * 4 + 8;
    char *large = malloc(len);
    assert_non_null(large);
    memset(large, 'A', len);
    CBX_AUTO_JSON result = shown("ok", json_pack("{s:[{s:s,s:{s:s%}}]}", "output", "kind",
                                                 "display", "data", "image/png", large, len));
    free(large);
    const json_t *pictures = json_object_get(structured_of(result), "pictures");
    assert_true(json_is_false(json_object_get(json_array_get(pictures, 0), "shown")));
}

static void hands_on_pictures_of_all_kinds_and_the_text_that_says_most(void **state)
{
    (void)state;
    CBX_AUTO_JSON result = shown(
        "ok", json_pack("{s:[{s:s,s:{s:s}},{s:s,s:{s:s,s:s}},{s:s,s:{s:s,s:s}},{s:s,s:{s:s}}],s:b}",
                        "output", "kind", "display", "data", "image/jpeg", "/9j/", "kind",
                        "display", "data", "text/plain", "<IPython.core.display.Markdown object>",
                        "text/markdown", "# title", "kind", "result", "data", "text/plain",
                        "   a\n0  1", "text/html", "<table>", "kind", "display", "data",
                        "application/x-odd", "?", "files_truncated", 1));
    const json_t *picture = json_array_get(json_object_get(result, "content"), 1);
    assert_string_equal(json_string_value(json_object_get(picture, "mimeType")), "image/jpeg");
    assert_non_null(strstr(text_of(result),
                           "--- result ---\n# title\n   a\n0  1\n"
                           "[a value of type application/x-odd cannot be shown here]\n"));
    assert_null(json_object_get(result, "structuredContent"));
    assert_non_null(strstr(text_of(result), "[picture 1: JPEG, 3 bytes, "));
    assert_non_null(strstr(text_of(result), "are left out at the limit]"));
}

static void links_the_files_of_a_session_and_says_that_others_are_gone(void **state)
{
    (void)state;
    for (int in_session = 0; in_session < 2; in_session++) {
        json_t *members = json_pack("{s:[{s:s,s:i,s:s}]}", "files", "path", "a b/\u00e9.csv",
                                    "size", 5, "type", "text/csv");
        if (in_session) {
            json_object_set_new(members, "session_id", json_string("s1"));
        }
        CBX_AUTO_JSON result = shown("ok", members);
        const json_t *file = json_array_get(json_object_get(structured_of(result), "files"), 0);
        const char *uri = json_string_value(json_object_get(file, "uri"));
        if (in_session) {
            assert_string_equal(uri, "session://s1/files/a%20b/%C3%A9.csv");
            assert_int_equal(json_array_size(json_object_get(result, "content")), 1);
            assert_non_null(strstr(text_of(result), uri));
        } else {
            assert_null(uri);
            assert_non_null(strstr(text_of(result), "removed with the sandbox"));
        }
    }
}

static void says_where_output_was_left_out_and_how_much(void **state)
{
    (void)state;
    CBX_AUTO_JSON result =
        shown("ok", json_pack("{s:[{s:s,s:s},{s:s,s:i},{s:s,s:s}],s:b}", "output", "kind", "stdout",
                              "text", "head", "kind", "cut", "size", 12345, "kind", "stdout",
                              "text", "tail", "truncated", 1));
    assert_string_equal(json_string_value(json_object_get(structured_of(result), "stdout")),
                        "head\n[... 12345 bytes of output are left out here ...]\ntail");
    assert_null(json_object_get(structured_of(result), "stderr"));
    const char *line = "audit id 01ABC\n"
                       "stdout: 0.1 of 12.4 kB kept, sandbox://executions/e1/stdout\n";
    assert_string_equal(text_of(result) + strlen(text_of(result)) - strlen(line), line);
}

static void the_last_line_says_what_there_is_of_an_output_that_is_not_shown_whole(void **state)
{
    (void)state;
    CBX_AUTO_MEM char *text = malloc(100001);
    assert_non_null(text);
    memset(text, 'm', 100000);
    text[100000] = '\0';
    CBX_AUTO_JSON result =
        shown("ok", json_pack("{s:[{s:s,s:s},{s:s,s:i}]}", "output", "kind", "stdout", "text", text,
                              "kind", "cut", "size", 4100000));
    const char *line = "stdout: 0.1 of 4.2 MB kept, sandbox://executions/e1/stdout\n";
    assert_string_equal(text_of(result) + strlen(text_of(result)) - strlen(line), line);
    assert_non_null(strstr(text_of(result), "executions/e1/stdout has what was kept"));
    assert_true(cbx_clean_cost(cbx_str_of(text_of(result))) <= CBX_CONTENT_MAX);
}

/* A text of so many characters in each place at once. */
static json_t *much_of_everything(size_t len)
{
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, '"', len);
    text[len] = '\0';
    json_t *members =
        json_pack("{s:[{s:s,s:s},{s:s,s:s},{s:s,s:{s:s}}],s:{s:s,s:s,s:[s]}}", "output", "kind",
                  "stdout", "text", text, "kind", "stderr", "text", text, "kind", "result", "data",
                  "text/plain", text, "error", "ename", "E", "evalue", text, "traceback", text);
    free(text);
    return members;
}

static void keeps_each_half_of_a_result_below_what_clients_show(void **state)
{
    (void)state;
    static const struct {
        const char *outcome;
        size_t most;
    } cases[] = { { "error", CBX_CONTENT_MAX }, { "timeout", CBX_CONTENT_ERROR_MAX } };
    for (size_t i = 0; i < 2; i++) {
        CBX_AUTO_JSON result = shown(cases[i].outcome, much_of_everything(100000));
        CBX_AUTO_MEM char *structured = json_dumps(structured_of(result), JSON_COMPACT);
        size_t len = strlen(structured);
        assert_true(cbx_clean_cost(cbx_str_of(text_of(result))) <= cases[i].most);
        assert_true(len <= cases[i].most && len > cases[i].most / 2);
        static const char *const parts[] = { "stdout", "stderr", "result", "traceback", "error" };
        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
            assert_non_null(json_object_get(structured_of(result), parts[k]));
        }
        assert_non_null(strstr(text_of(result), "path sandbox://executions/e1/stdout has all"));
    }
}

static void begins_both_halves_with_the_status_and_ends_them_with_the_audit_id(void **state)
{
    (void)state;
    CBX_AUTO_JSON result = shown("error", much_of_everything(10));
    CBX_AUTO_MEM char *structured = json_dumps(structured_of(result), JSON_COMPACT);
    const char *end = ",\"audit_id\":\"01ABC\"}", *line = "audit id 01ABC\n";
    assert_int_equal(strncmp(structured, "{\"status\":\"error\"", 17), 0);
    assert_string_equal(structured + strlen(structured) - strlen(end), end);
    assert_string_equal(text_of(result) + strlen(text_of(result)) - strlen(line), line);
}

static void says_what_the_guard_refused_and_by_which_rule(void **state)
{
    (void)state;
    CBX_AUTO_JSON result =
        shown("ok", json_pack("{s:[{s:s,s:s,s:s,s:i,s:s,s:s}]}", "blocked", "capability",
                              "start-process", "rule", "py.process", "what", "a\x1b[2Jb", "count",
                              3, "message", "No.", "hint", "Do y."));
    assert_non_null(strstr(
        text_of(result), "blocked by rule py.process: No. (a\\x1b[2Jb), 3 times\n  hint: Do y.\n"));
    const json_t *blocked = json_array_get(json_object_get(structured_of(result), "blocked"), 0);
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
    CBX_AUTO_JSON result = cbx_content_of_denial(&outcome, CBX_STR("a\nb\nc\n os.system"), NULL);
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
        cmocka_unit_test(keeps_the_beginning_and_more_of_the_end_of_what_is_too_long),
        cmocka_unit_test(cuts_between_characters_wherever_the_limit_falls),
        cmocka_unit_test(calls_a_failed_program_a_result_and_a_stopped_one_an_error),
        cmocka_unit_test(tells_how_to_wait_for_a_program_that_still_runs),
        cmocka_unit_test(names_every_picture_and_shows_those_that_are_not_too_large),
        cmocka_unit_test(hands_on_pictures_of_all_kinds_and_the_text_that_says_most),
        cmocka_unit_test(links_the_files_of_a_session_and_says_that_others_are_gone),
        cmocka_unit_test(a_picture_that_is_not_shown_leaves_the_structured_part),
        cmocka_unit_test(the_last_line_says_what_there_is_of_an_output_that_is_not_shown_whole),
        cmocka_unit_test(says_where_output_was_left_out_and_how_much),
        cmocka_unit_test(keeps_each_half_of_a_result_below_what_clients_show),
        cmocka_unit_test(begins_both_halves_with_the_status_and_ends_them_with_the_audit_id),
        cmocka_unit_test(says_what_the_guard_refused_and_by_which_rule),
        cmocka_unit_test(writes_a_denial_that_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
