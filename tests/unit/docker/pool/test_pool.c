/* SPDX-License-Identifier: MIT
 * The pool against a scripted engine: the sandbox that each call gets, prewarming, waiting, and the
 * removal of every created sandbox. */
#include "docker/engine/engine_ops.h"
#include "tests/unit/docker/pool_rig.h"

/* --- taking ----------------------------------------------------------------------------------- */

static void makes_one_when_none_is_ready(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ 0 });
    assert_int_equal(take("s1", &sandbox, NULL), 0);
    assert_string_equal(cbx_sandbox_session(sandbox), "s1");
    assert_int_equal(stats().in_use, 1);
    assert_int_equal(stats().taken, 1);
    assert_int_equal(stats().taken_ready, 0);
    assert_int_equal(stats().made, 1);
    assert_int_equal(stats().ready, 0);
    cbx_pool_discard(pool, sandbox);
    assert_int_equal(stats().in_use, 0);
}

static void prewarms_profiles_and_replaces_a_taken_sandbox(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 2 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 2);
    assert_int_equal(fake.count, 2);
    assert_int_equal(take("s1", &sandbox, NULL), 0);
    assert_int_equal(stats().taken_ready, 1);
    assert_in_range(index_of(sandbox), 0, 1);
    AWAIT_STATS(ready, 2);
    assert_int_equal(fake.count, 3);
    cbx_pool_discard(pool, sandbox);
}

static void a_ready_sandbox_whose_connection_broke_is_not_given(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 1 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 1);
    pthread_mutex_lock(&fake.lock);
    shutdown(fake.containers[0].fd, SHUT_RDWR);
    pthread_mutex_unlock(&fake.lock);
    FAKE_AWAIT(fake.containers[0].fd == -1);
    assert_int_equal(take("s1", &sandbox, NULL), 0);
    assert_int_not_equal(index_of(sandbox), 0);
    assert_int_equal(stats().unhealthy, 1);
    FAKE_AWAIT(fake.containers[0].removed);
    cbx_pool_discard(pool, sandbox);
}

static void ready_sandboxes_are_not_given_when_one_fell_silent_before_they_answer(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 2 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 2);
    cbx_pool_suspect(pool);
    assert_int_equal(take("s1", &sandbox, NULL), 0);
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_PING) != NULL);
    FAKE_AWAIT(strchr(fake.containers[1].received, CBX_FRAME_PING) != NULL);
    cbx_pool_discard(pool, sandbox);
    AWAIT_STATS(ready, 2);
    pthread_mutex_lock(&fake.lock);
    fake.mute = true;
    pthread_mutex_unlock(&fake.lock);
    int before = fake.count;
    cbx_pool_suspect(pool);
    assert_int_equal(take("s2", &sandbox, NULL), 0);
    assert_true(index_of(sandbox) >= before);
    cbx_pool_discard(pool, sandbox);
}

/* In the order of the work a removal comes after the take and before prewarming: after the removal,
 * a replacement would have been begun. */
static void a_taken_sandbox_is_replaced_later_and_the_last_one_at_once(void **state)
{
    (void)state;
    struct cbx_sandbox *first = NULL, *second = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 2, .creates = 1, .refill_ms = 3600 * 1000 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 2);
    assert_int_equal(take("s1", &first, NULL), 0);
    int index = index_of(first);
    cbx_pool_discard(pool, first);
    FAKE_AWAIT(fake.containers[index].removed);
    assert_int_equal(stats().making, 0);
    assert_int_equal(fake.count, 2);
    assert_int_equal(take("s2", &second, NULL), 0);
    AWAIT_STATS(ready, 1);
    assert_int_equal(fake.count, 3);
    cbx_pool_discard(pool, second);
}

static void a_profile_that_was_used_is_prewarmed_too(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 1 });
    assert_int_equal(take("s1", &sandbox, NULL), 0);
    AWAIT_STATS(ready, 1);
    cbx_pool_discard(pool, sandbox);
}

static void gives_only_sandboxes_of_the_permits_limits(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 1 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 1);
    struct cbx_permit p = permit_for("s1");
    int64_t *const fixed[] = { &p.limits.memory_bytes, &p.limits.cpu_milli, &p.limits.pids,
                               &p.limits.disk_bytes };
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        p.limits = limits;
        ++*fixed[i];
        assert_int_equal(cbx_pool_take(pool, &p, NULL, NULL, &sandbox, NULL), 0);
        assert_int_not_equal(index_of(sandbox), 0);
        cbx_pool_discard(pool, sandbox);
    }
    assert_int_equal(stats().taken_ready, 0);
    assert_int_equal(take("s2", &sandbox, NULL), 0);
    assert_int_equal(index_of(sandbox), 0);
    cbx_pool_discard(pool, sandbox);
}

