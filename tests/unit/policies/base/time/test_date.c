/* SPDX-License-Identifier: MIT
 * Days, against libc. */
#include "policies/base/time/date.h"
#include "tests/unit/unit.h"

#include <time.h>

static void agrees_with_libc_on_every_day_of_400_years(void **state)
{
    (void)state;
    for (int64_t day = -146097; day < 146097; day++) {
        time_t seconds = (time_t)day * 86400 + (day % 86400 + 86400) % 86400;
        int64_t back = 1;
        char ours[CBX_DATE_BYTES], theirs[32];
        struct tm tm;
        gmtime_r(&seconds, &tm);
        strftime(theirs, sizeof(theirs), "%Y-%m-%d", &tm);
        cbx_date_format(seconds, ours);
        assert_string_equal(ours, theirs);
        assert_true(cbx_date_parse(cbx_str_of(ours), &back));
        assert_true(back <= seconds && seconds - back < 86400);
        assert_int_equal(back % 86400, 0);
    }
}

static void refuses_what_is_no_day(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",           "2027-1-01",  "2027-01-1",  "2027-13-01", "2027-00-10",  "2027-02-29",
        "2100-02-29", "2027-04-31", "2027-01-00", "2027/01/01", "0999-01-01",  " 2027-1-1",
        "2027-01-0a", "20270101",   "+999-01-01", "-999-01-01", "2027-01-012",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int64_t seconds = 7;
        assert_false(cbx_date_parse(cbx_str_of(wrong[i]), &seconds));
        assert_int_equal(seconds, 7);
    }
}

static void days_beyond_the_calendar_become_its_ends(void **state)
{
    (void)state;
    char text[CBX_DATE_BYTES];
    cbx_date_format(INT64_MAX, text);
    assert_string_equal(text, "9999-12-31");
    cbx_date_format(INT64_MIN, text);
    assert_string_equal(text, "1000-01-01");
    int64_t seconds;
    assert_true(cbx_date_parse(CBX_STR("9999-12-31"), &seconds));
    assert_true(cbx_date_parse(CBX_STR("2000-02-29"), &seconds));
    assert_int_equal(seconds, 951782400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_libc_on_every_day_of_400_years),
        cmocka_unit_test(refuses_what_is_no_day),
        cmocka_unit_test(days_beyond_the_calendar_become_its_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
