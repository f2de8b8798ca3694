/* SPDX-License-Identifier: MIT
 * The layer of packages that is evicted. */
#include "gateway/executor/packages/executor_layers.h"

#include "tests/unit/unit.h"

enum { HOUR_MS = 60 * 60 * 1000, NOW_MS = 100 * HOUR_MS };

static struct cbx_layer_entry layer(const char *principal, int64_t hours_ago)
{
    struct cbx_layer_entry entry = { .used_ms = NOW_MS - hours_ago * HOUR_MS };
    snprintf(entry.principal, sizeof(entry.principal), "%s", principal);
    return entry;
}

static void the_one_that_was_not_used_for_longest_goes_first(void **state)
{
    (void)state;
    const struct cbx_layer_entry entries[] = { layer("ann", 1), layer("bob", 9), layer("ann", 3) };
    assert_int_equal(cbx_layers_choose(entries, 3, NULL, NOW_MS), 1);
    assert_int_equal(cbx_layers_choose(entries, 3, "ann", NOW_MS), 2);
    assert_int_equal(cbx_layers_choose(entries, 3, "cid", NOW_MS), 3);
    assert_int_equal(cbx_layers_choose(entries, 0, NULL, NOW_MS), 0);
}

static void one_that_was_used_in_the_last_minutes_stays(void **state)
{
    (void)state;
    struct cbx_layer_entry entries[] = { layer("ann", 0), layer("ann", 0) };
    assert_int_equal(cbx_layers_choose(entries, 2, NULL, NOW_MS), 2);
    entries[1].used_ms = NOW_MS + HOUR_MS; /* the clock was set back */
    assert_int_equal(cbx_layers_choose(entries, 2, NULL, NOW_MS), 2);
    assert_int_equal(cbx_layers_choose(entries, 2, NULL, NOW_MS + HOUR_MS), 0);
}

static void one_that_is_gone_or_that_a_container_runs_from_is_not_chosen_again(void **state)
{
    (void)state;
    struct cbx_layer_entry entries[] = { layer("ann", 3), layer("ann", 2), layer("ann", 1) };
    entries[0].gone = true;
    entries[1].kept = true;
    assert_int_equal(cbx_layers_choose(entries, 3, NULL, NOW_MS), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_that_was_not_used_for_longest_goes_first),
        cmocka_unit_test(one_that_was_used_in_the_last_minutes_stays),
        cmocka_unit_test(one_that_is_gone_or_that_a_container_runs_from_is_not_chosen_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
