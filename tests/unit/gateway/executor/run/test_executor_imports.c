/* SPDX-License-Identifier: MIT
 * The modules that a run may not import, as a permit has them. */
#include "gateway/executor/run/executor_imports.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { NOW = 1700000000 };

static struct cbx_policy *policy;
static struct cbx_policies policies = { .items = &policy, .count = 1 };

static struct cbx_permit permit_of(const char *language, const char *principal)
{
    struct cbx_permit permit = { .policy_sha256 = policy->sha256,
                                 .refused = 1u << CBX_REFUSE_IMPORT };
    snprintf(permit.policy, sizeof(permit.policy), "%.*s", CBX_STR_ARG(policy->name));
    snprintf(permit.language, sizeof(permit.language), "%s", language);
    snprintf(permit.principal, sizeof(permit.principal), "%s", principal);
    return permit;
}

static bool denies(struct cbx_import_cache *cache, const struct cbx_permit *permit, int64_t now)
{
    CBX_AUTO_DONE(buf) list;
    struct cbx_err err;
    cbx_buf_init(&list, 65536);
    assert_int_equal(cbx_import_cache_list(cache, &policies, permit, now, &list, &err), 0);
    return list.len > 0 && memmem(list.p, list.len, "-alpha", 7) != NULL;
}

static void each_principal_has_a_list_of_its_own_until_its_exception_ends(void **state)
{
    (void)state;
    struct cbx_import_cache cache = { 0 };
    struct cbx_permit ops = permit_of("python", "ops"), agent = permit_of("ipython", "agent");
    for (int again = 0; again < 2; again++) {
        assert_false(denies(&cache, &ops, NOW));
        assert_true(denies(&cache, &agent, NOW));
        assert_true(denies(&cache, &ops, NOW + 400 * 86400));
    }
    assert_int_equal(cache.next, 3);
    cbx_import_cache_done(&cache);
}

static void a_permit_that_refuses_no_imports_has_no_list(void **state)
{
    (void)state;
    struct cbx_import_cache cache = { 0 };
    struct cbx_permit permit = permit_of("python", "agent");
    permit.refused = 0;
    assert_false(denies(&cache, &permit, NOW));
    assert_int_equal(cache.next, 0);
}

static void a_list_is_made_anew_when_many_others_were_needed(void **state)
{
    (void)state;
    struct cbx_import_cache cache = { 0 };
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof(name), "agent%d", i % 20);
        struct cbx_permit permit = permit_of("python", name);
        assert_true(denies(&cache, &permit, NOW));
    }
    cbx_import_cache_done(&cache);
}

static void the_rule_that_denies_a_module_is_named(void **state)
{
    (void)state;
    struct cbx_permit permit = permit_of("python", "agent");
    assert_true(
        cbx_str_is(cbx_import_rule(&policies, &permit, CBX_STR("alpha.x"), NOW), "my.rule"));
    assert_true(cbx_str_is(cbx_import_rule(&policies, &permit, CBX_STR("?"), NOW), "guard.import"));
}

static int load(void **state)
{
    static const char yaml[] =
        "version: 1\nname: t\nrules:\n  - {id: my.rule, match: {import: [alpha]}}\n"
        "exceptions:\n"
        "  - {rule: my.rule, principal: ops, until: 2024-01-01, reason: tests}\n";
    struct cbx_err err;
    (void)state;
    return cbx_policy_parse(cbx_str_of(yaml), "test", &policy, &err);
}

static int unload(void **state)
{
    (void)state;
    cbx_policy_free(policy);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_principal_has_a_list_of_its_own_until_its_exception_ends),
        cmocka_unit_test(a_permit_that_refuses_no_imports_has_no_list),
        cmocka_unit_test(a_list_is_made_anew_when_many_others_were_needed),
        cmocka_unit_test(the_rule_that_denies_a_module_is_named),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
