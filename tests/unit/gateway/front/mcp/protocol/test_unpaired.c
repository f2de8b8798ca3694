/* SPDX-License-Identifier: MIT
 * Unpaired surrogates: replaced ones, unchanged ones, and the named member. */
#include "gateway/front/mcp/protocol/unpaired.h"
#include "tests/unit/unit.h"

#include <string.h>

static void assert_replaced(const char *text, const char *expected, const char *escape,
                            const char *name)
{
    char copy[512];
    struct cbx_unpaired first;
    snprintf(copy, sizeof(copy), "%s", text);
    assert_int_equal(cbx_unpaired_replace(copy, strlen(copy), &first), escape[0] != '\0');
    assert_string_equal(copy, expected);
    assert_string_equal(first.escape, escape);
    assert_string_equal(first.name, name);
}

static void assert_kept(const char *text)
{
    assert_replaced(text, text, "", "");
}

static void replaces_halves_that_stand_alone(void **state)
{
    (void)state;
    assert_replaced("{\"a\":\"x\\ud83dy\"}", "{\"a\":\"x\\ufffdy\"}", "\\ud83d", "a");
    assert_replaced("{\"a\":\"\\uDC00\"}", "{\"a\":\"\\ufffd\"}", "\\uDC00", "a");
    assert_replaced("{\"a\":\"\\ud83d\\ud83d\\ude00\"}", "{\"a\":\"\\ufffd\\ud83d\\ude00\"}",
                    "\\ud83d", "a");
    assert_replaced("{\"a\":\"\\ude00\\ud83d\"}", "{\"a\":\"\\ufffd\\ufffd\"}", "\\ude00", "a");
    assert_replaced("{\"a\":\"\\ud83d\\u0041\"}", "{\"a\":\"\\ufffd\\u0041\"}", "\\ud83d", "a");
    assert_replaced("{\"a\":\"\\ud83d", "{\"a\":\"\\ufffd", "\\ud83d", "a");
}

static void keeps_pairs_other_escapes_and_what_only_looks_like_one(void **state)
{
    (void)state;
    assert_kept("{\"a\":\"\\ud83d\\ude00 \\uD83D\\uDE00 \\u00e9 \\uffff\"}");
    assert_kept("{\"a\":\"\\\\ud83d\"}");
    assert_kept("{\"a\":\"\\ud83\"}");
    assert_kept("{\"a\":\"\\ud8g0\"}");
    assert_kept("\\ud83d");
    assert_kept("");
    assert_kept("{\"a\":\"\\");
    assert_kept("{\"a\":\"\\u");
}

static void names_the_member_that_holds_the_first_one(void **state)
{
    (void)state;
    assert_replaced("{\"a\":{\"code\":\"\\ud800\"},\"b\":\"\\udfff\"}",
                    "{\"a\":{\"code\":\"\\ufffd\"},\"b\":\"\\ufffd\"}", "\\ud800", "code");
    assert_replaced("{\"libraries\":[\"x\",\"\\ud800\"]}", "{\"libraries\":[\"x\",\"\\ufffd\"]}",
                    "\\ud800", "libraries");
    assert_replaced("\"\\ud800\"", "\"\\ufffd\"", "\\ud800", "");
    char text[200], expected[200];
    snprintf(text, sizeof(text), "{\"%0100d\":\"\\ud800\"}", 0);
    snprintf(expected, sizeof(expected), "{\"%0100d\":\"\\ufffd\"}", 0);
    char name[65];
    snprintf(name, sizeof(name), "%064d", 0);
    assert_replaced(text, expected, "\\ud800", name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_halves_that_stand_alone),
        cmocka_unit_test(keeps_pairs_other_escapes_and_what_only_looks_like_one),
        cmocka_unit_test(names_the_member_that_holds_the_first_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
