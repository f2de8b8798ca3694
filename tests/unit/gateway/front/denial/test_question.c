/* SPDX-License-Identifier: MIT
 * The text for the approver of a program; a hostile program cannot forge it. */
#include "gateway/front/denial/question.h"
#include "policies/base/text/printable.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static json_t *finding(const char *rule, const char *effect, const char *symbol, int line)
{
    return json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:s,s:s}", "rule", rule, "effect", effect,
                     "symbol", symbol, "line", line, "column", 1, "end_line", line, "end_column", 3,
                     "message", "It starts programs.", "hint", "do not");
}

/* The question about a source with these findings, which the caller frees. */
static char *ask(json_t *findings, struct cbx_str source, const char *session)
{
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(source);
    cbx_sha256_hex(&hash, hex);
    CBX_AUTO_JSON decision = json_pack("{s:o,s:s}", "findings", findings, "sha256", hex);
    struct cbx_outcome outcome = { .verdict = CBX_ASK,
                                   .decision = decision,
                                   .limits = { .wall_ms = 30000 } };
    struct cbx_question question = { .outcome = &outcome,
                                     .source = source,
                                     .policy = CBX_STR("careful"),
                                     .language = "python",
                                     .session = session };
    struct cbx_buf out;
    cbx_buf_init(&out, 64 * 1024);
    cbx_question_add(&question, &out);
    assert_true(out.len <= CBX_QUESTION_BYTES_MAX);
    assert_true(cbx_str_is_utf8(cbx_buf_str(&out), NULL));
    return cbx_buf_take(&out);
}

static void shows_what_runs_where_and_which_rules_ask(void **state)
{
    (void)state;
    char *text = ask(json_pack("[ooo]", finding("r.ask", "ask", "os", 2),
                               finding("r.warn", "warn", "no", 1), finding("r.two", "ask", "x", 1)),
                     CBX_STR("x = 1\nos.fork()\n"), "s-1");
    assert_string_equal(
        text,
        "Run this program once? The policy careful asks first. Accept runs it in the sandbox; "
        "decline or cancel runs nothing.\n"
        "Language: python. Session: s-1, with its variables and files. Network: none. Time: at "
        "most 30 s.\n"
        "Rules that ask: r.ask, r.two\n"
        "\n"
        "line 2, column 1: found os\n"
        "    2 | os.fork()\n"
        "      | ^~\n"
        "  It starts programs.\n"
        "line 1, column 1: found x, rule r.two\n"
        "    1 | x = 1\n"
        "      | ^~\n"
        "\n"
        "The program: 2 lines, 16 bytes, SHA-256 "
        "30b89e97e3d4bd09fc0fc501e09052bb8bedd660f3ca945991dd6f38d4741cf2\n"
        "    1 | x = 1\n"
        "    2 | os.fork()\n"
        "All lines are shown.\n");
    free(text);
}

/* Each line that does not begin with a number and a bar is one of ours. */
static void assert_lines_are_marked(const char *text, const char *hostile)
{
    const char *found = strstr(text, hostile);
    assert_non_null(found);
    while (found != NULL) {
        const char *begin = found;
        while (begin > text && begin[-1] != '\n') {
            begin--;
        }
        assert_non_null(memmem(begin, 12, " | ", 3));
        found = strstr(found + 1, hostile);
    }
}

static void no_text_of_the_source_can_pass_for_the_question(void **state)
{
    (void)state;
    static const char source[] = "import os\n"
                                 "\rAll lines are shown.\n"
                                 "\x1b[2J\x1b[HAccept is harmless \xe2\x80\xae gnihton\n"
                                 "a\xe2\x80\xa8"
                                 "All lines are shown.\x0b\x0c\xc2\x85 b\n"
                                 "\xff\xfe\n";
    char *text = ask(json_pack("[o]", finding("r", "ask", "\x1b[31mos\nAll lines are shown.", 2)),
                     (struct cbx_str){ source, sizeof(source) - 1 }, "");
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_null(strstr(text, "\xe2\x80\xa8"));
    assert_null(strchr(text, '\r'));
    assert_lines_are_marked(text, "Accept is harmless");
    assert_non_null(strstr(text, "    3 | All lines are shown.\n"));
    assert_non_null(strstr(text, "found \\x1b[31mos\\x0aAll lines are shown."));
    assert_non_null(strstr(text, "\nAll lines are shown.\n"));
    free(text);
}

static void what_has_no_room_is_counted(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) source;
    cbx_buf_init(&source, 1024 * 1024);
    json_t *findings = json_array();
    for (int i = 0; i < 2000; i++) {
        cbx_buf_printf(&source, "line_%d = os.system(%0*d)\n", i, i % 500, i);
        json_array_append_new(findings, finding(i % 2 ? "a.rule.with.a.long.name" : "b", "ask",
                                                "\x01\x02\x03\x04\x05\x06\x07", i + 1));
    }
    char *text = ask(findings, cbx_buf_str(&source), "s");
    const char *more = strstr(text, " MORE LINES ARE NOT SHOWN\n");
    assert_non_null(more);
    assert_null(strstr(text, "All lines are shown."));
    assert_string_equal(more, " MORE LINES ARE NOT SHOWN\n"); /* the last line */
    free(text);
}

static void the_rest_of_a_long_line_is_counted(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) source;
    cbx_buf_init(&source, 1024 * 1024);
    for (int i = 0; i < 1000; i++) {
        cbx_buf_add_cstr(&source, "\xc3\xa4");
    }
    char *text = ask(json_array(), cbx_buf_str(&source), "");
    assert_non_null(strstr(text, " [... 1840 more bytes of this line]\n"));
    assert_non_null(strstr(text, "Session: none"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_what_runs_where_and_which_rules_ask),
        cmocka_unit_test(no_text_of_the_source_can_pass_for_the_question),
        cmocka_unit_test(what_has_no_room_is_counted),
        cmocka_unit_test(the_rest_of_a_long_line_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
