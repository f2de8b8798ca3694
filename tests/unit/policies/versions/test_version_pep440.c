/* SPDX-License-Identifier: MIT
 * PEP 440: spellings, order, and the versions that specifiers allow. */
#include "policies/versions/version.h"
#include "tests/unit/unit.h"

#define NO  CBX_MATCH_NO
#define YES CBX_MATCH_YES
#define BAD CBX_MATCH_MALFORMED

static void orders_versions_by_pep_440(void **state)
{
    (void)state;
    /* Each version is smaller than the next; versions in one row are equal. */
    static const char *const rows[][4] = {
        { "0.dev1" },
        { "0", "0.0", "v0" },
        { "0.9.9" },
        { "1.0.dev0", "1.dev", "1.0-dev0" },
        { "1.0.dev456" },
        { "1.0a1.dev1" },
        { "1.0a1", "1.0.alpha1", "1.0-A.1", "1.0_alpha_1" },
        { "1.0a2.dev456" },
        { "1.0a12.dev456" },
        { "1.0a12" },
        { "1.0b1.dev456" },
        { "1.0b2", "1.0-beta2" },
        { "1.0b2.post345.dev456" },
        { "1.0b2.post345" },
        { "1.0rc1.dev456" },
        { "1.0rc1", "1.0c1", "1.0pre1", "1.0-preview1" },
        { "1.0rc2" },
        { "1.0", "1", "1.0.0" },
        { "1.0+abc.5" },
        { "1.0+abc.7", "1.0+ABC_7", "1+abc-07" },
        { "1.0+abc.7.1" },
        { "1.0+5" },
        { "1.0+5.1" },
        { "1.0+10" },
        { "1.0.post456.dev34" },
        { "1.0.post456", "1.0-456", "1.0.rev456", "1.0.r456" },
        { "1.0.1" },
        { "1.1.dev1" },
        { "1.2", "1.2.0.0.0" },
        { "1.2+123abc" },
        { "1.2+123abc456" },
        { "1.2+abc" },
        { "1.2+abc123" },
        { "1.2+abc123def" },
        { "1.2+1234.abc" },
        { "1.2+123456" },
        { "1.2.r32+123456" },
        { "1.2.rev33+123456" },
        { "1.10" },
        { "1.22.2" },
        { "2" },
        { "2024.1.15" },
        { "20240115000000000000000000000000000001" },
        { "20240115000000000000000000000000000002" },
        { "1!0.1" },
        { "1!1.0" },
        { "2!0", "02!0" },
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

static void refuses_a_malformed_version(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "x",
        "1.",
        "1..2",
        "1.0 0",
        "1.0foo",
        "latest",
        "!1",
        "1!",
        "1.0--",
        "==1.0",
        "*",
        "v",
        "1.0+",
        "1.0+a..b",
        "1.0+a.",
        "1.0+.a",
        "1.0+a b",
        "1.0+\xc3\xa9",
        "1.0.*",
        "-1",
        "1.0a1a2",
        "1.0.post1a1",
        "1.0.dev1.post1",
        "1.0+a+b",
        "vv1",
        "1.0rc1-",
        "1,0",
        "french toast",
        "1.0.-1",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct cbx_pep440 v;
        if (cbx_pep440_parse(cbx_str_of(wrong[i]), &v)) {
            fail_msg("'%s' passed for a version", wrong[i]);
        }
        bool ok = true;
        cbx_version_compare(CBX_STR("1"), cbx_str_of(wrong[i]), &ok);
        assert_false(ok);
    }
}

static void writes_every_spelling_in_its_normal_form(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "1.0dev", "1.0.dev0" },
        { "1.0.dev", "1.0.dev0" },
        { "1.0dev1", "1.0.dev1" },
        { "1.0-dev", "1.0.dev0" },
        { "1.0-dev1", "1.0.dev1" },
        { "1.0DEV", "1.0.dev0" },
        { "1.0.DEV1", "1.0.dev1" },
        { "1.0_dev", "1.0.dev0" },
        { "1.0a", "1.0a0" },
        { "1.0.a", "1.0a0" },
        { "1.0-a1", "1.0a1" },
        { "1.0alpha", "1.0a0" },
        { "1.0.ALPHA1", "1.0a1" },
        { "1.1.a1", "1.1a1" },
        { "1.0b", "1.0b0" },
        { "1.0-beta", "1.0b0" },
        { "1.0-BETA1", "1.0b1" },
        { "1.0c", "1.0rc0" },
        { "1.0.c1", "1.0rc1" },
        { "1.0rc", "1.0rc0" },
        { "1.0-RC1", "1.0rc1" },
        { "1.0pre2", "1.0rc2" },
        { "1.0.preview_3", "1.0rc3" },
        { "1.0post", "1.0.post0" },
        { "1.0.post", "1.0.post0" },
        { "1.0-post1", "1.0.post1" },
        { "1.0-r", "1.0.post0" },
        { "1.0.r2", "1.0.post2" },
        { "1.0rev3", "1.0.post3" },
        { "1.0POST1", "1.0.post1" },
        { "1.0-5", "1.0.post5" },
        { "1.2-1.dev3", "1.2.post1.dev3" },
        { "1.0+AbC", "1.0+abc" },
        { "1.0+ubuntu-1", "1.0+ubuntu.1" },
        { "1.01", "1.1" },
        { "1.0a05", "1.0a5" },
        { "1.0b07", "1.0b7" },
        { "1.0c056", "1.0rc56" },
        { "1.0rc09", "1.0rc9" },
        { "1.0.post000", "1.0.post0" },
        { "1.1.dev09000", "1.1.dev9000" },
        { "00!1.2", "1.2" },
        { "0100!0.0", "100!0.0" },
        { "v1.0", "1.0" },
        { "  v1.0\t\n", "1.0" },
        { "1!1.0", "1!1.0" },
        { "1.0+1.0", "1.0+1.0" },
        { "1.0+0010", "1.0+10" },
        { "1.2.rev33+123456", "1.2.post33+123456" },
        { "1.0a-", "1.0a0" },
        { "1.0a-1", "1.0a1" },
        { "1.0a--1", "1.0a0.post1" },
        { "1.0-", NULL },
        { "000", "0" },
        { "1.0-0", "1.0.post0" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_pep440 v;
        char out[64] = "";
        bool ok = cbx_pep440_parse(cbx_str_of(cases[i][0]), &v);
        if (ok != (cases[i][1] != NULL)) {
            fail_msg("'%s': read %d", cases[i][0], ok);
        }
        if (ok && (!cbx_pep440_write(&v, out, sizeof(out)) || strcmp(out, cases[i][1]) != 0)) {
            fail_msg("'%s' became '%s', not '%s'", cases[i][0], out, cases[i][1]);
        }
    }
}

