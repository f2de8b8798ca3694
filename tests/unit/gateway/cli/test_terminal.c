/* SPDX-License-Identifier: MIT */
#include "gateway/cli/terminal.h"
#include "tests/unit/unit.h"

#include <string.h>

/* Passes `bytes` in pieces of every size. */
static void assert_shows(const char *bytes, const char *expected)
{
    size_t len = strlen(bytes);
    for (size_t piece = 1; piece <= len; piece++) {
        struct cbx_terminal terminal = { 0 };
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 1 << 20);
        for (size_t at = 0; at < len; at += piece) {
            cbx_terminal_add(&terminal, &out, cbx_str_sub(cbx_str_of(bytes), at, at + piece));
        }
        assert_string_equal(out.p, expected);
    }
}

static void text_is_kept(void **state)
{
    (void)state;
    assert_shows("a\tb\r\n50%\r100%\n", "a\tb\r\n50%\r100%\n");
    assert_shows("\xc3\xa9\xc3\x89 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0.",
                 "\xc3\xa9\xc3\x89 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0.");
}

static void control_sequences_are_removed(void **state)
{
    (void)state;
    assert_shows("a\x1b[31mred\x1b[0m\x1b[2J\x1b[6n.", "ared.");
    assert_shows("\x1b]0;title\a.\x1b]52;c;YQ==\x1b\\.", "..");
    assert_shows("\x1bPq#0\x1b\\.\x1b_apc\x1b\\.\x1b^pm\a.", "...");
    assert_shows("\x1b(B\x1b#8\x1b"
                 "c.\x1b=",
                 ".");
    assert_shows("a\bb\x07\x7f\x0e\x05.", "ab.");
    assert_shows("\xc2\x9b"
                 "31mred\xc2\x9d"
                 "0;t\a.\xc2\x85.",
                 "red..");
}

static void a_sequence_without_an_end_hides_its_line_at_most(void **state)
{
    (void)state;
    assert_shows("\x1b]0;never\nnext", "\nnext");
    assert_shows("\x1b[12\nnext", "\nnext");
    assert_shows("\x1b", "");
    assert_shows("\x1b\x1b[31m.", ".");
    assert_shows("\x1b[31\x1b[1m.", ".");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    assert_shows("\x9b"
                 "31m\xff\xfe.",
                 "?31m??.");
    assert_shows("\xc2.\xe2\x82.", "?.\xe2\x82.");
    assert_shows("\xc2\x1b[1m.", "?.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_kept),
        cmocka_unit_test(control_sequences_are_removed),
        cmocka_unit_test(a_sequence_without_an_end_hides_its_line_at_most),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
