/* SPDX-License-Identifier: MIT
 * Versions, and the known escapes of each. */
#include "docker/doctor/escapes.h"
#include "tests/unit/unit.h"

#include <string.h>

static bool applies(const char *id, const char *version)
{
    const struct cbx_escape *escape;
    for (size_t i = 0; (escape = cbx_escape_at(i)) != NULL; i++) {
        if (strcmp(escape->id, id) == 0) {
            return cbx_escape_applies(escape, version);
        }
    }
    fail_msg("no row %s", id);
    return false;
}

static void orders_versions(void **state)
{
    (void)state;
    assert_true(cbx_release_compare("1.9", "1.10") < 0);
    assert_true(cbx_release_compare("v1.1.12", "1.1.12") == 0);
    assert_true(cbx_release_compare("1.4.0-rc.3", "1.4.0-rc3") == 0);
    assert_true(cbx_release_compare("1.0.0-rc7", "1.0.0-rc95") < 0);
    assert_true(cbx_release_compare("1.4.0~rc1", "1.4.0") < 0);
    assert_true(cbx_release_compare("1.4.0-beta.9", "1.4.0-rc1") < 0);
    assert_true(cbx_release_compare("7.0", "7.0.0") == 0);
    assert_true(cbx_release_compare("1.1.5+ds1", "1.1.5") == 0);
}

static void counts_a_fix_for_its_own_line(void **state)
{
    (void)state;
    assert_true(applies("CVE-2025-31133", "1.1.15"));
    assert_true(applies("CVE-2025-31133", "1.2.7"));
    assert_false(applies("CVE-2025-31133", "1.2.8"));
    assert_true(applies("CVE-2025-31133", "1.3.2"));
    assert_false(applies("CVE-2025-31133", "1.3.3"));
    assert_true(applies("CVE-2025-31133", "1.4.0-rc.2"));
    assert_false(applies("CVE-2025-31133", "1.4.0-rc.3"));
    assert_false(applies("CVE-2025-31133", "1.5.0"));
}

static void applies_from_the_first_affected_version(void **state)
{
    (void)state;
    assert_false(applies("CVE-2022-0847", "5.4.1"));
    assert_true(applies("CVE-2022-0847", "5.8.0"));
    assert_true(applies("CVE-2022-0847", "5.14.21"));
    assert_false(applies("CVE-2022-0847", "5.15.25"));
    assert_false(applies("CVE-2022-0847", "6.1.0-18-amd64"));
    assert_true(applies("CVE-2024-21626", "1.1.5+ds1-1+deb12u1"));
    assert_false(applies("CVE-2024-21626", "1.0.0-rc92"));
}

static void recognises_a_packaged_version(void **state)
{
    (void)state;
    static const char *const packaged[] = { "1.1.5+ds1-1+deb12u1", "20.10.24+dfsg1",
                                            "1.6.20~ds1-1",        "6.1.0-18-amd64",
                                            "1.1.12-0ubuntu3",     "5.14.0-427.el9.x86_64" };
    static const char *const plain[] = { "1.1.12",     "v1.7.29",    "29.5.1",
                                         "1.4.0-rc.3", "19.03.1-ce", "6.12.1" };
    for (size_t i = 0; i < 6; i++) {
        assert_true(cbx_release_is_packaged(packaged[i]));
        assert_false(cbx_release_is_packaged(plain[i]));
    }
}

/* A malformed version matches no escape; the caller reports the version as unknown. */
static void a_malformed_version_matches_no_escape(void **state)
{
    (void)state;
    assert_false(applies("CVE-2025-31133", ""));
    assert_false(applies("CVE-2025-31133", "unknown"));
}

/* The vulnerabilities of an old version of a component, in the order of the table. */
static void assert_known(const char *component, const char *version, const char *expected)
{
    char known[512] = "";
    const struct cbx_escape *escape;
    for (size_t i = 0; (escape = cbx_escape_at(i)) != NULL; i++) {
        if (strcmp(escape->component, component) == 0 && cbx_escape_applies(escape, version)) {
            size_t len = strlen(known);
            snprintf(known + len, sizeof(known) - len, "%s%s%s", len > 0 ? " " : "",
                     escape->id + strlen("CVE-"), escape->reachable ? "!" : "");
        }
    }
    assert_string_equal(known, expected);
}

static void an_old_version_has_all_that_was_found_since(void **state)
{
    (void)state;
    assert_known(
        "runc", "1.0.0-rc6",
        "2019-5736! 2021-30465! 2023-28642! 2024-45310 2025-31133! 2025-52565 2025-52881!");
    assert_known("runc", "1.1.4",
                 "2023-28642! 2024-21626! 2024-45310 2025-31133! 2025-52565 2025-52881!");
    assert_known("crun", "1.4.3", "2022-27650 2025-24965");
    assert_known("containerd", "1.3.0", "2020-15257 2022-23648 2024-40635 2024-25621 2026-53488");
    assert_known("containerd", "2.0.1", "2024-40635 2024-25621 2026-53488 2026-53492");
    assert_known("engine", "18.09.7", "2018-15664 2024-41110 2026-41567 2026-41568 2026-42306");
    assert_known("engine", "19.03.0", "2019-14271 2024-41110 2026-41567 2026-41568 2026-42306");
    assert_known("kernel", "4.8.2", "2016-5195! 2022-0492 2024-1086");
    assert_known("kernel", "5.10.60", "2022-0847! 2022-0185 2022-0492 2024-1086 2026-31431");
}

static void has_rows_that_can_be_read(void **state)
{
    (void)state;
    const struct cbx_escape *escape;
    size_t count = 0;
    for (; (escape = cbx_escape_at(count)) != NULL; count++) {
        assert_true(strncmp(escape->id, "CVE-", 4) == 0);
        assert_true(escape->fixed[0] != '\0');
        assert_true(cbx_escape_applies(escape, escape->fixed) == false);
    }
    assert_true(count > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_versions),
        cmocka_unit_test(counts_a_fix_for_its_own_line),
        cmocka_unit_test(applies_from_the_first_affected_version),
        cmocka_unit_test(recognises_a_packaged_version),
        cmocka_unit_test(a_malformed_version_matches_no_escape),
        cmocka_unit_test(an_old_version_has_all_that_was_found_since),
        cmocka_unit_test(has_rows_that_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
