/* SPDX-License-Identifier: MIT
 * How long a sandbox stays ready in the pool. The tests give the ages. */
#include "tests/unit/docker/pool_rig.h"

enum { HOUR_MS = 3600 * 1000, MINUTE_MS = 60 * 1000 };

/* Moves the birth and the last check of the ready sandbox into the past. */
static void age_ready(int64_t age_ms, int64_t unchecked_ms)
{
    pthread_mutex_lock(&pool->lock);
    pool->profiles[0].ready[0].born_ms -= age_ms;
    pool->profiles[0].ready[0].checked_ms -= unchecked_ms;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

/* The test gives the age of the last use. */
static void a_profile_without_use_keeps_none_ready(void **state)
{
    (void)state;
    enum { IDLE_MS = 1000 * 1000 };
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 1, .creates = 1, .idle_ms = IDLE_MS });
    assert_int_equal(take("s1", &sandbox, NULL), 0);
    AWAIT_STATS(ready, 1);
    pthread_mutex_lock(&pool->lock);
    pool->profiles[0].used_ms -= IDLE_MS + 1000;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    AWAIT_STATS(ready, 0);
    FAKE_AWAIT(fake.containers[1].removed);
    cbx_pool_discard(pool, sandbox);
}

static void make_pool_of_one(void)
{
    make_pool(&(struct cbx_pool_config){ .min = 1, .creates = 1 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 1);
}

/* Images change, and a sandbox that runs for long grows. */
static void a_sandbox_that_was_ready_for_an_hour_is_replaced(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool_of_one();
    age_ready(HOUR_MS + 1, 0);
    AWAIT_STATS(made, 2);
    AWAIT_STATS(ready, 1);
    FAKE_AWAIT(fake.containers[0].lease_ms == 0 && !fake.containers[0].running);
    FAKE_AWAIT(fake.containers[0].removed);
    /* no check: it is replaced */
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_PING), 0);
    assert_int_equal(stats().unhealthy, 0);
    assert_int_equal(take("s", &sandbox, NULL), 0);
    assert_int_equal(index_of(sandbox), 1);
    cbx_pool_discard(pool, sandbox);
}

static void a_younger_sandbox_is_checked_and_stays(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool_of_one();
    age_ready(HOUR_MS - MINUTE_MS, MINUTE_MS);
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_PING) != NULL);
    AWAIT_STATS(ready, 1);
    assert_int_equal(stats().made, 1);
    assert_int_equal(take("s", &sandbox, NULL), 0);
    assert_int_equal(index_of(sandbox), 0);
    cbx_pool_discard(pool, sandbox);
}

static void a_silent_sandbox_is_replaced(void **state)
{
    (void)state;
    make_pool_of_one();
    fake.mute = true;
    age_ready(0, MINUTE_MS);
    AWAIT_STATS(unhealthy, 1);
    AWAIT_STATS(made, 2);
    FAKE_AWAIT(fake.containers[0].removed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_profile_without_use_keeps_none_ready),
        TEST(a_sandbox_that_was_ready_for_an_hour_is_replaced),
        TEST(a_younger_sandbox_is_checked_and_stays),
        TEST(a_silent_sandbox_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
