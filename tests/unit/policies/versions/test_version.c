/* SPDX-License-Identifier: MIT
 * Names of packages (PEP 503), and requirements against minimum versions. */
#include "policies/versions/version.h"
#include "tests/unit/unit.h"

static void finds_specifiers_that_permit_a_version_below_the_minimum(void **state)
{
    (void)state;
    static const struct {
        const char *specifiers, *minimum;
        bool below;
    } cases[] = {
        { "", "1.22.2", false }, /* no pin: the newest */
        { "   ", "1.22.2", false },
        { "==1.22.1", "1.22.2", true },
        { "==1.22.2", "1.22.2", false },
        { "== 1.22.2", "1.22.2", false },
        { "==1.22.10", "1.22.2", false }, /* numbers, not text */
        { "==1.9", "1.22.2", true },
        { "==1.22.2rc1", "1.22.2", true },
        { "==1.22.2.post1", "1.22.2", false },
        { "==1!0.1", "1.22.2", false },
        { "===1.22.1", "1.22.2", true },
        { "=1.21", "1.22.2", true }, /* no operator */
        { "==1.21.*", "1.22.2", true },
        { "==1.22.*", "1.22.2", false },
        { "==1.*", "1.22.2", false },
        { "==1.22.*", "1.23", true },
        { "~=1.21.0", "1.22.2", true },
        { "~=1.21", "1.22.2", false }, /* up to 2.0 */
        { "~=1.22.0", "1.22.2", false },
        { ">=1.0", "1.22.2", false },
        { ">1.0", "1.22.2", false },
        { "!=1.22.1", "1.22.2", false },
        { "!=1.22.*", "1.22.2", false },
        { "<1.22", "1.22.2", true },
        { "<1.22.2", "1.22.2", true },
        { "<1.23", "1.22.2", false },
        { "<=1.22.1", "1.22.2", true },
        { "<=1.22.2", "1.22.2", false },
        { ">=1.0,<1.22", "1.22.2", true },
        { ">=1.0 , <1.22", "1.22.2", true },
        { "<1.22,>=1.0", "1.22.2", true },
        { ">=1.0,<2", "1.22.2", false },
        { ">=1.0,", "1.22.2", false },
        { "1.22.3", "1.22.2", true }, /* undecidable */
        { "==banana", "1.22.2", true },
        { "==", "1.22.2", true },
        { "<>1", "1.22.2", true },
        { "==1.22.3,==banana", "1.22.2", true },
        { "==9", "banana", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cbx_version_below(cbx_str_of(cases[i].specifiers), cbx_str_of(cases[i].minimum)) !=
            cases[i].below) {
            fail_msg("'%s' with minimum %s should%s be below", cases[i].specifiers,
                     cases[i].minimum, cases[i].below ? "" : " not");
        }
    }
}

static void reads_exclusions_and_wildcards(void **state)
{
    (void)state;
    static const struct {
        const char *specifiers, *minimum;
        bool below;
    } cases[] = {
        { "<=1.22.2,!=1.22.2", "1.22.2", true },
        { "<1.22.3,!=1.22.2", "1.22.2", true },
        { "<1.22.3,!=1.22.2.0", "1.22.2", true },
        { "<1.22.3,!=1.22.2.0.*", "1.22.2", true },
        { "<1.23,!=1.22.2", "1.22.2", false },
        { "==1.22.*,!=1.22.2", "1.22.2", false },
        { "<2,!=1.22.*", "1.22.2", false }, /* 1.23 */
        { "<1.23,!=1.22.*", "1.22.2", true },
        { "!=1.21.*,!=1.22.*", "1.22.2", false },
        /* exclusions that carve out all that may be there */
        { "!=1.22.2,!=1.22.3,!=1.23.*", "1.22.2", true },
        { "!=1.*,!=2.*", "1.22.2", true },
        { ">=1.22.2,!=1.22.2,!=1.22.3,!=1.23.*", "1.22.2", false },
        { ">1.22.2,!=1.23.*,!=1.24.*", "1.22.2", false },
        { "!=1.22.1", "1.22.2", false },
        { "!=1.23.0,!=1.24.0", "1.22.2", false }, /* the minimum is there */
        { "!=999999999999999999999999.*", "999999999999999999999999.1", true }, /* cannot step */
        /* suffixes */
        { "==1.22.2.*", "1.22.2", false },
        { "==1.22.2+cpu", "1.22.2", false },
        { "==1.22.1+cpu", "1.22.2", true },
        { "==1.22.2.dev1", "1.22.2", true },
        { ">=1.22.2rc1", "1.22.2", false },
        { "<2.0", "2.0rc1", true }, /* 2.0rc1 is not in it */
        { "<2.0rc2", "2.0rc1", false },
        { "==2.0", "2.0rc1", false },
        { "==1.0", "1.0+x", false },
        { "===1.22.2", "1.22.2", false },
        { "===1.22.02", "1.22.2", false },
        { "===nonsense", "1.22.2", true },
        { "~=1.22.2rc1", "1.22.2", false },
        { "==2022.*", "1!1.0", true },
        { "==1!1.*", "2022.1", false },
        { "== 1.22.1 , >= 1.0", "1.22.2", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cbx_version_below(cbx_str_of(cases[i].specifiers), cbx_str_of(cases[i].minimum)) !=
            cases[i].below) {
            fail_msg("'%s' with minimum %s should%s be below", cases[i].specifiers,
                     cases[i].minimum, cases[i].below ? "" : " not");
        }
    }
}

