/* SPDX-License-Identifier: MIT
 * Names of verdicts, and the verdict for an unknown name. */
#include "policies/verdict.h"
#include "tests/unit/unit.h"

static void every_verdict_is_read_back_from_its_name(void **state)
{
    (void)state;
    for (int v = CBX_DENY; v < CBX_VERDICTS; v++) {
        enum cbx_verdict out = CBX_DENY;
        assert_true(cbx_verdict_parse(cbx_str_of(cbx_verdict_name((enum cbx_verdict)v)), &out));
        assert_int_equal(out, v);
    }
    assert_string_equal(cbx_verdict_name(CBX_ALLOW), "allow");
}

static void anything_else_is_a_denial(void **state)
{
    (void)state;
    static const char *const wrong[] = { "", "Allow", "allow ", "allowed", "yes" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        enum cbx_verdict out = CBX_ALLOW;
        assert_false(cbx_verdict_parse(cbx_str_of(wrong[i]), &out));
        assert_int_equal(out, CBX_DENY);
    }
    assert_string_equal(cbx_verdict_name((enum cbx_verdict)77), "deny");
    assert_int_equal(CBX_DENY, 0); /* zeroed memory denies */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict_is_read_back_from_its_name),
        cmocka_unit_test(anything_else_is_a_denial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