static void never_writes_a_version_behind_the_buffer(void **state)
{
    (void)state;
    struct cbx_pep440 v;
    assert_true(cbx_pep440_parse(CBX_STR("1!2.3a4.post5.dev6+x.7"), &v));
    for (size_t size = 0; size < 24; size++) {
        char out[32];
        memset(out, 0x55, sizeof(out));
        assert_int_equal(cbx_pep440_write(&v, out, size), size > 22);
        for (size_t i = size; i < sizeof(out); i++) {
            assert_int_equal(out[i], 0x55);
        }
    }
}

static void matches_specifiers_by_pep_440(void **state)
{
    (void)state;
    static const struct {
        const char *specifiers, *version;
        enum cbx_match_result result;
    } cases[] = {
        /* compatible release */
        { "~=2.2", "2.2", YES },
        { "~=2.2", "2.9.1", YES },
        { "~=2.2", "3.0", NO },
        { "~=2.2", "2.1", NO },
        { "~=1.4.5", "1.4.5", YES },
        { "~=1.4.5", "1.4.99", YES },
        { "~=1.4.5", "1.5", NO },
        { "~=2.2.post3", "2.2.post3", YES },
        { "~=2.2.post3", "2.2", NO },
        { "~=2.2.post3", "2.3", YES },
        { "~=1.4.5a4", "1.4.5a4", YES },
        { "~=1.4.5a4", "1.4.5a3", NO },
        { "~=1.4.5a4", "1.4.6", YES },
        { "~=2.2.0", "2.2.1", YES },
        { "~=2.2.0", "2.3", NO },
        { "~=1.4.5.0", "1.4.5.9", YES },
        { "~=1.4.5.0", "1.4.6", NO },
        { "~=1", "1.0", BAD },
        { "~=1!2.2", "1!2.9", YES },
        { "~=1!2.2", "2.9", NO },
        { "~=2.2+x", "2.2", BAD },
        { "~=2.2.*", "2.2", BAD },
        { "~=1.0.0", "1.0+cpu", YES },
        { "~=1.0", "1.1.dev1", YES },
        /* version matching */
        { "==1.1", "1.1", YES },
        { "==1.1", "1.1.0", YES },
        { "==1.1", "1.1.post1", NO },
        { "==1.1", "1.1a1", NO },
        { "==1.1.post1", "1.1.post1", YES },
        { "==1.1.*", "1.1.post1", YES },
        { "==1.1.*", "1.1a1", YES },
        { "==1.1.*", "1.1.7", YES },
        { "==1.1.*", "1.11", NO },
        { "==1.1.*", "1", NO },
        { "==1.0.0.*", "1", YES },
        { "==1.1.*", "1.1.dev1", YES },
        { "==1.1.*", "1.1+local", YES },
        { "==1.*", "1!1.0", NO },
        { "==1!1.*", "1!1.0", YES },
        { "==1.1", "1.1+local", YES },
        { "==1.1+local", "1.1", NO },
        { "==1.1+local.1", "1.1+LOCAL-01", YES },
        { "==1.1+local", "1.1+other", NO },
        { "==1.1a1.*", "1.1a1", BAD },
        { "==1.1.post1.*", "1.1", BAD },
        { "==1.1+x.*", "1.1", BAD },
        { "== 1.1", "1.1", YES },
        { "==v1.1", "1.1", YES },
        { "==1.1.dev.*", "1.1", BAD },
        { "==", "1", BAD },
        { "==*", "1", BAD },
        /* version exclusion */
        { "!=1.1", "1.1", NO },
        { "!=1.1", "1.1.post1", YES },
        { "!=1.1.*", "1.1.post1", NO },
        { "!=1.1.*", "1.2", YES },
        { "!=1.1", "1.1+x", NO },
        { "!=1.1+x", "1.1", YES },
        /* inclusive order */
        { "<=1.1", "1.1", YES },
        { "<=1.1", "1.1+x", YES },
        { "<=1.1", "1.1.post1", NO },
        { "<=1.1", "1.1rc1", YES },
        { ">=1.1", "1.1", YES },
        { ">=1.1", "1.1rc1", NO },
        { ">=1.1", "1.1.post1", YES },
        { ">=1.1+x", "1.1", BAD },
        { "<=1.1+x", "1.1", BAD },
        { ">=1.*", "1", BAD },
        { "<1.*", "1", BAD },
        /* exclusive order */
        { ">1.7", "1.7.1", YES },
        { ">1.7", "1.7.0.post1", NO },
        { ">1.7", "1.7+x", NO },
        { ">1.7", "1.7", NO },
        { ">1.7.post2", "1.7.1", YES },
        { ">1.7.post2", "1.7.0.post3", YES },
        { ">1.7.post2", "1.7.0", NO },
        { ">1.7rc1", "1.7", YES },
        { ">1.7.post1", "1.7.post1+x", NO },
        { ">1.7", "1.7.1+x", YES },
        { "<1.7", "1.6", YES },
        { "<1.7", "1.7rc1", NO },
        { "<1.7", "1.7.dev1", NO },
        { "<1.7", "1.6.post1", YES },
        { "<1.7rc2", "1.7rc1", YES },
        { "<1.7rc2", "1.7.dev1", YES },
        { "<1.7", "1.7", NO },
        { "<1.7", "1.6rc1", YES },
        { "<1.7.0", "1.7.dev1", NO },
        { "<1.7.post1", "1.7", YES },
        { "<1.7.post1", "1.7rc1", NO },
        /* arbitrary equality */
        { "===1.0", "1.0", YES },
        { "===1.0", "1.0.0", NO },
        { "===foobar", "1.0", NO },
        { "===1.0+Downstream1", "1.0+downstream1", YES },
        { "===", "1.0", BAD },
        { "===1 0", "1.0", BAD },
        { "===1.0.*", "1.0.1", NO },
        /* sets */
        { "", "1.0", YES },
        { "  ", "1.0", YES },
        { ">=1.0,<2", "1.5", YES },
        { ">=1.0,<2", "2", NO },
        { ">=1.0, !=1.3.4.*, <2.0", "1.3.4", NO },
        { "~=0.9,>=1.0,!=1.3.4.*,<2.0", "1.3", NO },
        { "~= 3.1.0, != 3.1.3", "3.1.4", YES },
        { ">=1,", "1", YES },
        { ">=1,x", "1", BAD },
        { "1.0", "1.0", BAD },
        { "=1.0", "1.0", BAD },
        { "<>1.0", "1.0", BAD },
        { "=>1.0", "1.0", BAD },
        { ">=1.0 <2", "1.0", BAD },
        { ">=1", "x", BAD },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum cbx_match_result r =
            cbx_pep440_matches(cbx_str_of(cases[i].specifiers), cbx_str_of(cases[i].version));
        if (r != cases[i].result) {
            fail_msg("'%s' and %s: %d, expected %d", cases[i].specifiers, cases[i].version, r,
                     cases[i].result);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_versions_by_pep_440),
        cmocka_unit_test(refuses_a_malformed_version),
        cmocka_unit_test(writes_every_spelling_in_its_normal_form),
        cmocka_unit_test(never_writes_a_version_behind_the_buffer),
        cmocka_unit_test(matches_specifiers_by_pep_440),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
