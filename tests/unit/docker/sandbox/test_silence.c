/* SPDX-License-Identifier: MIT
 * Silent links, against a scripted engine and supervisor: lost runs, runs that continue, and the
 * text of the result. The tests wait for the times of docker/engine/silence.h; a limit of a run or
 * a call that ended one instead would be another result. */
#include "docker/engine/silence.h"
#include "policies/base/time/clock.h"
#include "tests/unit/docker/sandbox_rig.h"

static void set_hung(bool hung)
{
    pthread_mutex_lock(&fake.lock);
    fake.hung = hung;
    pthread_mutex_unlock(&fake.lock);
}

static void hold(struct fake_container *c)
{
    (void)c; /* the program computes and prints nothing */
}

static void fall_silent(struct fake_container *c)
{
    (void)c;
    fake.mute = true;
}

static void fall_silent_with_the_engine(struct fake_container *c)
{
    (void)c;
    fake.mute = fake.hung = true;
}

static void pause_container(struct fake_container *c)
{
    (void)c;
    fake.mute = fake.paused = true;
}

static int silence(struct cbx_sandbox *sandbox, void (*on_run)(struct fake_container *),
                   struct cbx_result *out)
{
    struct cbx_permit p = permit_for("1");
    fake.on_run = on_run;
    int failed = run(sandbox, &p, "1", out);
    fake.on_run = NULL;
    return failed;
}

static void a_run_is_lost_when_its_sandbox_does_not_answer(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    char loss[CBX_RESULT_LOSS_BYTES];
    int64_t before_ms = cbx_time_ms();
    assert_int_equal(silence(sandbox, fall_silent, &result), 0);
    assert_int_equal(result.status, CBX_RUN_LOST);
    assert_int_equal(result.silent, CBX_SILENT_SANDBOX);
    assert_true(result.session_lost);
    assert_in_range(result.lost_since_ms, before_ms - 1000, cbx_time_ms() - CBX_SILENCE_QUIET_MS);
    assert_non_null(strstr(cbx_result_loss(&result, loss), "sandbox silent since 2"));
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_PING), 1);
    assert_false(cbx_sandbox_poll(sandbox));
    assert_nothing_left();
}

static void a_run_is_lost_when_its_engine_does_not_answer(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    char loss[CBX_RESULT_LOSS_BYTES];
    assert_int_equal(silence(sandbox, fall_silent_with_the_engine, &result), 0);
    assert_int_equal(result.status, CBX_RUN_LOST);
    assert_int_equal(result.silent, CBX_SILENT_ENGINE);
    assert_non_null(strstr(cbx_result_loss(&result, loss), "engine unreachable since 2"));
    cbx_sandbox_renew_lease(sandbox); /* should the link come back, the program is not kept alive */
    set_hung(false);
    assert_int_equal(cbx_engine_ping(engine, 5000, &err), 0);
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_LEASE), 0);
    cbx_sandbox_detach(sandbox);
}

static void *finish_later(void *context)
{
    struct fake_container *c = context;
    FAKE_AWAIT(strchr(c->received, CBX_FRAME_PING) != NULL);
    pthread_mutex_lock(&fake.lock);
    fake_end_run(c, CBX_DONE_ENDED, 0);
    pthread_mutex_unlock(&fake.lock);
    return NULL;
}

static void a_program_that_prints_nothing_is_not_lost(void **state)
{
    (void)state;
    pthread_t thread;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    pthread_create(&thread, NULL, finish_later, &fake.containers[0]);
    assert_int_equal(silence(sandbox, hold, &result), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result.status, CBX_RUN_OK);
}

static void *unpause_after_the_engine_was_asked(void *context)
{
    struct fake_container *c = context;
    FAKE_AWAIT(strstr(fake.calls, "inspect inspect") != NULL);
    pthread_mutex_lock(&fake.lock);
    fake.mute = fake.paused = false;
    fake_end_run(c, CBX_DONE_ENDED, 0);
    pthread_mutex_unlock(&fake.lock);
    return NULL;
}

static void a_paused_sandbox_is_not_lost(void **state)
{
    (void)state;
    pthread_t thread;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    pthread_create(&thread, NULL, unpause_after_the_engine_was_asked, &fake.containers[0]);
    assert_int_equal(silence(sandbox, pause_container, &result), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result.status, CBX_RUN_OK);
    assert_true(cbx_sandbox_poll(sandbox));
}

static void throttle(struct fake_container *c)
{
    (void)c;
    fake.mute = fake.throttled = true;
}

static void *answer_after_two_samples(void *context)
{
    struct fake_container *c = context;
    FAKE_AWAIT(fake.periods > 2);
    pthread_mutex_lock(&fake.lock);
    fake_end_run(c, CBX_DONE_ENDED, 0);
    pthread_mutex_unlock(&fake.lock);
    return NULL;
}

static void a_sandbox_that_has_used_up_its_processor_time_is_not_lost(void **state)
{
    (void)state;
    pthread_t thread;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    pthread_create(&thread, NULL, answer_after_two_samples, &fake.containers[0]);
    assert_int_equal(silence(sandbox, throttle, &result), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result.status, CBX_RUN_OK);
}

static void a_request_for_files_ends_when_the_sandbox_does_not_answer(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 100);
    fake.mute = fake.no_answer = true;
    assert_int_equal(cbx_sandbox_get(sandbox, CBX_STR("a"), &bytes, &err), CBX_EIO);
    assert_string_equal(err.text, "the sandbox does not answer any more, its engine does");
    assert_false(cbx_sandbox_poll(sandbox));
}

static void a_call_ends_when_its_engine_takes_connections_and_answers_nothing(void **state)
{
    (void)state;
    struct cbx_container_state container;
    struct cbx_sandbox *sandbox = open_sandbox();
    char words[160];
    snprintf(words, sizeof(words), "the engine at %s does not answer", fake.host);
    set_hung(true);
    assert_int_equal(
        cbx_engine_container_state(engine, cbx_sandbox_id(sandbox), 0, &container, &err),
        CBX_EENGINE);
    assert_safe(words);
    set_hung(false);
    cbx_sandbox_free(sandbox);
}

static void a_sandbox_is_not_opened_when_its_engine_falls_silent_meanwhile(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = open_sandbox();
    struct cbx_attach *attach = NULL;
    set_hung(true);
    assert_int_equal(cbx_engine_container_attach(engine, cbx_sandbox_id(sandbox), &attach, &err),
                     CBX_EENGINE);
    assert_safe("does not answer");
    set_hung(false);
    cbx_sandbox_free(sandbox);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_is_lost_when_its_sandbox_does_not_answer),
        TEST(a_run_is_lost_when_its_engine_does_not_answer),
        TEST(a_program_that_prints_nothing_is_not_lost),
        TEST(a_paused_sandbox_is_not_lost),
        TEST(a_sandbox_that_has_used_up_its_processor_time_is_not_lost),
        TEST(a_request_for_files_ends_when_the_sandbox_does_not_answer),
        TEST(a_call_ends_when_its_engine_takes_connections_and_answers_nothing),
        TEST(a_sandbox_is_not_opened_when_its_engine_falls_silent_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
