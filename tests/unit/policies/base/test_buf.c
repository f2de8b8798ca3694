/* SPDX-License-Identifier: MIT
 * The growing buffer: its cap, and whole-or-nothing appends. */
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
    /* A shorter text, although it would fit, must not follow a missing one. */
    assert_int_equal(cbx_buf_add(&buf, CBX_STR("7")), CBX_ETOOBIG);
    assert_int_equal(cbx_buf_printf(&buf, "%d", 8), CBX_ETOOBIG);
    assert_int_equal(cbx_buf_add_char(&buf, '9'), CBX_ETOOBIG);
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

static void gives_its_string_away(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_never_null_and_always_terminated),
        cmocka_unit_test(takes_exactly_its_cap_and_not_a_byte_more),
        cmocka_unit_test(appends_whole_or_not_at_all_and_then_nothing),
        cmocka_unit_test(refuses_sizes_that_wrap_round),
        cmocka_unit_test(drops_a_consumed_prefix),
        cmocka_unit_test(gives_its_string_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