static void no_sandbox_is_given_twice(void **state)
{
    (void)state;
    struct cbx_sandbox *all[4];
    make_pool(&(struct cbx_pool_config){ .min = 2 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 2);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(take("s", &all[i], NULL), 0);
        for (int k = 0; k < i; k++) {
            assert_ptr_not_equal(all[i], all[k]);
        }
    }
    for (int i = 0; i < 4; i++) {
        cbx_pool_discard(pool, all[i]);
    }
}

static void refuses_permits_that_allow_no_sandbox(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ 0 });
    struct cbx_permit p = permit_for("s");
    p.action = CBX_ACTION_CHECK;
    assert_int_equal(cbx_pool_take(pool, &p, NULL, NULL, &sandbox, NULL), CBX_ESEAL);
    assert_int_equal(fake.count, 0);
}

static void takes_a_warm_one_first(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 3, .creates = 1 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 3);
    /* All kernels get WARM; then only the second one replies READY. */
    for (int i = 0; i < 3; i++) {
        FAKE_AWAIT(strchr(fake.containers[i].received, CBX_FRAME_WARM) != NULL);
    }
    pthread_mutex_lock(&fake.lock);
    fake_send(&fake.containers[1], CBX_FRAME_READY, NULL, 0);
    pthread_mutex_unlock(&fake.lock);
    AWAIT_STATS(warm, 1);
    assert_int_equal(take("s", &sandbox, NULL), 0);
    assert_int_equal(index_of(sandbox), 1);
    cbx_pool_discard(pool, sandbox);
}

/* --- none is ready ---------------------------------------------------------------------------- */

static void the_policy_fail_fails_at_once(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    fake.create_status = 500;
    make_pool(&(struct cbx_pool_config){ .min = 1, .when_empty = CBX_POOL_FAIL });
    assert_int_equal(take("s", &sandbox, NULL), CBX_EBUSY);
}

static void waits_until_one_of_the_maximum_is_free(void **state)
{
    (void)state;
    struct cbx_sandbox *first = NULL;
    struct taker second = { .session = "s2" };
    make_pool(&(struct cbx_pool_config){ .max = 1, .when_empty = CBX_POOL_WAIT });
    assert_int_equal(take("s1", &first, NULL), 0);
    start_taking(&second);
    AWAIT_STATS(waiting, 1);
    assert_int_equal(stats().making, 0);
    assert_int_equal(fake.count, 1);
    cbx_pool_discard(pool, first);
    pthread_join(second.thread, NULL);
    assert_int_equal(second.failed, 0);
    assert_int_equal(stats().in_use, 1);
    cbx_pool_discard(pool, second.sandbox);
}

static void waits_no_longer_than_configured(void **state)
{
    (void)state;
    struct cbx_sandbox *first = NULL, *second = NULL;
    struct cbx_err err;
    make_pool(&(struct cbx_pool_config){ .max = 1, .wait_ms = 1, .when_empty = CBX_POOL_WAIT });
    assert_int_equal(take("s1", &first, NULL), 0);
    assert_int_equal(take("s2", &second, &err), CBX_EBUSY);
    assert_int_equal(stats().waiting, 0);
    cbx_pool_discard(pool, first);
}

static void the_policy_grow_goes_beyond_the_maximum(void **state)
{
    (void)state;
    struct cbx_sandbox *first = NULL, *second = NULL;
    make_pool(&(struct cbx_pool_config){ .max = 1, .when_empty = CBX_POOL_GROW });
    assert_int_equal(take("s1", &first, NULL), 0);
    assert_int_equal(take("s2", &second, NULL), 0);
    assert_int_equal(stats().in_use, 2);
    cbx_pool_discard(pool, first);
    cbx_pool_discard(pool, second);
}

static void prewarms_nothing_beyond_the_maximum(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 3, .max = 2 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 2);
    assert_int_equal(take("s1", &sandbox, NULL), 0);
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_WARM) != NULL ||
               strchr(fake.containers[1].received, CBX_FRAME_WARM) != NULL);
    assert_int_equal(fake.count, 2);
    cbx_pool_discard(pool, sandbox);
    AWAIT_STATS(ready, 2);
}

