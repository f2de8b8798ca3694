/* SPDX-License-Identifier: MIT
 * What the guard refuses follows from what the rules deny. */
#include "policies/guard.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct cbx_guard guard_of(const char *yaml, enum cbx_language language,
                                 const char *principal)
{
    struct cbx_policy *policy;
    struct cbx_err err;
    assert_int_equal(cbx_policy_parse(cbx_str_of(yaml), "test", &policy, &err), 0);
    struct cbx_guard guard = cbx_guard_of(policy, language, cbx_str_of(principal), 1700000000);
    for (int i = 0; i < CBX_REFUSALS; i++) {
        guard.rules[i].p = NULL; /* ends with the policy */
    }
    cbx_policy_free(policy);
    return guard;
}

static bool refuses(const struct cbx_guard *guard, enum cbx_refusal id)
{
    return (guard->refused >> id & 1) != 0;
}

static void presets_refuse_what_they_deny(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        enum cbx_language language;
        bool starts, sockets;
    } rows[] = {
        { "default", CBX_PYTHON, true, false }, /* HTTP clients are only reported */
        { "default", CBX_JAVASCRIPT, true, false },
        { "default", CBX_TYPESCRIPT, true, false },
        { "default", CBX_SHELL, false, false }, /* no kernel of these enforces it yet */
        { "default", CBX_C, false, false },
        { "strict", CBX_PYTHON, true, true },
        { "data-analysis", CBX_PYTHON, true, false },
        { "web-automation", CBX_PYTHON, false, false }, /* browsers, requests */
        { "permissive", CBX_PYTHON, false, false },
        { "permissive", CBX_JAVASCRIPT, false, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cbx_policy *policy;
        struct cbx_err err;
        assert_int_equal(cbx_policy_load(rows[i].policy, &policy, &err), 0);
        struct cbx_guard guard = cbx_guard_of(policy, rows[i].language, CBX_STR("a"), 1700000000);
        if (refuses(&guard, CBX_REFUSE_START) != rows[i].starts ||
            refuses(&guard, CBX_REFUSE_SOCKET) != rows[i].sockets) {
            fail_msg("%s, language %d: %x", rows[i].policy, rows[i].language, guard.refused);
        }
        cbx_policy_free(policy);
    }
}

static void names_the_rule(void **state)
{
    (void)state;
    struct cbx_policy *policy;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    struct cbx_guard guard = cbx_guard_of(policy, CBX_PYTHON, CBX_STR("a"), 1700000000);
    assert_true(cbx_str_is(guard.rules[CBX_REFUSE_START], "py.process"));
    cbx_policy_free(policy);
}

static void a_principal_with_an_exception_is_not_refused(void **state)
{
    (void)state;
    static const char yaml[] = "version: 1\nname: t\nextends: [default]\nexceptions:\n"
                               "  - {rule: py.process, principal: ops, until: 2030-01-01, "
                               "reason: tests}\n";
    struct cbx_guard ops = guard_of(yaml, CBX_PYTHON, "ops"),
                     other = guard_of(yaml, CBX_PYTHON, "agent");
    assert_false(refuses(&ops, CBX_REFUSE_START));
    assert_true(refuses(&other, CBX_REFUSE_START));
}

static void refusals_have_names(void **state)
{
    (void)state;
    assert_int_equal(cbx_refusal_of(CBX_STR("start-process")), CBX_REFUSE_START);
    assert_int_equal(cbx_refusal_of(CBX_STR("start")), CBX_REFUSALS);
    assert_null(cbx_refusal_row(CBX_REFUSALS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_refuse_what_they_deny),
        cmocka_unit_test(names_the_rule),
        cmocka_unit_test(a_principal_with_an_exception_is_not_refused),
        cmocka_unit_test(refusals_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
