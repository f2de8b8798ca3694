/* SPDX-License-Identifier: MIT
 * The growing buffer: its cap, whole-or-nothing appends, and the escaping through which hostile
 * bytes reach a person. */
#include "policies/base/buf.h"
#include "policies/base/err.h"
#include "tests/unit/unit.h"

static void is_never_null_and_always_terminated(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 100);
    assert_string_equal(buf.p, "");
    assert_int_equal(cbx_buf_add(&buf, CBX_STR("ab")), 0);
    assert_int_equal(cbx_buf_add_char(&buf, 'c'), 0);
    assert_int_equal(cbx_buf_add_cstr(&buf, "de"), 0);
    assert_int_equal(cbx_buf_printf(&buf, "%d-%s", 42, "x"), 0);
    assert_string_equal(buf.p, "abcde42-x");
    assert_int_equal(buf.len, 9);
    cbx_buf_reset(&buf);
    assert_string_equal(buf.p, "");
    assert_int_equal(cbx_buf_add(&buf, (struct cbx_str){ 0 }), 0);
    assert_string_equal(buf.p, "");
}

static void takes_exactly_its_cap_and_not_a_byte_more(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 5);
    assert_int_equal(cbx_buf_add(&buf, CBX_STR("12345")), 0);
    assert_false(buf.overflow);
    assert_int_equal(cbx_buf_add_char(&buf, '6'), CBX_ETOOBIG);
    assert_true(buf.overflow);
    assert_string_equal(buf.p, "12345");
}

static void appends_whole_or_not_at_all_and_then_nothing(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 5);
    assert_int_equal(cbx_buf_add(&buf, CBX_STR("123")), 0);
    assert_int_equal(cbx_buf_add(&buf, CBX_STR("456")), CBX_ETOOBIG);
    assert_string_equal(buf.p, "123");
    /* A shorter text that would fit must not follow one that is missing. */
    assert_int_equal(cbx_buf_add(&buf, CBX_STR("7")), CBX_ETOOBIG);
    assert_int_equal(cbx_buf_printf(&buf, "%d", 8), CBX_ETOOBIG);
    assert_int_equal(cbx_buf_add_escaped(&buf, CBX_STR("9"), false), CBX_ETOOBIG);
    assert_null(cbx_buf_reserve(&buf, 1));
    assert_string_equal(buf.p, "123");
    cbx_buf_reset(&buf);
    assert_int_equal(cbx_buf_add(&buf, CBX_STR("7")), 0);
}

static void refuses_sizes_that_wrap_round(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 64);
    assert_int_equal(cbx_buf_add(&buf, CBX_STR("x")), 0);
    assert_null(cbx_buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.overflow);
    assert_string_equal(buf.p, "x");
}

static void drops_a_consumed_prefix(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 64);
    cbx_buf_add(&buf, CBX_STR("head:tail"));
    cbx_buf_consume(&buf, 5);
    assert_string_equal(buf.p, "tail");
    cbx_buf_consume(&buf, 99);
    assert_string_equal(buf.p, "");
}

static void hands_its_string_out(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 64);
    CBX_AUTO_MEM char *nothing = cbx_buf_take(&buf);
    assert_string_equal(nothing, "");
    cbx_buf_add(&buf, CBX_STR("mine"));
    CBX_AUTO_MEM char *taken = cbx_buf_take(&buf);
    cbx_buf_add(&buf, CBX_STR("yours"));
    assert_string_equal(taken, "mine");
    assert_string_equal(buf.p, "yours");
}

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
        assert_int_equal(cbx_buf_add_escaped(&buf, cases[i].in, false), 0);
        assert_string_equal(buf.p, cases[i].out);
    }
}

static void keeps_lines_and_tabs_only_when_asked(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) buf;
    cbx_buf_init(&buf, 64);
    cbx_buf_add_escaped(&buf, CBX_STR("a\n\tb\r"), true);
    assert_string_equal(buf.p, "a\n\tb\\x0d");
    cbx_buf_reset(&buf);
    cbx_buf_add_escaped(&buf, CBX_STR("a\n\tb"), false);
    assert_string_equal(buf.p, "a\\x0a\\x09b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_never_null_and_always_terminated),
        cmocka_unit_test(takes_exactly_its_cap_and_not_a_byte_more),
        cmocka_unit_test(appends_whole_or_not_at_all_and_then_nothing),
        cmocka_unit_test(refuses_sizes_that_wrap_round),
        cmocka_unit_test(drops_a_consumed_prefix),
        cmocka_unit_test(hands_its_string_out),
        cmocka_unit_test(escapes_whatever_could_fool_a_reader),
        cmocka_unit_test(keeps_lines_and_tabs_only_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
