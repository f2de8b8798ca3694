/* SPDX-License-Identifier: MIT
 * Timed waits on CLOCK_MONOTONIC. */
#include "policies/base/time/deadline.h"

#include "policies/base/time/clock.h"

#include <time.h>

void cbx_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &clock);
    pthread_condattr_destroy(&clock);
}

bool cbx_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t clock_ms)
{
    struct timespec until = cbx_timespec_of(clock_ms > 0 ? clock_ms : 0);
    return pthread_cond_timedwait(cond, mutex, &until) == 0;
}

bool cbx_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t ms)
{
    return cbx_cond_wait_until(cond, mutex, cbx_clock_ms() + ms);
}

bool cbx_mutex_lock_ms(pthread_mutex_t *mutex, int64_t ms)
{
    struct timespec until = cbx_timespec_of(cbx_clock_ms() + (ms > 0 ? ms : 0));
/* gcc 12's thread sanitizer does not support pthread_mutex_clocklock */
#ifdef __SANITIZE_THREAD__
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (ms > 0 ? ms : 0) / 1000 + 1;
    return pthread_mutex_timedlock(mutex, &until) == 0;
#else
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until) == 0;
#endif
}
