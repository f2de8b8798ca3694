/* SPDX-License-Identifier: MIT */
#include "gateway/ipc/threads.h"

#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int arrived, done;
    bool open;
};

static void wait_at_gate(void *context)
{
    struct gate *gate = context;
    pthread_mutex_lock(&gate->lock);
    gate->arrived++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open) {
        pthread_cond_wait(&gate->changed, &gate->lock);
    }
    gate->done++;
    pthread_mutex_unlock(&gate->lock);
}

static void await_arrivals(struct gate *gate, int count)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->arrived < count) {
        pthread_cond_wait(&gate->changed, &gate->lock);
    }
    pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

#define GATE                                                                                       \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false                           \
    }

static void a_thread_that_waits_delays_no_other(void **state)
{
    (void)state;
    struct gate gate = GATE;
    struct cbx_threads *threads = cbx_threads_new(3);
    for (int i = 0; i < 3; i++) {
        assert_true(cbx_threads_run(threads, wait_at_gate, &gate));
    }
    await_arrivals(&gate, 3); /* all at the same time */
    open_gate(&gate);
    cbx_threads_free(threads);
    assert_int_equal(gate.done, 3);
}

static void one_more_than_allowed_is_refused_and_not_called(void **state)
{
    (void)state;
    struct gate gate = GATE, refused = GATE;
    struct cbx_threads *threads = cbx_threads_new(2);
    assert_true(cbx_threads_run(threads, wait_at_gate, &gate));
    assert_true(cbx_threads_run(threads, wait_at_gate, &gate));
    assert_false(cbx_threads_run(threads, wait_at_gate, &refused));
    open_gate(&gate);
    cbx_threads_free(threads);
    assert_int_equal(refused.arrived, 0);
}

struct step {
    struct cbx_work work;
    char name, *order;
};

static void note_step(void *context)
{
    struct step *step = context;
    step->order[strlen(step->order)] = step->name;
}

static void queued_work_waits_for_a_thread_and_keeps_its_order(void **state)
{
    (void)state;
    struct gate gate = GATE;
    char order[8] = "";
    struct step steps[3] = { { .name = 'a' }, { .name = 'b' }, { .name = 'c' } };
    struct cbx_threads *threads = cbx_threads_new(1);
    assert_true(cbx_threads_run(threads, wait_at_gate, &gate));
    await_arrivals(&gate, 1);
    for (int i = 0; i < 3; i++) {
        steps[i].order = order;
        steps[i].work = (struct cbx_work){ .run = note_step, .context = &steps[i] };
        cbx_threads_queue(threads, &steps[i].work);
    }
    assert_string_equal(order, "");
    open_gate(&gate);
    cbx_threads_free(threads); /* runs the queued work before it ends */
    assert_string_equal(order, "abc");
}

static void count(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

/* Few threads, many jobs: each job is done once, by a new thread or by a waiting one. */
static void all_that_was_taken_is_done_once(void **state)
{
    (void)state;
    enum { PIECES = 20000 };
    atomic_int done = 0;
    int taken = 0;
    struct cbx_threads *threads = cbx_threads_new(4);
    for (int i = 0; i < PIECES; i++) {
        taken += cbx_threads_run(threads, count, &done);
    }
    cbx_threads_free(threads);
    assert_true(taken >= 4);
    assert_int_equal(done, taken);
}

static void nothing_is_waited_for_when_nothing_began(void **state)
{
    (void)state;
    cbx_threads_free(cbx_threads_new(4));
    cbx_threads_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_waits_delays_no_other),
        cmocka_unit_test(one_more_than_allowed_is_refused_and_not_called),
        cmocka_unit_test(queued_work_waits_for_a_thread_and_keeps_its_order),
        cmocka_unit_test(all_that_was_taken_is_done_once),
        cmocka_unit_test(nothing_is_waited_for_when_nothing_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
