/* SPDX-License-Identifier: MIT
 * Semver 2.0.0 and npm's ranges. */
#include "policies/versions/version.h"
#include "tests/unit/unit.h"

#define NO  CBX_MATCH_NO
#define YES CBX_MATCH_YES
#define BAD CBX_MATCH_MALFORMED

static void orders_versions_by_semver(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        { "0.0.0-0" },
        { "0.0.0" },
        { "0.9.99" },
        { "1.0.0--" },
        { "1.0.0-alpha" },
        { "1.0.0-alpha.1" },
        { "1.0.0-alpha.1.0" },
        { "1.0.0-alpha.beta" },
        { "1.0.0-beta", "1.0.0-beta+exp.sha.5114f85" },
        { "1.0.0-beta.2" },
        { "1.0.0-beta.11" },
        { "1.0.0-rc.1" },
        { "1.0.0", "1.0.0+build", "1.0.0+21AF26D3---117B344092BD" },
        { "1.0.1" },
        { "1.9.0" },
        { "1.10.0" },
        { "2.0.0-1" },
        { "2.0.0-2" },
        { "2.0.0-10" },
        { "2.0.0-18446744073709551616" },
        { "2.0.0-1a" },
        { "2.0.0-A" },
        { "2.0.0-a" },
        { "2.0.0" },
        { "99999999999999999999999.999999999999999999.99999999999999999" },
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < ROWS; j++) {
            for (size_t k = 0; k < 9; k++) {
                const char *a = rows[i][k / 3], *b = rows[j][k % 3];
                struct cbx_semver x, y;
                if (a == NULL || b == NULL) {
                    continue;
                }
                if (!cbx_semver_parse(cbx_str_of(a), &x) || !cbx_semver_parse(cbx_str_of(b), &y) ||
                    cbx_semver_order(&x, &y) != (i > j) - (i < j)) {
                    fail_msg("%s and %s", a, b);
                }
            }
        }
    }
}

static void refuses_a_malformed_semver(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",           "1",         "1.2",          "1.2.3-",     "1.2.3+",         "1.2.3-0123",
        "1.2.3-01.a", "01.1.1",    "1.01.1",       "1.1.01",     "1.2.3.4",        "1.2.3-a..b",
        "1.2.3-a.",   "1.2.3+a+b", "alpha",        "-1.0.3",     "1.2.3-\xc3\xa9", "v1.2.3",
        " 1.2.3",     "1.2.3 ",    "1.2-SNAPSHOT", "1.2.31.2.3", "1.2.3-+b",       "=1.2.3",
    };
    static const char *const right[] = {
        "0.0.4",
        "1.1.2-prerelease+meta",
        "1.0.0-0A.is.legal",
        "1.2.3----RC-SNAPSHOT.12.9.1--.12+788",
        "1.0.0+0.build.1-rc.10000aaa-kk-0.1",
        "2.0.0+0",
        "1.0.0-alpha0.valid",
        "1.1.2+meta-valid",
    };
    struct cbx_semver v;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (cbx_semver_parse(cbx_str_of(wrong[i]), &v)) {
            fail_msg("'%s' passed", wrong[i]);
        }
    }
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        if (!cbx_semver_parse(cbx_str_of(right[i]), &v)) {
            fail_msg("'%s' did not pass", right[i]);
        }
    }
}

