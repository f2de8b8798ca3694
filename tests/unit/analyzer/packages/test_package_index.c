/* SPDX-License-Identifier: MIT
 * The indexes, registries and channels that a policy allows. */
#include "analyzer/packages/package_check.h"
#include "tests/unit/unit.h"

static bool is_let_in(enum cbx_spec_kind kind, const char *allowed, const char *index)
{
    const struct cbx_str items[] = { cbx_str_of(allowed) };
    const struct cbx_packages packages = { .indexes = { items, 1 } };
    return cbx_packages_index(&packages, kind, cbx_str_of(index));
}

static void compares_urls_as_urls(void **state)
{
    (void)state;
    static const struct {
        const char *allowed, *index;
        bool in;
    } cases[] = {
        { "https://h/simple", "https://h/simple", true },
        { "https://h/simple", "https://h/simple/", true },
        { "https://h/simple/", "https://h/simple", true },
        { "https://h/", "https://h/a/b", true },
        { "https://h", "https://h", true },
        { "https://h/simple", "HTTPS://H/simple", true },
        { "https://h/simple", "https://h/Simple", false },
        { "https://h:443/simple", "https://h/simple", true },
        { "https://h/simple", "https://h:443/simple", true },
        { "https://h/simple", "https://h:8443/simple", false },
        { "http://h/simple", "http://h:80/simple", true },
        { "https://h/simple", "https://user:secret@h/simple", true },
        { "https://h/simple", "https://token@h/simple/", true },
        { "https://h/simple", "http://h/simple", false },
        { "http://h/simple", "https://h/simple", false },
        { "https://h/simple", "https://h.evil.example/simple", false },
        { "https://h/simple", "https://h@evil.example/simple", false },
        { "https://h/simple", "https://evil.example/@h/simple", false },
        { "https://h/simple", "https://evil.example\\@h/simple", false },
        { "https://h/simple", "https://h/simple2", false },
        { "https://h/simple", "https://h/simple/x", true },
        { "https://h/simple", "https://h/simple/../evil", false },
        { "https://h/simple", "https://h/simple/%2e%2e/evil", false },
        { "https://h/simple", "https://h/", false },
        { "https://[::1]:8080/", "https://[::1]:8080/x", true },
        { "https://[::1]/", "https://[::2]/", false },
        { "https://h/simple", "corp=https://h/simple", true },
        { "https://h/simple", "h", false },
        { "https://h/simple", "", false },
        { "https://h/simple", "https://", false },
        { "conda-forge", "conda-forge", true },
        { "conda-forge", "https://conda-forge", false },
        { "conda-forge", "conda", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (is_let_in(CBX_SPEC_PIP, cases[i].allowed, cases[i].index) != cases[i].in) {
            fail_msg("%s: %s should%s be let in", cases[i].allowed, cases[i].index,
                     cases[i].in ? "" : " not");
        }
    }
}

static void applies_the_preset_default(void **state)
{
    (void)state;
    assert_false(is_let_in(CBX_SPEC_PIP, "default", "https://index.example/simple/"));
    assert_false(is_let_in(CBX_SPEC_NPM, "default", "https://index.example/"));
    assert_true(is_let_in(CBX_SPEC_CONDA, "default", "defaults"));
    assert_false(is_let_in(CBX_SPEC_CONDA, "default", "conda-forge"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_urls_as_urls),
        cmocka_unit_test(applies_the_preset_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
