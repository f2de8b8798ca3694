/* SPDX-License-Identifier: MIT
 * Connections that break while the sandbox goes on, against a scripted engine and supervisor. */
#include "docker/engine/silence.h"
#include "policies/base/time/clock.h"
#include "tests/unit/docker/sandbox_rig.h"

/* What the supervisor adds to the log of the run while no host is attached. */
static struct cbx_buf later;

static void break_connection(struct fake_container *c)
{
    fake_say(c, CBX_FRAME_STDOUT, "one\n", 4);
    fake_say(c, CBX_FRAME_STDERR, "two\n", 4);
    shutdown(c->fd, SHUT_RDWR);
    cbx_buf_reset(&c->log);
    fake_frame(&c->log, CBX_FRAME_STDOUT, "one\n", 4);
    cbx_buf_add(&c->log, cbx_buf_str(&later));
}

static void add_done(void)
{
    struct cbx_frame_done done = { .status = CBX_DONE_ENDED, .duration_ms = 7 };
    fake_frame(&later, CBX_FRAME_DONE, &done, sizeof(done));
}

static int begin(void **state)
{
    cbx_buf_init(&later, 65536);
    return begin_test(state);
}

static int end(void **state)
{
    cbx_buf_done(&later);
    return end_test(state);
}

/* Ends the connection between two runs. */
static void cut(struct cbx_sandbox *sandbox)
{
    pthread_mutex_lock(&fake.lock);
    shutdown(fake.containers[0].fd, SHUT_RDWR);
    pthread_mutex_unlock(&fake.lock);
    FAKE_AWAIT(fake.containers[0].fd == -1);
    assert_false(cbx_sandbox_poll(sandbox));
}

static void run_well(struct cbx_sandbox *sandbox)
{
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(result.status, CBX_RUN_OK);
    cbx_sandbox_acknowledge(sandbox, "d1");
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_ACK) != NULL);
}

/* --- in a run --------------------------------------------------------------------------------- */

static void a_run_goes_on_without_an_event_that_is_lost_or_repeated(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake_frame(&later, CBX_FRAME_STDERR, "two\n", 4);
    fake_frame(&later, CBX_FRAME_STDOUT, "three\n", 6);
    add_done();
    fake.on_run = break_connection;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(result.status, CBX_RUN_OK);
    assert_false(result.session_lost);
    assert_string_equal(seen.text, "1:one\n;2:two\n;1:three\n;");
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_RUN), 1);
    assert_int_equal(fake.count, 1);
    assert_true(cbx_sandbox_poll(sandbox));
}

static void output_that_was_added_to_the_last_frame_is_not_lost(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake_frame(&later, CBX_FRAME_STDERR, "two\nthree\n", 10);
    add_done();
    fake.on_run = break_connection;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_string_equal(seen.text, "1:one\n;2:two\n;2:three\n;");
}

static void vanish(struct fake_container *c)
{
    break_connection(c);
    c->run_id[0] = '\0';
}

static void a_run_that_did_not_reach_the_sandbox_is_lost(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake.on_run = vanish;
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    assert_int_equal(result.status, CBX_RUN_LOST);
    assert_true(result.session_lost);
    assert_nothing_left();
}

static void *end_sandbox(void *context)
{
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_RUN) != NULL);
    cbx_sandbox_end(context);
    return NULL;
}

static void hold(struct fake_container *c)
{
    (void)c; /* the program computes and prints nothing */
}

static void a_sandbox_that_this_host_ends_is_not_attached_to_again(void **state)
{
    (void)state;
    pthread_t thread;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    fake.on_run = hold;
    pthread_create(&thread, NULL, end_sandbox, sandbox);
    assert_int_equal(run(sandbox, &p, "1", &result), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result.status, CBX_RUN_KILLED);
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_ATTACH), 1);
}

static void an_input_that_was_not_complete_ends(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("1");
    struct cbx_run_options options = {
        .sink = &sink, .has_input = true, .streams = true, .input = CBX_STR("line\n")
    };
    fake_frame(&later, CBX_FRAME_STDERR, "two\n", 4);
    add_done();
    fake.on_run = break_connection;
    p.ledger = *cbx_sandbox_ledger(sandbox);
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), &options, &result, &err), 0);
    assert_int_equal(result.input_bytes, 5);
    assert_int_equal(cbx_sandbox_input_waiting(sandbox), 0);
}

