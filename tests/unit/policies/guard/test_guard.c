/* SPDX-License-Identifier: MIT
 * The guard's refusals follow from the rules' denials. */
#include "policies/guard/guard.h"
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
        { "default", CBX_PYTHON, true, true }, /* without a network a client reaches nothing */
        { "default", CBX_JAVASCRIPT, true, true },
        { "default", CBX_TYPESCRIPT, true, true },
        { "default", CBX_SHELL, true, true },
        { "default", CBX_C, true, true },
        { "strict", CBX_PYTHON, true, true },
        { "data-analysis", CBX_PYTHON, true, true },
        { "web-automation", CBX_PYTHON, false, true }, /* browsers; it has no network either */
        { "permissive", CBX_SHELL, false, false },
        { "permissive", CBX_C, false, false },
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

static void the_key_asks_for_more_than_the_rules_and_switches_off(void **state)
{
    (void)state;
    struct cbx_guard more = guard_of("version: 1\nname: t\nextends: [permissive]\n"
                                     "guard: {start-process: refuse, native-code: refuse}\n",
                                     CBX_PYTHON, "a"),
                     less = guard_of("version: 1\nname: t\nextends: [default]\n"
                                     "guard: {start-process: allow, override: true}\n",
                                     CBX_PYTHON, "a"),
                     passed = guard_of("version: 1\nname: t\nextends: [permissive]\n"
                                       "guard: {start-process: refuse}\nexceptions:\n"
                                       "  - {rule: guard.start-process, principal: ops, "
                                       "until: 2030-01-01, reason: tests}\n",
                                       CBX_PYTHON, "ops");
    assert_true(refuses(&more, CBX_REFUSE_START) && refuses(&more, CBX_REFUSE_NATIVE));
    assert_false(refuses(&more, CBX_REFUSE_SOCKET));
    assert_false(refuses(&less, CBX_REFUSE_START));
    assert_true(refuses(&less, CBX_REFUSE_SOCKET));
    assert_false(refuses(&passed, CBX_REFUSE_START));
}

static void files_outside_are_refused_by_every_policy(void **state)
{
    (void)state;
    struct cbx_guard guard =
        guard_of("version: 1\nname: t\nextends: [permissive]\nmode: log-only\n", CBX_SHELL, "a");
    assert_true(refuses(&guard, CBX_REFUSE_READ) && refuses(&guard, CBX_REFUSE_WRITE));
}

static void refuses_a_key_that_loosens_without_saying_so(void **state)
{
    (void)state;
    static const char *const laxer[] = {
        "extends: [default]\nguard: {start-process: allow}\n",
        "extends: [default]\nguard: {read-outside: allow, override: true}\n",
        "extends: [default]\nguard: {no-such-row: refuse}\n",
        "extends: [default]\nguard: {start-process: maybe}\n",
    };
    for (size_t i = 0; i < sizeof(laxer) / sizeof(laxer[0]); i++) {
        char yaml[256];
        struct cbx_policy *policy = NULL;
        struct cbx_err err;
        snprintf(yaml, sizeof(yaml), "version: 1\nname: t\n%s", laxer[i]);
        assert_int_equal(cbx_policy_parse(cbx_str_of(yaml), "test", &policy, &err), CBX_EPOLICY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_refuse_what_they_deny),
        cmocka_unit_test(names_the_rule),
        cmocka_unit_test(the_key_asks_for_more_than_the_rules_and_switches_off),
        cmocka_unit_test(files_outside_are_refused_by_every_policy),
        cmocka_unit_test(refuses_a_key_that_loosens_without_saying_so),
        cmocka_unit_test(a_principal_with_an_exception_is_not_refused),
        cmocka_unit_test(refusals_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