static bool is_unwanted(void *context)
{
    return *(const bool *)context;
}

static void a_waiter_that_is_cancelled_leaves_the_queue(void **state)
{
    (void)state;
    struct cbx_sandbox *first = NULL;
    bool cancelled = true;
    struct cbx_sink sink = { .cancelled = is_unwanted, .context = &cancelled };
    struct taker second = { .session = "s2", .sink = &sink };
    make_pool(&(struct cbx_pool_config){ .max = 1, .when_empty = CBX_POOL_WAIT });
    assert_int_equal(take("s1", &first, NULL), 0);
    start_taking(&second);
    pthread_join(second.thread, NULL);
    assert_int_equal(second.failed, CBX_ESTATE);
    assert_int_equal(stats().waiting, 0);
    cbx_pool_discard(pool, first);
}

static void waiters_are_served_in_their_order(void **state)
{
    (void)state;
    struct cbx_sandbox *first = NULL;
    struct taker takers[3] = { { .session = "a" }, { .session = "b" }, { .session = "c" } };
    make_pool(&(struct cbx_pool_config){ .max = 1, .when_empty = CBX_POOL_WAIT });
    assert_int_equal(take("s1", &first, NULL), 0);
    for (int i = 0; i < 3; i++) {
        start_taking(&takers[i]);
        AWAIT_STATS(waiting, i + 1);
    }
    for (int i = 0; i < 3; i++) {
        cbx_pool_discard(pool, i == 0 ? first : takers[i - 1].sandbox);
        pthread_join(takers[i].thread, NULL);
        assert_int_equal(takers[i].failed, 0);
        assert_int_equal(stats().waiting, 2 - i);
    }
    cbx_pool_discard(pool, takers[2].sandbox);
}

static void a_failure_of_the_engine_fails_the_waiting_call(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err = { 0 };
    fake.image_missing = true;
    make_pool(&(struct cbx_pool_config){ .min = 1 });
    assert_int_equal(take("s", &sandbox, &err), CBX_EENGINE);
    assert_non_null(strstr(err.text, "codebox image build"));
    assert_true(stats().failed > 0);
    assert_int_equal(stats().in_use, 0);
    fake.image_missing = false;
    assert_int_equal(take("s", &sandbox, &err), 0);
    cbx_pool_discard(pool, sandbox);
}

/* --- discarded, kept, stopped ----------------------------------------------------------------- */

static void a_discarded_sandbox_ends_at_once_and_is_removed(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ 0 });
    assert_int_equal(take("s", &sandbox, NULL), 0);
    cbx_pool_discard(pool, sandbox);
    FAKE_AWAIT(fake.containers[0].fd < 0);
    assert_int_equal(fake.containers[0].lease_ms, 0);
    assert_true(cbx_pool_has(pool, fake.containers[0].id));
    FAKE_AWAIT(fake.containers[0].removed);
    for (int i = 0; cbx_pool_has(pool, fake.containers[0].id); i++) {
        assert_true(i < FAKE_WAIT_MS);
        usleep(1000);
    }
    cbx_pool_discard(pool, NULL);
}

static void a_removal_in_progress_is_tried_again(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ 0 });
    assert_int_equal(take("s", &sandbox, NULL), 0);
    fake.keeps_removed = true;
    cbx_pool_discard(pool, sandbox);
    FAKE_AWAIT(strstr(fake.calls, "remove") != NULL);
    assert_true(cbx_pool_has(pool, fake.containers[0].id));
    fake.keeps_removed = false;
    FAKE_AWAIT(fake.containers[0].removed);
}

static void renews_the_leases_of_ready_sandboxes(void **state)
{
    (void)state;
    make_pool(&(struct cbx_pool_config){ .min = 2 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 2);
    cbx_pool_renew_leases(pool);
    FAKE_AWAIT(fake.containers[0].leases == 1 && fake.containers[1].leases == 1);
    assert_int_equal(fake.containers[0].lease_ms, CBX_SANDBOX_LEASE_MS);
}

static void has_ready_sandboxes_and_not_taken_ones(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .min = 1, .max = 1 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 1);
    assert_true(cbx_pool_has(pool, fake.containers[0].id));
    assert_false(cbx_pool_has(pool, "0"));
    assert_int_equal(take("s", &sandbox, NULL), 0);
    assert_false(cbx_pool_has(pool, fake.containers[0].id));
    cbx_pool_discard(pool, sandbox);
}