/* --- between runs ----------------------------------------------------------------------------- */

static void a_session_keeps_its_sandbox(void **state)
{
    (void)state;
    bool gone;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    run_well(sandbox);
    cut(sandbox);
    assert_true(cbx_sandbox_is_broken(sandbox));
    assert_int_equal(cbx_sandbox_reach(sandbox, true, &gone, &err), 0);
    assert_false(gone);
    assert_false(cbx_sandbox_is_broken(sandbox));
    run_well(sandbox);
    assert_int_equal(fake.count, 1);
}

static void an_engine_that_is_away_loses_no_session(void **state)
{
    (void)state;
    bool gone;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    run_well(sandbox);
    pthread_mutex_lock(&fake.lock);
    fake.away = true;
    pthread_mutex_unlock(&fake.lock);
    cut(sandbox);
    assert_int_equal(cbx_sandbox_reach(sandbox, false, &gone, &err), CBX_EENGINE);
    assert_false(gone);
    pthread_mutex_lock(&fake.lock);
    fake.away = false;
    pthread_mutex_unlock(&fake.lock);
    assert_int_equal(cbx_sandbox_reach(sandbox, false, &gone, &err), 0);
    assert_false(gone);
    run_well(sandbox);
}

static void a_sandbox_that_misses_what_was_sent_is_not_used(void **state)
{
    (void)state;
    bool gone;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    run_well(sandbox);
    cut(sandbox);
    pthread_mutex_lock(&fake.lock);
    fake.containers[0].tag[0] ^= 1;
    pthread_mutex_unlock(&fake.lock);
    assert_int_equal(cbx_sandbox_reach(sandbox, true, &gone, &err), 0);
    assert_true(gone);
    assert_false(cbx_sandbox_is_broken(sandbox));
}

static void a_sandbox_that_has_ended_is_gone(void **state)
{
    (void)state;
    bool gone;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    run_well(sandbox);
    cut(sandbox);
    pthread_mutex_lock(&fake.lock);
    fake.containers[0].running = false;
    pthread_mutex_unlock(&fake.lock);
    assert_int_equal(cbx_sandbox_reach(sandbox, true, &gone, &err), 0);
    assert_true(gone);
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_ATTACH), 1);
}

static void an_unused_sandbox_is_replaced(void **state)
{
    (void)state;
    bool gone;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    cut(sandbox);
    assert_int_equal(cbx_sandbox_reach(sandbox, true, &gone, &err), 0);
    assert_true(gone);
    assert_true(cbx_sandbox_is_untouched(sandbox));
}

static void an_acknowledgement_that_was_lost_is_sent_again(void **state)
{
    (void)state;
    bool gone;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    run_well(sandbox);
    cut(sandbox);
    pthread_mutex_lock(&fake.lock);
    snprintf(fake.containers[0].run_id, sizeof(fake.containers[0].run_id), "d1");
    pthread_mutex_unlock(&fake.lock);
    assert_int_equal(cbx_sandbox_reach(sandbox, true, &gone, &err), 0);
    assert_false(gone);
    FAKE_AWAIT(fake.containers[0].run_id[0] == '\0');
    assert_string_equal(cbx_sandbox_run_id(sandbox), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_goes_on_without_an_event_that_is_lost_or_repeated),
        TEST(output_that_was_added_to_the_last_frame_is_not_lost),
        TEST(a_run_that_did_not_reach_the_sandbox_is_lost),
        TEST(a_sandbox_that_this_host_ends_is_not_attached_to_again),
        TEST(an_input_that_was_not_complete_ends),
        TEST(a_session_keeps_its_sandbox),
        TEST(an_engine_that_is_away_loses_no_session),
        TEST(a_sandbox_that_misses_what_was_sent_is_not_used),
        TEST(a_sandbox_that_has_ended_is_gone),
        TEST(an_unused_sandbox_is_replaced),
        TEST(an_acknowledgement_that_was_lost_is_sent_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
