/* SPDX-License-Identifier: MIT
 * Days of the Gregorian calendar. */
#include "policies/base/time/date.h"

enum {
    DAY_SECONDS = 86400,
    CYCLE_DAYS = 146097, /* days of 400 years */
    EPOCH_DAYS = 719468, /* days from 0000-03-01 to 1970-01-01 */
    YEAR_MIN = 1000,
    YEAR_MAX = 9999
};

/* Years begin in March here, so that the leap day is the last one. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = year - (month <= 2), cycle = y / 400, of_cycle = y % 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return cycle * CYCLE_DAYS + of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year -
           EPOCH_DAYS;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Reads `count` digits; -1 for any other character. */
static int read_digits(const char *p, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (p[i] < '0' || p[i] > '9') {
            return -1;
        }
        value = value * 10 + (p[i] - '0');
    }
    return value;
}

bool cbx_date_parse(struct cbx_str text, int64_t *seconds)
{
    if (text.len != CBX_DATE_BYTES - 1 || text.p[4] != '-' || text.p[7] != '-') {
        return false;
    }
    int year = read_digits(text.p, 4), month = read_digits(text.p + 5, 2),
        day = read_digits(text.p + 8, 2);
    if (year < YEAR_MIN || month < 1 || month > 12 || day < 1 || day > days_in(year, month)) {
        return false;
    }
    *seconds = days_of(year, month, day) * DAY_SECONDS;
    return true;
}

static void write_digits(char *p, int count, int value)
{
    for (int i = count - 1; i >= 0; i--) {
        p[i] = (char)('0' + value % 10);
        value /= 10;
    }
}

void cbx_date_format(int64_t seconds, char out[CBX_DATE_BYTES])
{
    int64_t first = days_of(YEAR_MIN, 1, 1), last = days_of(YEAR_MAX, 12, 31);
    int64_t days = seconds / DAY_SECONDS - (seconds % DAY_SECONDS < 0);
    days = days < first ? first : days > last ? last : days;
    int year = (int)(days / 366) + 1970 - 1, month = 12;
    year = year < YEAR_MIN ? YEAR_MIN : year;
    while (year < YEAR_MAX && days_of(year + 1, 1, 1) <= days) {
        year++;
    }
    while (days < days_of(year, 1, 1)) {
        year--;
    }
    while (days_of(year, month, 1) > days) {
        month--;
    }
    write_digits(out, 4, year);
    write_digits(out + 5, 2, month);
    write_digits(out + 8, 2, (int)(days - days_of(year, month, 1)) + 1);
    out[4] = out[7] = '-';
    out[10] = '\0';
}
