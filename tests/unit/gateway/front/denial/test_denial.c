/* SPDX-License-Identifier: MIT
 * The text of a denial: places, carets, merged findings, texts once, and its size. */
#include "gateway/front/denial/denial.h"
#include "policies/base/text/printable.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static json_t *finding(const char *rule, const char *symbol, int line, int column, int end,
                       const char *message, const char *hint)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:s,s:s}", "rule", rule, "effect", "deny",
                     "severity", "high", "symbol", symbol, "line", line, "column", column,
                     "end_line", line, "end_column", end, "message", message, "hint", hint);
}

static char *text_of(json_t *findings, const char *source, const char *id)
{
    CBX_AUTO_JSON decision = json_pack("{s:o}", "findings", findings);
    struct cbx_denial denial = { .decision = decision,
                                 .source = cbx_str_of(source),
                                 .audit_id = id };
    struct cbx_buf out;
    cbx_buf_init(&out, 4 * CBX_DENIAL_BYTES_MAX);
    cbx_denial_add(&denial, &out);
    assert_true(out.len <= CBX_DENIAL_BYTES_MAX);
    assert_true(cbx_str_is_utf8(cbx_buf_str(&out), NULL));
    return cbx_buf_take(&out);
}

static void assert_text(json_t *findings, const char *source, const char *expected)
{
    char *text = text_of(findings, source, "01A");
    assert_string_equal(text, expected);
    free(text);
}

#define LAST "Change the code as the hints say and send all of it again.\naudit id 01A\n"

static void shows_the_line_with_a_caret_the_message_and_the_hint(void **state)
{
    (void)state;
    assert_text(json_pack("[o]", finding("r", "os.system", 2, 5, 14, "No.", "write `x`")),
                "import os\nif 1: os.system('a')\n",
                "denied by policy rule r; nothing ran\n"
                "line 2, column 5: found os.system\n"
                "    if 1: os.system('a')\n"
                "        ^~~~~~~~~\n"
                "  No.\n  hint: write `x`\n" LAST);
}

static void names_the_rule_that_denies_before_those_that_ask(void **state)
{
    (void)state;
    json_t *asks = finding("asks", "wave", 1, 8, 12, "Ask.", "h"),
           *also = finding("also", "pty.spawn", 2, 1, 10, "Ask too.", "h");
    json_object_set_new(asks, "effect", json_string("ask"));
    json_object_set_new(also, "effect", json_string("ask"));
    assert_text(json_pack("[ooo]", asks, also, finding("r", "pty.spawn", 2, 1, 10, "No.", "")),
                "import wave\npty.spawn(a)\n",
                "denied by policy rule r; nothing ran\n"
                "line 2, column 1: found pty.spawn, also rule also\n"
                "    pty.spawn(a)\n"
                "    ^~~~~~~~~\n"
                "  No.\n"
                "line 1, column 8: found wave, rule asks\n"
                "    import wave\n"
                "           ^~~~\n"
                "  Ask.\n  hint: h\n" LAST);
}

static void says_each_text_once_and_lists_the_other_places(void **state)
{
    (void)state;
    assert_text(json_pack("[ooo]", finding("r", "eval", 1, 1, 5, "No.", "h"),
                          finding("r", "eval", 2, 1, 5, "No.", "h"),
                          finding("r", "exec", 3, 1, 5, "No.", "h")),
                "eval(a)\neval(b)\nexec(c)",
                "denied by policy rule r; nothing ran\n"
                "line 1, column 1: found eval\n    eval(a)\n    ^~~~\n"
                "  also line 2, 3 exec\n  No.\n  hint: h\n" LAST);
    assert_text(json_pack("[oo]", finding("r", "a", 1, 1, 2, "No.", "first"),
                          finding("r", "b", 2, 1, 2, "No.", "second")),
                "a\nb",
                "denied by policy rule r; nothing ran\n"
                "line 1, column 1: found a\n    a\n    ^\n  No.\n  hint: first\n"
                "line 2, column 1: found b, rule r\n    b\n    ^\n  hint: second\n" LAST);
}

static void merges_findings_at_one_place(void **state)
{
    (void)state;
    json_t *mild = finding("mild", "x", 1, 1, 2, "Mild.", "do y");
    json_object_set_new(mild, "severity", json_string("low"));
    assert_text(json_pack("[ooo]", mild, finding("grave", "x", 1, 1, 2, "Grave.", "do z"),
                          finding("grave", "x()", 1, 1, 4, "Grave.", "do z")),
                "x()",
                "denied by policy rule grave; nothing ran\n"
                "line 1, column 1: found x, also rule mild\n    x()\n    ^\n"
                "  Grave.\n  hint: do z\n" LAST);
    /* "new Function" and the "Function" in it */
    assert_text(json_pack("[oo]", finding("r", "Function", 1, 1, 15, "No.", "h"),
                          finding("r", "Function", 1, 5, 13, "No.", "h")),
                "new Function()",
                "denied by policy rule r; nothing ran\n"
                "line 1, column 1: found Function\n    new Function()\n    ^~~~~~~~~~~~~~\n"
                "  No.\n  hint: h\n" LAST);
}

static void aligns_the_caret_below_wide_and_escaped_characters(void **state)
{
    (void)state;
    assert_text(json_pack("[o]", finding("r", "f", 1, 5, 6, "No.", "h")), "\u4f60\t\x1b=f()",
                "denied by policy rule r; nothing ran\n"
                "line 1, column 5: found f\n"
                "    \u4f60    \\x1b=f()\n"
                "               ^\n"
                "  No.\n  hint: h\n" LAST);
}

