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
        /* ld.so(8), and the variables of the C library (environ(7), locale(7), resolv.conf(5),
         * mallopt(3)) */
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "GLIBC_TUNABLES",
        "MALLOC_CONF",
        "MALLOC_CHECK_",
        "GCONV_PATH",
        "LOCPATH",
        "NLSPATH",
        "TZDIR",
        "RES_OPTIONS",
        "HOSTALIASES",
        /* variables of python(1), ipython(1), matplotlib, joblib and pip */
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "IPYTHONDIR",
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_PATH",
        "MPLBACKEND",
        "MPLCONFIGDIR",
        "MATPLOTLIBRC",
        "JOBLIB_TEMP_FOLDER",
        "PIP_INDEX_URL",
        /* node(1), npm, libuv */
        "NODE_OPTIONS",
        "NODE_PATH",
        "NODE_EXTRA_CA_CERTS",
        "NPM_CONFIG_REGISTRY",
        "npm_config_registry",
        "UV_THREADPOOL_SIZE",
        /* openssl-env(7) */
        "OPENSSL_CONF",
        "OPENSSL_ENGINES",
        "OPENSSL_MODULES",
        "SSLKEYLOGFILE",
        /* bash(1), readline(3), terminfo(5) */
        "BASH_ENV",
        "BASHOPTS",
        "ENV",
        "IFS",
        "PS1",
        "PS4",
        "SHELLOPTS",
        "PROMPT_COMMAND",
        "CDPATH",
        "GLOBIGNORE",
        "HISTFILE",
        "INPUTRC",
        "TERMINFO",
        "TERMCAP",
        /* environ(7), and folders that programs find their files in */
        "PATH",
        "HOME",
        "PWD",
        "OLDPWD",
        "SHELL",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "BROWSER",
        "TMPDIR",
        "XDG_CONFIG_HOME",
        /* git(1), perlrun(1), gawk(1), ruby(1), java(1) */
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_GLOBAL",
        "PERL5LIB",
        "PERL5OPT",
        "AWKPATH",
        "AWKLIBPATH",
        "RUBYOPT",
        "RUBYLIB",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        /* gcc(1) */
        "CPATH",
        "C_INCLUDE_PATH",
        "LIBRARY_PATH",
        "GCC_EXEC_PREFIX",
        "COMPILER_PATH",
        "COLLECT_GCC",
        "DEPENDENCIES_OUTPUT",
        "SUNPRO_DEPENDENCIES",
        /* variables that the gateway sets, its own, and the engine client's */
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_MAX_THREADS",
        "CODEBOX_X",
        "DOCKER_HOST",
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
