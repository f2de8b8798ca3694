/* SPDX-License-Identifier: MIT
 * The sandbox image that a policy chooses. */
#include "gateway/executor/run/images.h"
#include "tests/unit/unit.h"

static const struct cbx_sandbox_config gateway = { .instance = "i", .variant = "small" };

static void assert_variant(const struct cbx_policy *policy, const char *kernel, const char *wanted)
{
    struct cbx_image_choice choice;
    cbx_image_choose(&gateway, policy, kernel, &choice);
    assert_string_equal(choice.config.variant, wanted);
    assert_string_equal(choice.config.instance, "i");
}

static void a_policy_chooses_by_language(void **state)
{
    (void)state;
    const struct cbx_policy policy = { .images = { .python = CBX_STR("lab"),
                                                   .javascript = CBX_STR("web") } };
    assert_variant(&policy, "python", "lab");
    assert_variant(&policy, "javascript", "web");
    assert_variant(&policy, "typescript", "web");
    assert_variant(&policy, "bash", "small");
    assert_variant(&policy, "c", "small");
}

static void without_a_choice_it_is_the_gateways(void **state)
{
    (void)state;
    const struct cbx_policy policy = { .images = { .javascript = CBX_STR("web") } };
    assert_variant(&policy, "python", "small");
    assert_variant(NULL, "python", "small");
    struct cbx_image_choice choice;
    cbx_image_choose(&gateway, &policy, "python", &choice);
    assert_string_equal(choice.variant, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_chooses_by_language),
        cmocka_unit_test(without_a_choice_it_is_the_gateways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
