/* SPDX-License-Identifier: MIT
 * Positions in UTF-8 and UTF-16, with every line end, and changes. */
#include "analyzer/lint/lsp/document.h"

#include "tests/unit/unit.h"

/* e acute: 2 bytes, 1 unit; the emoji: 4 bytes, 2 units */
#define TEXT "a\xC3\xA9\xF0\x9F\x98\x80z\r\nb\rc\n"

static void positions_and_bytes_belong_together(void **state)
{
    (void)state;
    static const struct {
        uint32_t line, utf16, utf8;
        size_t byte;
    } cases[] = { { 0, 0, 0, 0 },  { 0, 1, 1, 1 },  { 0, 2, 3, 3 },  { 0, 4, 7, 7 },
                  { 0, 5, 8, 8 },  { 1, 0, 0, 10 }, { 1, 1, 1, 11 }, { 2, 0, 0, 12 },
                  { 2, 1, 1, 13 }, { 3, 0, 0, 14 } };
    struct cbx_str text = CBX_STR(TEXT);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_lsp_position wide = { cases[i].line, cases[i].utf16 };
        struct cbx_lsp_position narrow = { cases[i].line, cases[i].utf8 };
        assert_int_equal(cbx_lsp_offset(text, wide, CBX_LSP_UTF16), cases[i].byte);
        assert_int_equal(cbx_lsp_offset(text, narrow, CBX_LSP_UTF8), cases[i].byte);
        struct cbx_lsp_position back = cbx_lsp_position_at(text, cases[i].byte, CBX_LSP_UTF16);
        assert_int_equal(back.line, wide.line);
        assert_int_equal(back.character, wide.character);
        back = cbx_lsp_position_at(text, cases[i].byte, CBX_LSP_UTF8);
        assert_int_equal(back.character, narrow.character);
    }
}

static void positions_behind_an_end_are_the_end(void **state)
{
    (void)state;
    struct cbx_str text = CBX_STR(TEXT);
    assert_int_equal(cbx_lsp_offset(text, (struct cbx_lsp_position){ 0, 99 }, CBX_LSP_UTF16), 8);
    assert_int_equal(cbx_lsp_offset(text, (struct cbx_lsp_position){ 9, 0 }, CBX_LSP_UTF16), 14);
    assert_int_equal(cbx_lsp_offset(CBX_STR(""), (struct cbx_lsp_position){ 1, 1 }, CBX_LSP_UTF8),
                     0);
    assert_int_equal(cbx_lsp_line(text, 1).len, 1);
    assert_int_equal(cbx_lsp_line(text, 9).len, 0);
    struct cbx_lsp_position column = cbx_lsp_position_of(text, 1, 4, CBX_LSP_UTF16);
    assert_int_equal(column.character, 4);
}

static void check_change(const char *before, const char *change, const char *after)
{
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON json = json_loads(change, 0, NULL);
    struct cbx_err err = { 0 };
    cbx_buf_init(&text, CBX_LSP_TEXT_MAX);
    cbx_buf_add_cstr(&text, before);
    int failed = cbx_lsp_apply(&text, json, CBX_LSP_UTF16, &err);
    assert_string_equal(failed ? err.text : text.p, after);
}

static void changes_replace_a_range_or_all(void **state)
{
    (void)state;
#define RANGE(l, c, m, d)                                                                          \
    "{\"range\":{\"start\":{\"line\":" #l ",\"character\":" #c "},\"end\":{\"line\":" #m           \
    ",\"character\":" #d "}},\"text\":\"X\"}"
    check_change("ab\ncd\n", "{\"text\": \"y\"}", "y");
    check_change("ab\ncd\n", RANGE(0, 1, 1, 1), "aXd\n");
    check_change("ab\n", RANGE(0, 2, 0, 2), "abX\n");
    check_change("ab\n", RANGE(5, 0, 5, 0), "ab\nX");
    check_change("ab\n", RANGE(1, 0, 0, 0), "a change whose range ends before it begins");
    check_change("ab\n", RANGE(-1, 0, 0, 0), "a change whose range is malformed");
    check_change("ab\n", "{\"range\": 1, \"text\": \"\"}", "a change whose range is malformed");
    check_change("ab\n", "{}", "a change without a text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_and_bytes_belong_together),
        cmocka_unit_test(positions_behind_an_end_are_the_end),
        cmocka_unit_test(changes_replace_a_range_or_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
