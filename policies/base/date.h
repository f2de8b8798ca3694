/* SPDX-License-Identifier: MIT
 * Days of the Gregorian calendar, UTC. libc's functions read /etc/localtime and TZ even for UTC,
 * which a jailed process may not do. */
#ifndef CBX_POLICIES_BASE_DATE_H
#define CBX_POLICIES_BASE_DATE_H

#include "policies/base/str.h"

/* "YYYY-MM-DD" and a NUL. */
enum { CBX_DATE_BYTES = 11 };

/* Reads exactly YYYY-MM-DD, years 1000 to 9999, a day that exists. *seconds is its begin in Unix
 * seconds. False, and *seconds unchanged, for anything else. */
bool cbx_date_parse(struct cbx_str text, int64_t *seconds);

/* Writes the day in which `seconds` (Unix time) lies. Days that cbx_date_parse does not read become
 * the first or the last one that it reads. */
void cbx_date_format(int64_t seconds, char out[CBX_DATE_BYTES]);

#endif