static void matches_ranges_as_npm_does(void **state)
{
    (void)state;
    static const struct {
        const char *range, *version;
        enum cbx_match_result result;
    } cases[] = {
        { "1.0.0 - 2.0.0", "1.2.3", YES },
        { "1.0.0 - 2.0.0", "2.2.3", NO },
        { "1.2.3 - 2.3", "2.3.9", YES },
        { "1.2.3 - 2.3", "2.4.0", NO },
        { "1.2.3 - 2", "2.9.9", YES },
        { "1.2.3 - 2", "3.0.0", NO },
        { "1.2 - 2.3.4", "1.2.0", YES },
        { "1.2 - 2.3.4", "1.1.9", NO },
        { "1.2.3+asdf - 2.4.3+asdf", "1.2.3", YES },
        { "* - 2", "1.0.0", YES },
        { "^1.2.3+build", "1.3.0", YES },
        { "^1.2.3", "1.2.3", YES },
        { "^1.2.3", "2.0.0", NO },
        { "^1.2.3", "2.0.0-alpha", NO },
        { "^1.2.3", "1.2.2", NO },
        { "^0.2.3", "0.2.9", YES },
        { "^0.2.3", "0.3.0", NO },
        { "^0.0.3", "0.0.3", YES },
        { "^0.0.3", "0.0.4", NO },
        { "^1.2.3-beta.2", "1.2.3-beta.4", YES },
        { "^1.2.3-beta.2", "1.2.4-beta.2", NO },
        { "^0.0.3-beta", "0.0.3-pr.2", YES },
        { "^1.2.x", "1.9.0", YES },
        { "^0.0.x", "0.0.9", YES },
        { "^0.0.x", "0.1.0", NO },
        { "^0.0", "0.0.9", YES },
        { "^0.0", "0.1.0", NO },
        { "^1.x", "1.0.0", YES },
        { "^0.x", "0.9.0", YES },
        { "^0.x", "1.0.0", NO },
        { "^ 1.2.3", "1.5.0", YES },
        { "^", "1.0.0", YES },
        { "^*", "9.0.0", YES },
        { "~1.2.3", "1.2.9", YES },
        { "~1.2.3", "1.3.0", NO },
        { "~1.2", "1.2.0", YES },
        { "~1.2", "1.3.0", NO },
        { "~1", "1.9.0", YES },
        { "~1", "2.0.0", NO },
        { "~0.2.3", "0.2.5", YES },
        { "~0", "0.9.0", YES },
        { "~1.2.3-beta.2", "1.2.3-beta.4", YES },
        { "~1.2.3-beta.2", "1.2.4-beta.2", NO },
        { "~>1.2.3", "1.2.5", YES },
        { "~> 1.2", "1.3.0", NO },
        { "~ 1.0", "1.0.1", YES },
        { "", "1.0.0", YES },
        { "*", "1.2.3", YES },
        { "x", "1.2.3", YES },
        { "*", "1.2.3-beta", NO },
        { "", "1.2.3-beta", NO },
        { ">=*", "0.2.4", YES },
        { "<=*", "0.2.4", YES },
        { ">*", "0.2.4", NO },
        { "<*", "0.2.4", NO },
        { "1.x.x", "1.3.5", YES },
        { "2.x.x", "2.1.3", YES },
        { "1.2.x", "1.2.3", YES },
        { "1.2.x || 2.x", "2.1.3", YES },
        { "1.2.x || 2.x", "1.1.3", NO },
        { "2.*.*", "2.1.3", YES },
        { "1.2.*", "1.3.3", NO },
        { "2", "2.1.2", YES },
        { "2.3", "2.3.1", YES },
        { "2.3", "2.4.1", NO },
        { "1.2.3", "1.2.3", YES },
        { "=1.2.3", "1.2.3", YES },
        { "v1.2.3", "1.2.3", YES },
        { "= 1.2.3", "1.2.3", YES },
        { "==1.2.3", "1.2.3", YES },
        { "1.2.3", "v1.2.3", YES },
        { "1.2.3+x", "1.2.3+y", YES },
        { "1.2.3-rc.1", "1.2.3-rc.1", YES },
        { ">1.2.3", "1.2.4", YES },
        { ">1.2", "1.2.9", NO },
        { ">1.2", "1.3.0", YES },
        { ">1", "1.9.0", NO },
        { ">1", "2.0.0", YES },
        { ">=1.2", "1.2.0", YES },
        { "<=1.2", "1.2.9", YES },
        { "<=1.2", "1.3.0", NO },
        { "<1.2", "1.2.0", NO },
        { "<1.2", "1.1.9", YES },
        { "<1.2", "1.2.0-pre", NO },
        { "<=2.0.0", "2.0.0", YES },
        { "> 1.0.0", "1.0.1", YES },
        { ">=1.0.0 <2.0.0", "1.9.9", YES },
        { ">=1.0.0 <2.0.0", "2.0.0", NO },
        { ">=1 <2 || >3", "3.0.1", NO },
        { ">=1 <2 || >3", "4.0.1", YES },
        { "||", "1.3.4", YES },
        { "^2 ||", "1.0.0", YES },
        { "|| ^2", "1.0.0", YES },
        { ">=0.2.3 || <0.0.1", "0.0.0", YES },
        { "0.1.20 || 1.2.4", "1.2.4", YES },
        { ">1.2.3-alpha.3", "1.2.3-alpha.7", YES },
        { ">1.2.3-alpha.3", "3.4.5-alpha.9", NO },
        { ">1.2.3-alpha.3", "3.4.5", YES },
        { "<2.0.0-beta", "2.0.0-alpha", YES },
        { "<2.0.0", "2.0.0-alpha", NO },
        { ">=1.2.3-a <2 || >=3", "3.0.0-a", NO },
        { "banana", "1.0.0", BAD },
        { "1.x.2", "1.0.2", BAD },
        { "x.1", "1.1.0", BAD },
        { "= =10", "10.1.0", YES },
        { "<==2", "2.9.0", YES },
        { "~=1", "1.9.0", YES },
        { "=<1", "0.1.0", BAD },
        { "^1 banana", "1.5.0", BAD },
        { "1.2.3.4", "1.2.3", BAD },
        { "1.", "1.0.0", BAD },
        { "<<1", "0.0.1", BAD },
        { "^1.2.3 || git", "1.2.3", BAD },
        { "1.0.0", "1.0", BAD },
        { "99999999999999999", "1.0.0", BAD },
        { "1.2.3beta", "1.2.3", BAD },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum cbx_match_result r =
            cbx_npm_matches(cbx_str_of(cases[i].range), cbx_str_of(cases[i].version));
        if (r != cases[i].result) {
            fail_msg("'%s' and %s: %d, expected %d", cases[i].range, cases[i].version, r,
                     cases[i].result);
        }
    }
}

