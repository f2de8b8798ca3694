/* SPDX-License-Identifier: MIT
 * Timed waits on CLOCK_MONOTONIC: setting the host's wall clock neither shortens nor extends
 * them. */
#ifndef CBX_POLICIES_BASE_TIME_DEADLINE_H
#define CBX_POLICIES_BASE_TIME_DEADLINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Initialises a condition for the waits below; pthread_cond_destroy ends it. */
void cbx_cond_init(pthread_cond_t *cond);

/* Waits, with the mutex held, until the condition is signalled, or until `ms` milliseconds have
 * passed (<= 0: no wait), or until cbx_clock_ms() is `clock_ms`. False on a timeout. As with
 * pthread_cond_wait, the caller tests its predicate again. */
bool cbx_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t ms);
bool cbx_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t clock_ms);

/* Locks the mutex; false if that took longer than `ms` milliseconds. */
bool cbx_mutex_lock_ms(pthread_mutex_t *mutex, int64_t ms);

#endif
