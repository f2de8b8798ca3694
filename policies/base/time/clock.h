/* SPDX-License-Identifier: MIT
 * Time in milliseconds, from two clocks. The monotonic clock measures durations and deadlines;
 * the wall clock is for records and timed waits. */
#ifndef CBX_POLICIES_BASE_TIME_CLOCK_H
#define CBX_POLICIES_BASE_TIME_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds of CLOCK_MONOTONIC. Never goes back; comparable only within one boot of the host. */
int64_t cbx_clock_ms(void);

/* Milliseconds of the wall clock since 1970-01-01 UTC. May jump when the clock is set. */
int64_t cbx_time_ms(void);

/* `ms` milliseconds as a struct timespec (ms >= 0). */
struct timespec cbx_timespec_of(int64_t ms);

#endif
