/* SPDX-License-Identifier: MIT
 * Package versions and names: PEP 440 order, PEP 503 names, and the question that policies ask of a
 * requirement. */
#include "policies/version.h"
#include "tests/unit/unit.h"

static void orders_versions_as_pep_440_says(void **state)
{
    (void)state;
    /* Each is smaller than the next; those in one row are equal. */
    static const char *const rows[][4] = {
        { "0.dev1" },
        { "0", "0.0", "v0" },
        { "0.9.9" },
        { "1.0.dev0", "1.dev", "1.0-dev0" },
        { "1.0.dev456" },
        { "1.0a1.dev1" },
        { "1.0a1", "1.0.alpha1", "1.0-A.1", "1.0_alpha_1" },
        { "1.0a2.dev456" },
        { "1.0a12" },
        { "1.0b1.dev456" },
        { "1.0b2", "1.0-beta2" },
        { "1.0b2.post345.dev456" },
        { "1.0b2.post345" },
        { "1.0rc1.dev456" },
        { "1.0rc1", "1.0c1", "1.0pre1", "1.0-preview1" },
        { "1.0", "1", "1.0.0", "1.0+local.1" },
        { "1.0.post456.dev34" },
        { "1.0.post456", "1.0-456", "1.0.rev456", "1.0.r456" },
        { "1.0.1" },
        { "1.1.dev1" },
        { "1.2", "1.2.0.0.0" },
        { "1.10" },
        { "1.22.2" },
        { "2" },
        { "2024.1.15" },
        { "1!0.1" },
        { "1!1.0" },
        { "2!0" },
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < ROWS; j++) {
            for (size_t k = 0; k < 16; k++) {
                const char *a = rows[i][k / 4], *b = rows[j][k % 4];
                if (a == NULL || b == NULL) {
                    continue;
                }
                bool ok = false;
                int order = cbx_version_compare(cbx_str_of(a), cbx_str_of(b), &ok);
                if (!ok || order != (i > j) - (i < j)) {
                    fail_msg("%s and %s: ok %d, order %d", a, b, ok, order);
                }
            }
        }
    }
}

static void orders_what_semver_needs_for_minimums(void **state)
{
    (void)state;
    static const char *const ascending[] = { "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-rc.1",
                                             "1.0.0",         "1.0.1",        "1.9.0",
                                             "1.10.0",        "1.11.0",       "2.0.0-rc.1",
                                             "2.0.0" };
    for (size_t i = 1; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
        bool ok = false;
        assert_int_equal(
            cbx_version_compare(cbx_str_of(ascending[i - 1]), cbx_str_of(ascending[i]), &ok), -1);
        assert_true(ok);
    }
}

static void says_when_something_is_no_version(void **state)
{
    (void)state;
    static const char *const wrong[] = { "",   "x",  "1.",   "1..2",  "1.0 0", "1.0foo", "latest",
                                         "!1", "1!", "1.0-", "==1.0", "*",     "v",      "1.0\n" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        bool ok = true;
        cbx_version_compare(cbx_str_of(wrong[i]), CBX_STR("1"), &ok);
        if (ok) {
            fail_msg("'%s' passed for a version", wrong[i]);
        }
        ok = true;
        cbx_version_compare(CBX_STR("1"), cbx_str_of(wrong[i]), &ok);
        assert_false(ok);
    }
}

static void knows_what_could_end_below_a_minimum(void **state)
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
        { "=1.21", "1.22.2", true }, /* conda */
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
        { "1.22.3", "1.22.2", true }, /* could not tell */
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

static void knows_where_npm_ranges_end(void **state)
{
    (void)state;
    static const struct {
        const char *range, *minimum;
        bool below;
    } cases[] = {
        { "", "4.17.21", false },
        { "*", "4.17.21", false },
        { "latest", "4.17.21", false },
        { "next", "4.17.21", true },
        { "4.17.21", "4.17.21", false },
        { "4.17.20", "4.17.21", true },
        { "v4.17.20", "4.17.21", true },
        { "=4.17.20", "4.17.21", true },
        { "4", "4.17.21", false },
        { "4.17", "4.17.21", false },
        { "4.16", "4.17.21", true },
        { "4.16.x", "4.17.21", true },
        { "4.X", "4.17.21", false },
        { "3", "4.17.21", true },
        { "^4", "4.17.21", false },
        { "^3.9.9", "4.17.21", true },
        { "^3.9.9", "4.0.0", true },
        { "^0.2.3", "0.3.0", true },
        { "^0.2.3", "0.2.9", false },
        { "^0.0.3", "0.0.4", true },
        { "~4.17.1", "4.17.21", false },
        { "~4.16.1", "4.17.21", true },
        { "~4", "4.17.21", false },
        { "<4.17.21", "4.17.21", true },
        { "< 4", "4.17.21", true },
        { "<5", "4.17.21", false },
        { "<=4.17.21", "4.17.21", false },
        { "<=4.17.20", "4.17.21", true },
        { "<=4.17", "4.17.21", false },
        { ">=1", "4.17.21", false },
        { ">1 <3", "4.17.21", true },
        { ">=1 <=5", "4.17.21", false },
        { "1.0.0 - 2.0.0", "4.17.21", true },
        { "1.0.0 - 4", "4.17.21", false },
        { "^2 || ^4", "4.17.21", false },
        { "^2||^3", "4.17.21", true },
        { "^2 || ", "4.17.21", false },
        { "^banana", "4.17.21", true },
        { "4.17.21-rc.1", "4.17.21", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cbx_npm_below(cbx_str_of(cases[i].range), cbx_str_of(cases[i].minimum)) !=
            cases[i].below) {
            fail_msg("'%s' with minimum %s should%s be below", cases[i].range, cases[i].minimum,
                     cases[i].below ? "" : " not");
        }
    }
}

static void normalises_names_as_pep_503_says(void **state)
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
        cmocka_unit_test(orders_versions_as_pep_440_says),
        cmocka_unit_test(orders_what_semver_needs_for_minimums),
        cmocka_unit_test(says_when_something_is_no_version),
        cmocka_unit_test(knows_what_could_end_below_a_minimum),
        cmocka_unit_test(knows_where_npm_ranges_end),
        cmocka_unit_test(normalises_names_as_pep_503_says),
        cmocka_unit_test(never_writes_behind_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
