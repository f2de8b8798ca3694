/* SPDX-License-Identifier: MIT
 * Errors as values: one printable line of well-formed text for every input. */
#include "policies/base/err.h"

#include "policies/base/str.h"
#include "tests/unit/unit.h"

#include <string.h>

static void keeps_a_message_on_one_printable_line(void **state)
{
    (void)state;
    struct cbx_err err;
    assert_int_equal(cbx_fail(&err, CBX_EINVAL, "found '%s'", "a\nb\x1b[31m\x7f"), CBX_EINVAL);
    assert_string_equal(err.text, "found 'a?b?[31m?'");
}

static void replaces_what_is_not_utf8(void **state)
{
    (void)state;
    struct cbx_err err;
    cbx_fail(&err, CBX_EINVAL, "%s", "caf\xC3\xA9 \xFF\xC3");
    assert_string_equal(err.text, "caf\xC3\xA9 ??");
}

static void is_well_formed_wherever_a_long_text_is_cut(void **state)
{
    (void)state;
    char text[CBX_ERR_TEXT_BYTES * 2];
    for (size_t pad = 0; pad < 4; pad++) {
        memset(text, 'x', pad);
        for (size_t i = pad; i + 3 < sizeof(text); i += 3) {
            memcpy(text + i, "\xE2\x9C\x93", 4);
        }
        struct cbx_err err;
        cbx_fail(&err, CBX_EINVAL, "%s", text);
        cbx_wrap(&err, "loading '%s'", "\xE2\x9C\x93");
        assert_true(cbx_str_is_utf8(cbx_str_of(err.text), NULL));
    }
}

static void puts_context_in_front_and_keeps_the_place(void **state)
{
    (void)state;
    struct cbx_err err;
    assert_int_equal(cbx_fail_at(&err, CBX_EPOLICY, 3, 7, "unknown key"), CBX_EPOLICY);
    assert_int_equal(cbx_wrap(&err, "policy '%s'", "x"), CBX_EPOLICY);
    assert_string_equal(err.text, "policy 'x': unknown key");
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 7);
}

static void accepts_a_missing_error_struct(void **state)
{
    (void)state;
    assert_int_equal(cbx_fail(NULL, CBX_EIO, "not read"), CBX_EIO);
}

static void a_detail_is_for_the_operator_alone(void **state)
{
    (void)state;
    struct cbx_err err;
    char full[CBX_ERR_FULL_BYTES];
    assert_int_equal(cbx_fail(&err, CBX_EENGINE, "it does not answer"), CBX_EENGINE);
    assert_string_equal(cbx_err_full(&err, full), "it does not answer");
    assert_int_equal(cbx_err_detail(&err, "%s", "/run/x\n"), CBX_EENGINE);
    assert_string_equal(err.text, "it does not answer");
    assert_string_equal(cbx_err_full(&err, full), "it does not answer: /run/x?");
    cbx_wrap(&err, "opening");
    assert_string_equal(err.text, "opening: it does not answer");
    assert_string_equal(err.detail, "/run/x?");
    cbx_fail(&err, CBX_EINVAL, "another");
    assert_string_equal(err.detail, "");
    assert_int_equal(cbx_err_detail(NULL, "x"), CBX_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_detail_is_for_the_operator_alone),
        cmocka_unit_test(keeps_a_message_on_one_printable_line),
        cmocka_unit_test(replaces_what_is_not_utf8),
        cmocka_unit_test(is_well_formed_wherever_a_long_text_is_cut),
        cmocka_unit_test(puts_context_in_front_and_keeps_the_place),
        cmocka_unit_test(accepts_a_missing_error_struct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
