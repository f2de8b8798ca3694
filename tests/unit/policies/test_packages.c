/* SPDX-License-Identifier: MIT
 * The package manager of each language, and the packages that a policy permits. */
#include "policies/packages.h"
#include "tests/unit/unit.h"

static struct cbx_policy *parse(const char *network, const char *packages)
{
    char yaml[512];
    struct cbx_policy *policy;
    struct cbx_err err;
    snprintf(yaml, sizeof(yaml),
             "version: 1\nname: x\nlanguages: [python, javascript]\nnetwork: %s\npackages: %s\n",
             network, packages);
    assert_int_equal(cbx_policy_parse(cbx_str_of(yaml), "x", &policy, &err), 0);
    return policy;
}

static void languages_and_their_dialects_have_a_manager(void **state)
{
    (void)state;
    static const struct {
        const char *language;
        enum cbx_manager manager;
    } rows[] = {
        { "python", CBX_MANAGER_PIP },     { "ipython", CBX_MANAGER_PIP },
        { "javascript", CBX_MANAGER_NPM }, { "js", CBX_MANAGER_NPM },
        { "typescript", CBX_MANAGER_NPM }, { "shell", CBX_MANAGER_NONE },
        { "c", CBX_MANAGER_NONE },         { "cobol", CBX_MANAGER_NONE },
        { "", CBX_MANAGER_NONE },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (cbx_language_manager(cbx_str_of(rows[i].language)) != rows[i].manager) {
            fail_msg("%s", rows[i].language);
        }
    }
}

static void rules_are_those_of_the_manager(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = parse("none", "{pip: {mode: blocklist}}");
    assert_ptr_equal(cbx_policy_packages(policy, CBX_STR("ipython")), &policy->pip);
    assert_ptr_equal(cbx_policy_packages(policy, CBX_STR("typescript")), &policy->npm);
    assert_null(cbx_policy_packages(policy, CBX_STR("shell")));
}

static void installs_need_a_network_and_a_list(void **state)
{
    (void)state;
    static const struct {
        const char *network, *packages;
        bool python, javascript;
    } rows[] = {
        { "none", "{pip: {mode: blocklist}, npm: {mode: allowlist}}", false, false },
        { "packages-only", "{pip: {mode: blocklist}, npm: {mode: allowlist}}", true, true },
        { "packages-only", "{pip: {mode: none}, npm: {mode: blocklist}}", false, true },
        { "{egress: [example.org]}", "{pip: {mode: allowlist}, npm: {mode: none}}", true, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CBX_AUTO(policy) policy = parse(rows[i].network, rows[i].packages);
        assert_int_equal(cbx_policy_installs(policy, CBX_STR("python")), rows[i].python);
        assert_int_equal(cbx_policy_installs(policy, CBX_STR("javascript")), rows[i].javascript);
        assert_int_equal(cbx_policy_installs(policy, CBX_STR("typescript")), rows[i].javascript);
        assert_false(cbx_policy_installs(policy, CBX_STR("shell")));
    }
    struct cbx_policy zero = { 0 };
    assert_false(cbx_policy_installs(&zero, CBX_STR("python"))); /* zeroed memory denies */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(languages_and_their_dialects_have_a_manager),
        cmocka_unit_test(rules_are_those_of_the_manager),
        cmocka_unit_test(installs_need_a_network_and_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