static void reads_versions_of_conda(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        bool below; /* 1.22.2 */
    } cases[] = {
        { "", false },
        { "*", false },
        { "1.22.2", false },
        { "1.21", true },
        { "=1.21", true },
        { "=1.22", false },
        { "==1.22", true },
        { "1.22", true },
        { "1.22.*", false },
        { "1.22*", false },
        { "1.21.*", true },
        { ">=1.20", false },
        { ">=1.20,<1.22", true },
        { "1.21|1.23", true },
        { "1.21|1.22.2", false },
        { "1.23|1.24", false },
        { ">=1.20,<1.22|>=1.22.2", false },
        { "=1.22.2=py39_0", true },
        { "^1.2$", true },
        { "<1.22.*", true },
        { ">=1.22.*", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cbx_conda_below(cbx_str_of(cases[i].version), CBX_STR("1.22.2")) != cases[i].below) {
            fail_msg("'%s' should%s be below", cases[i].version, cases[i].below ? "" : " not");
        }
    }
}

static void distinguishes_distributions(void **state)
{
    (void)state;
    assert_true(cbx_package_same(CBX_STR("Friendly._-Bard"), CBX_STR("friendly-bard")));
    assert_true(cbx_package_same(CBX_STR("a"), CBX_STR("A")));
    assert_false(cbx_package_same(CBX_STR("friendlybard"), CBX_STR("friendly-bard")));
    assert_false(cbx_package_same(CBX_STR("a"), CBX_STR("ab")));
    assert_false(cbx_package_same(CBX_STR("ab"), CBX_STR("a")));
    assert_false(cbx_package_same(CBX_STR("a"), CBX_STR("")));
}

static void normalises_names_by_pep_503(void **state)
{
    (void)state;
    static const char *const same[] = { "friendly-bard",    "Friendly-Bard", "FRIENDLY-BARD",
                                        "friendly.bard",    "friendly_bard", "friendly--bard",
                                        "FrIeNdLy-._.-bArD" };
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        char out[64];
        cbx_package_normalise(cbx_str_of(same[i]), out, sizeof(out));
        assert_string_equal(out, "friendly-bard");
    }
}

static void never_writes_behind_the_buffer(void **state)
{
    (void)state;
    for (size_t size = 1; size < 12; size++) {
        char out[16];
        memset(out, 0x55, sizeof(out));
        cbx_package_normalise(CBX_STR("a.b-c_d.e-f.g-h"), out, size);
        assert_true(strlen(out) < size);
        for (size_t i = size; i < sizeof(out); i++) {
            assert_int_equal(out[i], 0x55);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_specifiers_that_permit_a_version_below_the_minimum),
        cmocka_unit_test(reads_exclusions_and_wildcards),
        cmocka_unit_test(reads_versions_of_conda),
        cmocka_unit_test(distinguishes_distributions),
        cmocka_unit_test(normalises_names_by_pep_503),
        cmocka_unit_test(never_writes_behind_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
