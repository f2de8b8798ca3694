/* SPDX-License-Identifier: MIT
 * Which variables a policy passes, and which ones callers may set. */
#include "policies/environment.h"

#include "tests/unit/unit.h"

#define HEAD "version: 1\nname: p\nextends: [default]\n"

static struct cbx_policy *parse(const char *yaml, struct cbx_err *err)
{
    struct cbx_policy *policy = NULL;
    return cbx_policy_parse(cbx_str_of(yaml), "p", &policy, err) == 0 ? policy : NULL;
}

static void never_passes_what_loaders_and_runtimes_obey(void **state)
{
    (void)state;
    static const char *const never[] = {
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "GLIBC_TUNABLES",
        "MALLOC_CONF",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "NODE_PATH",
        "BASH_ENV",
        "ENV",
        "IFS",
        "PATH",
        "HOME",
        "PS4",
        "PROMPT_COMMAND",
        "GCONV_PATH",
        "PERL5LIB",
        "OPENSSL_CONF",
        "DOCKER_HOST",
        "GIT_SSH_COMMAND",
        "C_INCLUDE_PATH",
        "MPLBACKEND",
    };
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        char yaml[256];
        struct cbx_err err = { 0 };
        assert_int_equal(cbx_variable_check(cbx_str_of(never[i]), &err), CBX_EINVAL);
        snprintf(yaml, sizeof(yaml), HEAD "environment: {secrets: [%s]}\n", never[i]);
        assert_null(parse(yaml, &err));
        assert_non_null(strstr(err.text, never[i]));
        assert_int_equal(err.line, 4);
    }
}

static void takes_ordinary_names_only(void **state)
{
    (void)state;
    static const char *const good[] = { "A",         "_x", "OPENAI_API_KEY",
                                        "LDAP_HOST", "TZ", "environment" };
    static const char *const bad[] = { "", "1A", "A-B", "A=B", "A B", "\xc3\xa4", "BASH_FUNC_x%%" };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(cbx_variable_check(cbx_str_of(good[i]), NULL), 0);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(cbx_variable_check(cbx_str_of(bad[i]), NULL), CBX_EINVAL);
    }
}

static void a_caller_never_sets_what_the_operator_passes(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO(policy)
    policy =
        parse(HEAD "environment: {pass: [REGION], secrets: [{name: TOKEN, file: /t}]}\n", &err);
    assert_non_null(policy);
    assert_int_equal(cbx_variable_may_set(policy, CBX_STR("STAGE"), &err), 0);
    assert_int_equal(cbx_variable_may_set(policy, CBX_STR("REGION"), &err), CBX_EINVAL);
    assert_int_equal(cbx_variable_may_set(policy, CBX_STR("TOKEN"), &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "the operator passes it"));
}

static void a_policy_that_lists_no_names_lets_callers_set_none(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO(policy) none = parse("version: 1\nname: p\nextends: [baseline]\n", &err);
    CBX_AUTO(policy) some = parse(HEAD "environment: {set: [\"MY_*\"]}\n", &err);
    assert_int_equal(cbx_variable_may_set(none, CBX_STR("STAGE"), &err), CBX_EINVAL);
    assert_int_equal(cbx_variable_may_set(some, CBX_STR("STAGE"), &err), CBX_EINVAL);
    assert_int_equal(cbx_variable_may_set(some, CBX_STR("MY_STAGE"), &err), 0);
}

static void secrets_are_names_or_names_with_files(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO(policy)
    policy = parse(HEAD "environment: {secrets: [A, {name: B, file: /run/b}]}\n", &err);
    assert_int_equal(policy->secret_count, 2);
    assert_true(cbx_str_is(policy->secrets[0].name, "A"));
    assert_int_equal(policy->secrets[0].file.len, 0);
    assert_true(cbx_str_is(policy->secrets[1].file, "/run/b"));
    assert_null(parse(HEAD "environment: {secrets: [{name: B, file: run/b}]}\n", &err));
    assert_non_null(strstr(err.text, "allowed is an absolute path"));
    assert_null(parse(HEAD "environment: {pass: [A], secrets: [A]}\n", &err));
    assert_non_null(strstr(err.text, "'A' is passed twice"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_passes_what_loaders_and_runtimes_obey),
        cmocka_unit_test(takes_ordinary_names_only),
        cmocka_unit_test(a_caller_never_sets_what_the_operator_passes),
        cmocka_unit_test(a_policy_that_lists_no_names_lets_callers_set_none),
        cmocka_unit_test(secrets_are_names_or_names_with_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
