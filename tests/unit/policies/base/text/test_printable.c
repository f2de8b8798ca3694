/* SPDX-License-Identifier: MIT
 * Bytes of unknown origin become text that is safe to show. */
#include "policies/base/text/printable.h"

#include "policies/base/err.h"
#include "tests/unit/unit.h"

static void escapes_whatever_could_fool_a_reader(void **state)
{
    (void)state;
    static const struct {
        struct cbx_str in;
        const char *out;
    } cases[] = {
        { { "plain text ~", 12 }, "plain text ~" },
        { { "a\0b", 3 }, "a\\x00b" },
        { { "\033[31mred", 8 }, "\\x1b[31mred" },
        { { "\x7f\r\b", 3 }, "\\x7f\\x0d\\x08" },
        { { "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9 }, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80" },
        { { "\xC2\x9B", 2 }, "\\u{009b}" },     /* CSI as one C1 control */
        { { "\xE2\x80\xAE", 3 }, "\\u{202e}" }, /* right-to-left override */
        { { "\xE2\x81\xA6", 3 }, "\\u{2066}" }, /* isolate */
        { { "\xE2\x80\x8B", 3 }, "\\u{200b}" }, /* zero-width space */
        { { "\xE2\x80\xA8", 3 }, "\\u{2028}" }, /* line separator */
        { { "\xEF\xBB\xBF", 3 }, "\\u{feff}" },
        { { "\xF3\xA0\x81\x81", 4 }, "\\u{e0041}" }, /* a tag character */
        { { "\xFF\xC3", 2 }, "\\xff\\xc3" },
        { { "\xC0\xAF", 2 }, "\\xc0\\xaf" },
        { { "\xED\xA0\x80", 3 }, "\\xed\\xa0\\x80" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) buf;
        cbx_buf_init(&buf, 256);
        assert_int_equal(cbx_printable_add(&buf, cases[i].in, CBX_PRINTABLE_LINE), 0);
        assert_string_equal(buf.p, cases[i].out);
    }
}

static void keeps_lines_and_tabs_only_when_asked(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 64);
    cbx_printable_add(&buf, CBX_STR("a\n\tb\r"), CBX_PRINTABLE_LINES);
    assert_string_equal(buf.p, "a\n\tb\\x0d");
    cbx_buf_reset(&buf);
    cbx_printable_add(&buf, CBX_STR("a\n\tb"), CBX_PRINTABLE_LINE);
    assert_string_equal(buf.p, "a\\x0a\\x09b");
}

static void replaces_only_what_is_not_utf8_in_that_mode(void **state)
{
    (void)state;
    static const struct {
        struct cbx_str in;
        const char *out;
    } cases[] = {
        { { "", 0 }, "" },
        { { "a\n\033[m\xE2\x80\xAE", 8 }, "a\n\033[m\xE2\x80\xAE" },
        { { "\xFF"
            "a\xC3",
            3 },
          "\xEF\xBF\xBD"
          "a\xEF\xBF\xBD" },
        { { "\xE2\x82", 2 }, "\xEF\xBF\xBD\xEF\xBF\xBD" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) buf;
        cbx_buf_init(&buf, 64);
        assert_int_equal(cbx_printable_add(&buf, cases[i].in, CBX_PRINTABLE_UTF8), 0);
        assert_string_equal(buf.p, cases[i].out);
    }
}

static void reports_an_overflow(void **state)
{
    (void)state;
    for (int mode = CBX_PRINTABLE_LINE; mode <= CBX_PRINTABLE_UTF8; mode++) {
        CBX_AUTO_DONE(buf) buf;
        cbx_buf_init(&buf, 2);
        assert_int_equal(cbx_printable_add(&buf, CBX_STR("abc"), (enum cbx_printable)mode),
                         CBX_ETOOBIG);
    }
}

static void no_text_grows_beyond_the_stated_factor(void **state)
{
    (void)state;
    static const struct cbx_str worst[] = { { "\x01\x01\x01", 3 },
                                            { "\xFF\xFF\xFF", 3 },
                                            { "\xC2\x85\xC2\xAD", 4 },
                                            { "\xE2\x80\xA8", 3 },
                                            { "\xF3\xA0\x81\x81", 4 } };
    for (size_t i = 0; i < sizeof(worst) / sizeof(worst[0]); i++) {
        for (int mode = CBX_PRINTABLE_LINE; mode <= CBX_PRINTABLE_UTF8; mode++) {
            CBX_AUTO_DONE(buf) buf;
            cbx_buf_init(&buf, worst[i].len * CBX_PRINTABLE_GROWTH);
            assert_int_equal(cbx_printable_add(&buf, worst[i], (enum cbx_printable)mode), 0);
        }
    }
}

static void masks_in_place_and_keeps_the_length(void **state)
{
    (void)state;
    char text[] = "a\n\x1b[m\x7f\xC3\xA9\xFF\xE2\x82";
    cbx_printable_mask(text);
    assert_string_equal(text, "a??[m?\xC3\xA9???");
}

static void finds_control_characters(void **state)
{
    (void)state;
    assert_true(cbx_printable_has_no_control(CBX_STR("/data/\xC3\xA9")));
    assert_true(cbx_printable_has_no_control((struct cbx_str){ 0 }));
    assert_false(cbx_printable_has_no_control(CBX_STR("a\n")));
    assert_false(cbx_printable_has_no_control(CBX_STR("\x7f")));
    assert_false(cbx_printable_has_no_control(CBX_STR("a\0b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_whatever_could_fool_a_reader),
        cmocka_unit_test(keeps_lines_and_tabs_only_when_asked),
        cmocka_unit_test(replaces_only_what_is_not_utf8_in_that_mode),
        cmocka_unit_test(reports_an_overflow),
        cmocka_unit_test(no_text_grows_beyond_the_stated_factor),
        cmocka_unit_test(masks_in_place_and_keeps_the_length),
        cmocka_unit_test(finds_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