static void an_adopted_sandbox_counts_against_max(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    make_pool(&(struct cbx_pool_config){ .max = 1, .wait_ms = 1, .when_empty = CBX_POOL_WAIT });
    cbx_pool_count(pool);
    assert_int_equal(take("s", &sandbox, NULL), CBX_EBUSY);
    assert_int_equal(fake.count, 0);
}

static void stopping_fails_waiting_calls_and_ends_ready_sandboxes(void **state)
{
    (void)state;
    struct cbx_sandbox *first = NULL;
    struct taker second = { .session = "s2" };
    make_pool(&(struct cbx_pool_config){ .min = 1, .max = 2, .when_empty = CBX_POOL_WAIT });
    assert_int_equal(take("s1", &first, NULL), 0);
    AWAIT_STATS(ready, 1);
    struct cbx_sandbox *third = NULL;
    assert_int_equal(take("s3", &third, NULL), 0);
    start_taking(&second);
    AWAIT_STATS(waiting, 1);
    cbx_pool_discard(pool, third);
    pthread_join(second.thread, NULL);
    assert_int_equal(second.failed, 0);
    struct taker fourth = { .session = "s4" };
    start_taking(&fourth);
    AWAIT_STATS(waiting, 1);
    cbx_pool_stop(pool);
    pthread_join(fourth.thread, NULL);
    assert_int_equal(fourth.failed, CBX_ESTATE);
    assert_int_equal(take("s5", &third, NULL), CBX_ESTATE);
    assert_false(fake.containers[index_of(first)].removed);
    cbx_sandbox_free(first);
    cbx_sandbox_free(second.sandbox);
}

static void stopping_ends_every_sandbox_that_is_ready(void **state)
{
    (void)state;
    make_pool(&(struct cbx_pool_config){ .min = 3 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 3);
    cbx_pool_stop(pool);
    for (int i = 0; i < 3; i++) {
        FAKE_AWAIT(!fake.containers[i].running);
        assert_int_equal(fake.containers[i].lease_ms, 0);
    }
    assert_int_equal(stats().ready, 0);
}

/* On a cluster nothing removes a Pod that has ended. */
static void stopping_removes_what_its_engine_keeps(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    engine->abilities.keeps_ended = true;
    make_pool(&(struct cbx_pool_config){ .min = 2 });
    cbx_pool_prewarm(pool, "python", &limits);
    AWAIT_STATS(ready, 2);
    assert_int_equal(take("s1", &sandbox, NULL), 0);
    cbx_pool_discard(pool, sandbox);
    cbx_pool_stop(pool);
    for (int i = 0; i < fake.count; i++) {
        assert_true(fake.containers[i].removed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(makes_one_when_none_is_ready),
        TEST(prewarms_profiles_and_replaces_a_taken_sandbox),
        TEST(a_ready_sandbox_whose_connection_broke_is_not_given),
        TEST(ready_sandboxes_are_not_given_when_one_fell_silent_before_they_answer),
        TEST(a_taken_sandbox_is_replaced_later_and_the_last_one_at_once),
        TEST(a_profile_that_was_used_is_prewarmed_too),
        TEST(gives_only_sandboxes_of_the_permits_limits),
        TEST(no_sandbox_is_given_twice),
        TEST(refuses_permits_that_allow_no_sandbox),
        TEST(takes_a_warm_one_first),
        TEST(the_policy_fail_fails_at_once),
        TEST(waits_until_one_of_the_maximum_is_free),
        TEST(waits_no_longer_than_configured),
        TEST(the_policy_grow_goes_beyond_the_maximum),
        TEST(prewarms_nothing_beyond_the_maximum),
        TEST(a_waiter_that_is_cancelled_leaves_the_queue),
        TEST(waiters_are_served_in_their_order),
        TEST(a_failure_of_the_engine_fails_the_waiting_call),
        TEST(a_discarded_sandbox_ends_at_once_and_is_removed),
        TEST(a_removal_in_progress_is_tried_again),
        TEST(renews_the_leases_of_ready_sandboxes),
        TEST(has_ready_sandboxes_and_not_taken_ones),
        TEST(an_adopted_sandbox_counts_against_max),
        TEST(stopping_fails_waiting_calls_and_ends_ready_sandboxes),
        TEST(stopping_ends_every_sandbox_that_is_ready),
        TEST(stopping_removes_what_its_engine_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