static void reads_lines_that_end_in_other_ways(void **state)
{
    (void)state;
    static const char *const sources[] = { "a\r\nb\r\nc", "a\rb\rc", "a\n\rc", "a\n\nc" };
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        char *text =
            text_of(json_pack("[o]", finding("r", "c", 3, 1, 2, "No.", "h")), sources[i], "01A");
        assert_non_null(strstr(text, "\n    c\n    ^\n"));
        free(text);
    }
}

static void shows_the_part_of_a_long_line_around_the_place(void **state)
{
    (void)state;
    char source[5001];
    memset(source, 'x', 5000);
    memcpy(source + 3000, "EVAL", 4);
    source[5000] = '\0';
    char *text =
        text_of(json_pack("[o]", finding("r", "EVAL", 1, 3001, 3005, "No.", "h")), source, "01A");
    assert_true(strlen(text) < 500);
    const char *line = strstr(text, "    ...x"), *caret = strstr(text, "^~~~\n");
    assert_non_null(line);
    assert_non_null(caret);
    const char *shown = strstr(line, "EVAL"), *below = strchr(line, '\n') + 1;
    assert_int_equal(shown - line, caret - below);
    free(text);
}

static void needs_no_source_line_for_a_place_that_is_not_in_it(void **state)
{
    (void)state;
    assert_text(json_pack("[o]", finding("r", "x", 9, 3, 4, "No.", "h")), "a",
                "denied by policy rule r; nothing ran\nline 9, column 3: found x\n"
                "  No.\n  hint: h\n" LAST);
}

static void leaves_out_what_only_warns_and_asks_for_approval(void **state)
{
    (void)state;
    json_t *warning = finding("warned", "w", 1, 1, 2, "W.", "h");
    json_object_set_new(warning, "effect", json_string("warn"));
    json_t *asking = finding("asked", "x", 1, 1, 2, "A.", "");
    json_object_set_new(asking, "effect", json_string("ask"));
    CBX_AUTO_JSON decision = json_pack("{s:[oo]}", "findings", warning, asking);
    struct cbx_denial denial = { .decision = decision, .ask = true, .source = CBX_STR("x") };
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    cbx_denial_add(&denial, &out);
    assert_string_equal(out.p, "needs approval by policy rule asked; nothing ran\n"
                               "line 1, column 1: found x\n    x\n    ^\n  A.\n"
                               "This code needs approval, and this client cannot be asked for it. "
                               "Change the code, or ask the operator of this gateway.\n");
    cbx_buf_reset(&out);
    denial.approval = "Ask so.";
    cbx_denial_add(&denial, &out);
    assert_non_null(strstr(out.p, "  A.\nAsk so.\n"));
}

static void is_never_longer_than_its_cap_and_counts_the_rest(void **state)
{
    (void)state;
    json_t *findings = json_array();
    char rule[16], hint[400], source[3000];
    memset(source, '\n', sizeof(source) - 1);
    source[sizeof(source) - 1] = '\0';
    memset(hint, 'h', sizeof(hint) - 1);
    hint[sizeof(hint) - 1] = '\0';
    for (int i = 0; i < 300; i++) {
        snprintf(rule, sizeof(rule), "r%d", i);
        memcpy(hint, rule, strlen(rule));
        json_array_append_new(findings, finding(rule, "x", i + 1, 1, 2, rule, hint));
    }
    char *text = text_of(findings, source, "01A");
    assert_non_null(strstr(text, "\nand 296 more\n"));
    assert_non_null(strstr(text, LAST));
    free(text);
}

static void cuts_long_texts_between_characters(void **state)
{
    (void)state;
    char symbol[1001], message[4001];
    for (size_t i = 0; i < 500; i++) {
        memcpy(symbol + 2 * i, "\xc3\xa9", 2);
    }
    for (size_t i = 0; i < 2000; i++) {
        memcpy(message + 2 * i, "\xc3\xa9", 2);
    }
    symbol[999] = symbol[1000] = message[4000] = '\0';
    symbol[998] = '\0';
    char *text =
        text_of(json_pack("[o]", finding("r", symbol, 1, 1, 2, message, message)), "x", "01A");
    assert_non_null(strstr(text, "\xc3\xa9..."));
    free(text);
}

static void survives_a_decision_without_findings(void **state)
{
    (void)state;
    assert_text(json_array(), "x",
                "denied; nothing ran\nChange the code, or ask the operator of this gateway for "
                "another policy.\naudit id 01A\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_the_line_with_a_caret_the_message_and_the_hint),
        cmocka_unit_test(names_the_rule_that_denies_before_those_that_ask),
        cmocka_unit_test(says_each_text_once_and_lists_the_other_places),
        cmocka_unit_test(merges_findings_at_one_place),
        cmocka_unit_test(aligns_the_caret_below_wide_and_escaped_characters),
        cmocka_unit_test(reads_lines_that_end_in_other_ways),
        cmocka_unit_test(shows_the_part_of_a_long_line_around_the_place),
        cmocka_unit_test(needs_no_source_line_for_a_place_that_is_not_in_it),
        cmocka_unit_test(leaves_out_what_only_warns_and_asks_for_approval),
        cmocka_unit_test(is_never_longer_than_its_cap_and_counts_the_rest),
        cmocka_unit_test(cuts_long_texts_between_characters),
        cmocka_unit_test(survives_a_decision_without_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