static void finds_the_end_of_npm_ranges(void **state)
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
        /* an alternative that may not be there does not help */
        { "3.10.1 || 99.0.0", "4.17.21", true },
        { "5 || 6", "4.17.21", false },
        { "3 || 4", "4.17.21", false },
        { "4.17.0 - 4.17.20", "4.17.21", true },
        { "4.17.0 - 4.17", "4.17.21", false },
        { ">4.17.21", "4.17.21", false },
        { ">=4.17.21-rc.1 <4.17.21", "4.17.21", true },
        { "^1.0.0", "2.0.0-rc.1", true },
        { "<2.0.0", "2.0.0-rc.1", true },
        { "<=2.0.0", "2.0.0-rc.1", false },
        { ">=1.0.0", "2.0.0-rc.1", false },
        { "*", "2.0.0-rc.1", false },
        { "4.17.20", "4", false }, /* a minimum may be partial */
        { "3.9.9", "4", true },
        { "1.0.0", "banana", true },
        { "beta", "4.17.21", true },
        { " latest ", "4.17.21", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cbx_npm_below(cbx_str_of(cases[i].range), cbx_str_of(cases[i].minimum)) !=
            cases[i].below) {
            fail_msg("'%s' with minimum %s should%s be below", cases[i].range, cases[i].minimum,
                     cases[i].below ? "" : " not");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_versions_by_semver),
        cmocka_unit_test(refuses_a_malformed_semver),
        cmocka_unit_test(matches_ranges_as_npm_does),
        cmocka_unit_test(finds_the_end_of_npm_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
