/* SPDX-License-Identifier: MIT
 * The policy of a caller. */
#include "gateway/identity/caller.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct cbx_policy strict = { .name = { "strict", 6 } },
                         lax = { .name = { "lax", 3 }, .log_only = true },
                         fast = { .name = { "fast", 4 } };
static struct cbx_policy *all[] = { &lax, &strict, &fast };
static const struct cbx_policies policies = { .items = all, .count = 3 };

static struct cbx_caller caller_of(const struct cbx_principal *row)
{
    struct cbx_caller caller = { .principal = "ann", .row = row };
    return caller;
}

static const char *name_of(const struct cbx_caller *caller, const char *asked, struct cbx_err *err)
{
    const struct cbx_policy *policy = NULL;
    *err = (struct cbx_err){ 0 };
    int failed = cbx_caller_policy(caller, &policies, cbx_str_of(asked), &policy, err);
    assert_int_equal(failed, err->code);
    return failed ? NULL : policy->name.p;
}

static void a_policy_in_mode_log_only_needs_the_right(void **state)
{
    (void)state;
    uint32_t relaxing = cbx_rights_standard();
    assert_true(cbx_right_add(CBX_STR("policy:relax"), &relaxing));
    const struct cbx_principal plain = { .rights = cbx_rights_standard() },
                               relaxed = { .rights = relaxing };
    struct cbx_caller ann = caller_of(&plain), bob = caller_of(&relaxed);
    struct cbx_err err;
    assert_string_equal(name_of(&bob, "", &err), "lax");
    assert_string_equal(name_of(&bob, "lax", &err), "lax");
    assert_string_equal(name_of(&bob, "strict", &err), "strict");
    assert_string_equal(name_of(&ann, "strict", &err), "strict");
    static const char *const asked[] = { "", "lax" };
    for (size_t i = 0; i < 2; i++) {
        assert_null(name_of(&ann, asked[i], &err));
        assert_int_equal(err.code, CBX_EFORBIDDEN);
        assert_non_null(strstr(err.text, "'lax' is in mode log-only, which needs the right "
                                         "'policy:relax'"));
        assert_non_null(strstr(err.text, "may use: strict, fast"));
    }
    static const char *const others[] = { "LAX", "lax ", "la", "./lax.yaml", "lax.yaml" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_null(name_of(&ann, others[i], &err));
        assert_int_equal(err.code, CBX_ENOTFOUND);
        assert_null(name_of(&bob, others[i], &err));
        assert_int_equal(err.code, CBX_ENOTFOUND);
    }
}

static void the_right_gives_no_policy_that_is_not_the_callers(void **state)
{
    (void)state;
    const struct cbx_principal admin = { .rights = UINT32_MAX,
                                         .policies = { "strict" },
                                         .policy_count = 1 };
    struct cbx_caller ann = caller_of(&admin);
    struct cbx_err err;
    assert_null(name_of(&ann, "lax", &err));
    assert_int_equal(err.code, CBX_ENOTFOUND);
    assert_string_equal(name_of(&ann, "", &err), "strict");
}

static void nobody_and_the_local_caller_do_not_have_it(void **state)
{
    (void)state;
    const struct cbx_caller nobody = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_caller_check_mode(&nobody, &policies, &lax, &err), CBX_EFORBIDDEN);
    assert_non_null(strstr(err.text, "none for this caller"));
    assert_int_equal(cbx_caller_check_mode(cbx_caller_local(), &policies, &lax, &err),
                     CBX_EFORBIDDEN);
    assert_int_equal(cbx_caller_check_mode(&nobody, &policies, &strict, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_in_mode_log_only_needs_the_right),
        cmocka_unit_test(the_right_gives_no_policy_that_is_not_the_callers),
        cmocka_unit_test(nobody_and_the_local_caller_do_not_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
