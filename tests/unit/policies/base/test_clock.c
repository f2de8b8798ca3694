/* SPDX-License-Identifier: MIT
 * Milliseconds of two clocks, and times for timed waits. */
#include "policies/base/clock.h"
#include "tests/unit/unit.h"

static void the_monotonic_clock_never_goes_back(void **state)
{
    (void)state;
    int64_t last = cbx_clock_ms();
    assert_true(last >= 0);
    for (int i = 0; i < 1000; i++) {
        int64_t now = cbx_clock_ms();
        assert_true(now >= last);
        last = now;
    }
}

static void the_wall_clock_agrees_with_the_systems(void **state)
{
    (void)state;
    int64_t before = (int64_t)time(NULL), ms = cbx_time_ms(), after = (int64_t)time(NULL);
    assert_in_range(ms / 1000, before, after + 1);
}

static void milliseconds_become_seconds_and_nanoseconds(void **state)
{
    (void)state;
    struct timespec t = cbx_timespec_of(12345);
    assert_int_equal(t.tv_sec, 12);
    assert_int_equal(t.tv_nsec, 345000000);
}

static void a_time_after_is_normalised_and_not_early(void **state)
{
    (void)state;
    for (int64_t wait = 0; wait < 3000; wait += 7) {
        int64_t before = cbx_time_ms();
        struct timespec until = cbx_time_after(wait);
        assert_in_range(until.tv_nsec, 0, 999999999);
        int64_t until_ms = (int64_t)until.tv_sec * 1000 + until.tv_nsec / 1000000;
        assert_true(until_ms >= before + wait);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(the_wall_clock_agrees_with_the_systems),
        cmocka_unit_test(milliseconds_become_seconds_and_nanoseconds),
        cmocka_unit_test(a_time_after_is_normalised_and_not_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
