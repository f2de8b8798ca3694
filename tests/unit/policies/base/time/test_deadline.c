/* SPDX-License-Identifier: MIT
 * Timed waits end when their time is over, by the monotonic clock, and not before. */
#include "policies/base/time/deadline.h"

#include "policies/base/time/clock.h"
#include "tests/unit/unit.h"

static void a_wait_without_a_signal_ends_at_its_deadline(void **state)
{
    (void)state;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;
    cbx_cond_init(&cond);
    pthread_mutex_lock(&mutex);
    int64_t end = cbx_clock_ms() + 20;
    while (cbx_cond_wait_until(&cond, &mutex, end)) {
    }
    assert_true(cbx_clock_ms() >= end);
    assert_false(cbx_cond_wait_ms(&cond, &mutex, 0));
    assert_false(cbx_cond_wait_ms(&cond, &mutex, -5));
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&cond);
}

static void *lock_and_unlock(void *context)
{
    pthread_mutex_t *mutex = context;
    bool locked = cbx_mutex_lock_ms(mutex, 10);
    if (locked) {
        pthread_mutex_unlock(mutex);
    }
    return locked ? mutex : NULL;
}

static void a_mutex_that_stays_locked_is_given_up_and_a_free_one_is_locked(void **state)
{
    (void)state;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    void *locked;
    pthread_mutex_lock(&mutex);
    assert_int_equal(pthread_create(&thread, NULL, lock_and_unlock, &mutex), 0);
    pthread_join(thread, &locked);
    assert_null(locked);
    pthread_mutex_unlock(&mutex);
    assert_int_equal(pthread_create(&thread, NULL, lock_and_unlock, &mutex), 0);
    pthread_join(thread, &locked);
    assert_ptr_equal(locked, &mutex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_without_a_signal_ends_at_its_deadline),
        cmocka_unit_test(a_mutex_that_stays_locked_is_given_up_and_a_free_one_is_locked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
