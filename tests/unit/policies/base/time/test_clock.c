/* SPDX-License-Identifier: MIT
 * Milliseconds of two clocks, and times for timed waits. */
#include "policies/base/time/clock.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(the_wall_clock_agrees_with_the_systems),
        cmocka_unit_test(milliseconds_become_seconds_and_nanoseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
