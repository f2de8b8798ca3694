/* SPDX-License-Identifier: MIT
 * The two clocks. */
#include "policies/base/time/clock.h"

enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

static int64_t read_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

int64_t cbx_clock_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

int64_t cbx_time_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

struct timespec cbx_timespec_of(int64_t ms)
{
    return (struct timespec){ .tv_sec = (time_t)(ms / MS_PER_S),
                              .tv_nsec = (long)(ms % MS_PER_S) * NS_PER_MS };
}
