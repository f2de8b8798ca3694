/* SPDX-License-Identifier: MIT
 * Days of the Gregorian calendar, UTC. The C library's functions read /etc/localtime and TZ even
 * for UTC, and a confined process may not do that. */
#ifndef CBX_POLICIES_BASE_TIME_DATE_H
#define CBX_POLICIES_BASE_TIME_DATE_H

#include "policies/base/str.h"

/* "YYYY-MM-DD" and a NUL. */
enum { CBX_DATE_BYTES = 11 };

/* Reads exactly YYYY-MM-DD, years 1000 to 9999, a valid day. *seconds is its begin in Unix
 * seconds. False, and *seconds unchanged, for any other text. */
bool cbx_date_parse(struct cbx_str text, int64_t *seconds);

/* Writes the day that contains `seconds` (Unix time). Days outside the range of cbx_date_parse
 * become its first or last day. */
void cbx_date_format(int64_t seconds, char out[CBX_DATE_BYTES]);

#endif
