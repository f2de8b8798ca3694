/* SPDX-License-Identifier: MIT
 * The standard input of runs against a scripted engine and supervisor: the sent bytes, their time,
 * and refusals. */
#include "tests/unit/docker/sandbox_rig.h"

#include <pthread.h>

/* A run in a thread of its own, which the test feeds. */
static struct {
    struct cbx_sandbox *sandbox;
    struct cbx_run_options options;
    struct cbx_result result;
    pthread_t thread;
    int rooms; /* calls of has_room */
    bool begun;
} running;

static void stay(struct fake_container *c)
{
    (void)c; /* the run goes on until end_run */
}

static void note_room(void *context)
{
    (void)context;
    pthread_mutex_lock(&fake.lock);
    running.rooms++;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

static void note_start(void *context)
{
    (void)context;
    pthread_mutex_lock(&fake.lock);
    running.begun = true;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

static void *run_it(void *context)
{
    struct cbx_permit p = permit_for("x");
    (void)context;
    p.ledger = *cbx_sandbox_ledger(running.sandbox);
    assert_int_equal(
        cbx_sandbox_run(running.sandbox, &p, CBX_STR("x"), &running.options, &running.result, NULL),
        0);
    return NULL;
}

/* Begins a run with the first bytes of its input; further bytes follow if it streams. */
static void start_run(struct cbx_str input, bool streams)
{
    memset(&running, 0, sizeof(running));
    fake.on_run = stay;
    running.sandbox = open_sandbox();
    running.options = (struct cbx_run_options){ .has_input = true,
                                                .streams = streams,
                                                .input = input,
                                                .has_room = note_room,
                                                .begun = note_start };
    assert_int_equal(pthread_create(&running.thread, NULL, run_it, NULL), 0);
    FAKE_AWAIT(running.begun);
}

static void end_run(void)
{
    pthread_mutex_lock(&fake.lock);
    fake_end_run(&fake.containers[0], CBX_DONE_ENDED, 0);
    pthread_mutex_unlock(&fake.lock);
    pthread_join(running.thread, NULL);
}

static void done_run(void)
{
    cbx_result_done(&running.result);
    cbx_sandbox_free(running.sandbox);
    fake.on_run = NULL;
}

static void say_fed(uint64_t bytes)
{
    pthread_mutex_lock(&fake.lock);
    fake_send(&fake.containers[0], CBX_FRAME_FED, &bytes, sizeof(bytes));
    pthread_mutex_unlock(&fake.lock);
}

static struct cbx_str make_bytes(size_t len)
{
    char *p = malloc(len);
    assert_non_null(p);
    for (size_t i = 0; i < len; i++) {
        p[i] = (char)(i * 7);
    }
    return (struct cbx_str){ .p = p, .len = len };
}

static void an_input_that_is_given_follows_the_run_and_ends(void **state)
{
    (void)state;
    start_run(CBX_STR("a\0b"), false);
    struct fake_container *c = &fake.containers[0];
    FAKE_AWAIT(c->fed_end == 1);
    assert_int_equal(c->run.input, 1);
    assert_int_equal(c->fed.len, 3);
    assert_memory_equal(c->fed.p, "a\0b", 3);
    end_run();
    struct cbx_sha256 hash = cbx_sha256_of(CBX_STR("a\0b"));
    assert_true(running.result.has_input);
    assert_int_equal(running.result.input_bytes, 3);
    assert_true(cbx_sha256_equal(&running.result.input_sha256, &hash));
    done_run();
}

static void a_run_without_an_input_has_none(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = open_sandbox();
    CBX_AUTO_DONE(result) result = { 0 };
    struct cbx_permit p = permit_for("x");
    assert_int_equal(run(sandbox, &p, "x", &result), 0);
    assert_int_equal(fake.containers[0].run.input, 0);
    assert_null(strchr(fake.containers[0].received, CBX_FRAME_FEED));
    assert_null(strchr(fake.containers[0].received, CBX_FRAME_FEED_END));
    assert_false(result.has_input);
}

static void no_more_is_sent_than_the_supervisor_has_room_for(void **state)
{
    (void)state;
    enum { BYTES = CBX_FRAME_FEED_WINDOW + 100000 };
    struct cbx_str bytes = make_bytes(BYTES);
    struct fake_container *c = &fake.containers[0];
    start_run(bytes, false);
    FAKE_AWAIT(c->fed.len == CBX_FRAME_FEED_WINDOW);
    assert_int_equal(cbx_sandbox_input_waiting(running.sandbox), 100000);
    say_fed(60000);
    FAKE_AWAIT(c->fed.len == CBX_FRAME_FEED_WINDOW + 60000 && running.rooms == 1);
    assert_int_equal(c->fed_end, 0);
    say_fed(BYTES); /* more than was sent: of no effect */
    say_fed(100000);
    FAKE_AWAIT(c->fed_end == 1);
    assert_int_equal(c->fed.len, BYTES);
    assert_memory_equal(c->fed.p, bytes.p, BYTES);
    end_run();
    done_run();
    free((char *)(uintptr_t)bytes.p);
}

static void a_run_that_streams_takes_more_until_its_input_ends(void **state)
{
    (void)state;
    size_t waiting = 1;
    struct fake_container *c = &fake.containers[0];
    start_run(CBX_STR("a"), true);
    assert_int_equal(cbx_sandbox_feed(running.sandbox, CBX_STR("bc"), false, &waiting, &err), 0);
    assert_int_equal(waiting, 0);
    assert_int_equal(c->fed_end, 0);
    assert_int_equal(cbx_sandbox_feed(running.sandbox, CBX_STR("d"), true, &waiting, &err), 0);
    FAKE_AWAIT(c->fed_end == 1);
    assert_int_equal(c->fed.len, 4);
    assert_memory_equal(c->fed.p, "abcd", 4);
    assert_int_equal(cbx_sandbox_feed(running.sandbox, CBX_STR("e"), false, &waiting, &err),
                     CBX_ESTATE);
    end_run();
    assert_int_equal(running.result.input_bytes, 4);
    done_run();
}

static void a_run_that_does_not_stream_takes_no_more(void **state)
{
    (void)state;
    size_t waiting;
    start_run(CBX_STR("a"), false);
    assert_int_equal(cbx_sandbox_feed(running.sandbox, CBX_STR("b"), false, &waiting, &err),
                     CBX_ESTATE);
    end_run();
    done_run();
}

static void a_run_that_has_ended_takes_no_more(void **state)
{
    (void)state;
    size_t waiting;
    start_run(CBX_STR("a"), true);
    end_run();
    assert_int_equal(cbx_sandbox_feed(running.sandbox, CBX_STR("b"), false, &waiting, &err),
                     CBX_ESTATE);
    done_run();
}

static void what_a_program_does_not_read_is_refused_beyond_the_bound_with_its_number(void **state)
{
    (void)state;
    size_t waiting = 0;
    struct cbx_str bytes = make_bytes(CBX_INPUT_WAITING_MAX);
    start_run(CBX_STR(""), true);
    assert_int_equal(cbx_sandbox_feed(running.sandbox, bytes, false, &waiting, &err), 0);
    assert_int_equal(waiting, CBX_INPUT_WAITING_MAX - CBX_FRAME_FEED_WINDOW);
    assert_int_equal(cbx_sandbox_feed(running.sandbox, bytes, false, &waiting, &err), CBX_ETOOBIG);
    assert_non_null(strstr(err.text, "allowed are 16777216"));
    end_run();
    assert_int_equal(running.result.input_bytes, CBX_INPUT_WAITING_MAX);
    done_run();
    free((char *)(uintptr_t)bytes.p);
}

static void an_input_whose_rest_is_lost_ends_and_says_so(void **state)
{
    (void)state;
    struct fake_container *c = &fake.containers[0];
    start_run(CBX_STR("part"), true);
    cbx_sandbox_cut_input(running.sandbox);
    FAKE_AWAIT(c->fed_end == 2);
    end_run();
    done_run();
}

static void an_input_that_is_complete_cannot_lose_its_rest(void **state)
{
    (void)state;
    struct fake_container *c = &fake.containers[0];
    start_run(CBX_STR("whole"), false);
    cbx_sandbox_cut_input(running.sandbox);
    FAKE_AWAIT(c->fed_end == 1);
    end_run();
    done_run();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_input_that_is_given_follows_the_run_and_ends),
        TEST(a_run_without_an_input_has_none),
        TEST(no_more_is_sent_than_the_supervisor_has_room_for),
        TEST(a_run_that_streams_takes_more_until_its_input_ends),
        TEST(a_run_that_does_not_stream_takes_no_more),
        TEST(a_run_that_has_ended_takes_no_more),
        TEST(what_a_program_does_not_read_is_refused_beyond_the_bound_with_its_number),
        TEST(an_input_whose_rest_is_lost_ends_and_says_so),
        TEST(an_input_that_is_complete_cannot_lose_its_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
