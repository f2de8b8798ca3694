/* SPDX-License-Identifier: MIT
 * Durations for people. */
#include "gateway/front/page/charts.h"

#include "tests/unit/unit.h"

static void a_duration_has_the_unit_that_people_read(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = { { -5, "0 ms" },
                  { 0, "0 ms" },
                  { 999, "999 ms" },
                  { 1000, "1.0 s" },
                  { 9999, "9.9 s" },
                  { 10000, "10 s" },
                  { 119999, "119 s" },
                  { 120000, "2 min" },
                  { 3599999, "59 min" },
                  { 3600000, "1 h 0 min" },
                  { 86399999, "23 h 59 min" },
                  { 86400000, "1 d 0 h" },
                  { INT64_C(450000000), "5 d 5 h" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(CBX_DURATION(cases[i].ms), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_duration_has_the_unit_that_people_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
