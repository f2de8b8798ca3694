/* SPDX-License-Identifier: MIT
 * Turns of programs: first come, first served within a principal, round robin between
 * principals. */
#include "gateway/executor/run/turns.h"

#include "policies/base/time/deadline.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <pthread.h>

enum { PROGRAMS_MAX = 64, DEADLINE_MS = 10000 };

/* Events, in the order in which programs had their turn. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;

struct program {
    struct cbx_turns *turns;
    struct cbx_turn_wait wait;
    pthread_t thread;
    int ahead; /* the last reported position */
    bool gives_up, waits, began;
    int result;
    struct cbx_err err;
};

static struct program programs[PROGRAMS_MAX];
static const char *order[PROGRAMS_MAX]; /* the runs that had their turn */
static int begun;

static int set_up(void **state)
{
    (void)state;
    cbx_cond_init(&changed);
    memset(programs, 0, sizeof(programs));
    begun = 0;
    return 0;
}

static struct cbx_turns *make_turns(int running, int waiting, int own)
{
    const struct cbx_turns_config config = {
        .what = "programs", .running = running, .waiting = waiting, .own_waiting = own
    };
    return cbx_turns_new(&config);
}

static bool gives_up(void *context, int ahead)
{
    struct program *p = context;
    pthread_mutex_lock(&lock);
    p->ahead = ahead;
    p->waits = true;
    bool up = p->gives_up;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return up;
}

static void *take(void *context)
{
    struct program *p = context;
    int result = cbx_turns_take(p->turns, &p->wait, &p->err);
    pthread_mutex_lock(&lock);
    p->result = result;
    p->began = true;
    if (result == 0) {
        order[begun++] = p->wait.run;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void await(const bool *what)
{
    pthread_mutex_lock(&lock);
    while (!*what) {
        assert_true(cbx_cond_wait_ms(&changed, &lock, DEADLINE_MS));
    }
    pthread_mutex_unlock(&lock);
}

/* Starts a program that has to wait, and returns when it does. */
static struct program *start(struct cbx_turns *turns, int i, const char *principal, const char *run)
{
    struct program *p = &programs[i];
    *p = (struct program){
        .turns = turns,
        .wait = { .principal = principal, .run = run, .gives_up = gives_up, .context = p }
    };
    assert_int_equal(pthread_create(&p->thread, NULL, take, p), 0);
    await(&p->waits);
    return p;
}

/* Takes a free turn, in this thread. */
static void run_at_once(struct cbx_turns *turns, const char *principal)
{
    struct program p = { .gives_up = true };
    p.wait = (struct cbx_turn_wait){ principal, "", gives_up, &p };
    assert_int_equal(cbx_turns_take(turns, &p.wait, &p.err), 0);
}

/* Ends the turns one after the other; each that ends gives the next. */
static void run_all(struct cbx_turns *turns, const char *first, const int *sequence, int count)
{
    cbx_turns_end(turns, first);
    for (int i = 0; i < count; i++) {
        struct program *p = &programs[sequence[i]];
        await(&p->began);
        assert_int_equal(p->result, 0);
        cbx_turns_end(turns, p->wait.principal);
        pthread_join(p->thread, NULL);
    }
}

static void of_one_principal_the_first_is_the_first(void **state)
{
    (void)state;
    struct cbx_turns *turns = make_turns(1, 16, 16);
    run_at_once(turns, "ann");
    for (int i = 0; i < 3; i++) {
        static const char *const runs[] = { "a1", "a2", "a3" };
        assert_int_equal(start(turns, i, "ann", runs[i])->ahead, i);
    }
    run_all(turns, "ann", (const int[]){ 0, 1, 2 }, 3);
    assert_string_equal(order[0], "a1");
    assert_string_equal(order[2], "a3");
    struct cbx_turns_stats stats;
    cbx_turns_stats(turns, &stats);
    assert_int_equal(stats.running + stats.waiting + stats.principals, 0);
    cbx_turns_free(turns);
}

static void between_principals_the_turns_go_round(void **state)
{
    (void)state;
    struct cbx_turns *turns = make_turns(1, 64, 64);
    static const char *const runs[] = { "a0", "a1", "a2", "a3", "a4", "b5", "b6", "c7" };
    run_at_once(turns, "ann");
    for (int i = 0; i < 8; i++) {
        start(turns, i, runs[i][0] == 'a' ? "ann" : runs[i][0] == 'b' ? "bob" : "cid", runs[i]);
    }
    struct cbx_turns_stats stats;
    cbx_turns_stats(turns, &stats);
    assert_int_equal(stats.waiting, 8);
    assert_int_equal(stats.principals, 3);
    assert_int_equal(programs[4].ahead, 4);
    assert_true(programs[5].ahead <= 1); /* one of ann's at the most */
    assert_true(programs[7].ahead <= 2);
    cbx_turns_end(turns, "ann");
    for (int i = 0; i < 8; i++) { /* the owner of the turn ends it */
        const char *run;
        pthread_mutex_lock(&lock);
        while (begun == i) {
            assert_true(cbx_cond_wait_ms(&changed, &lock, DEADLINE_MS));
        }
        run = order[i];
        pthread_mutex_unlock(&lock);
        cbx_turns_end(turns, run[0] == 'a' ? "ann" : run[0] == 'b' ? "bob" : "cid");
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(programs[i].thread, NULL);
    }
    /* each of the others has one of the first three turns, and bob's second one of the first six */
    int places[128] = { 0 };
    for (int i = 0; i < 8; i++) {
        places[(unsigned char)order[i][1]] = i;
    }
    assert_true(places['5'] <= 2 && places['7'] <= 2 && places['6'] <= 5);
    for (int i = 0; i < 4; i++) { /* and each principal's own are in order */
        assert_true(places['0' + i] < places['0' + i + 1]);
    }
    assert_true(places['5'] < places['6']);
    cbx_turns_free(turns);
}

static void one_that_gives_up_leaves_its_place_to_the_next(void **state)
{
    (void)state;
    struct cbx_turns *turns = make_turns(1, 16, 16);
    run_at_once(turns, "ann");
    struct program *first = start(turns, 0, "ann", "a1"), *last = start(turns, 1, "ann", "a2");
    pthread_mutex_lock(&lock);
    first->gives_up = true;
    pthread_mutex_unlock(&lock);
    cbx_turns_wake(turns, "nothing");
    cbx_turns_wake(turns, "a1");
    await(&first->began);
    pthread_join(first->thread, NULL);
    assert_int_equal(first->result, CBX_ECANCELLED);
    start(turns, 2, "ann", "a3");
    assert_int_equal(programs[2].ahead, 1);
    run_all(turns, "ann", (const int[]){ 1, 2 }, 2);
    assert_int_equal(last->result, 0);
    cbx_turns_free(turns);
}

static void so_many_run_at_the_same_time(void **state)
{
    (void)state;
    struct cbx_turns *turns = make_turns(3, 16, 16);
    for (int i = 0; i < 3; i++) {
        run_at_once(turns, i == 0 ? "ann" : "bob");
    }
    struct program *waits = start(turns, 0, "cid", "c1");
    struct cbx_turns_stats stats;
    cbx_turns_stats(turns, &stats);
    assert_int_equal(stats.running, 3);
    assert_int_equal(stats.waiting, 1);
    cbx_turns_end(turns, "bob");
    await(&waits->began);
    pthread_join(waits->thread, NULL);
    cbx_turns_stats(turns, &stats);
    assert_int_equal(stats.running, 3);
    cbx_turns_end(turns, "cid");
    cbx_turns_end(turns, "ann");
    run_at_once(turns, "bob");
    cbx_turns_end(turns, "bob");
    cbx_turns_end(turns, "bob");
    cbx_turns_free(turns);
}

static void too_many_of_one_principal_are_refused_and_others_are_not(void **state)
{
    (void)state;
    struct cbx_turns *turns = make_turns(1, 3, 2);
    struct program refused = { .gives_up = true };
    run_at_once(turns, "ann");
    start(turns, 0, "ann", "a1");
    start(turns, 1, "ann", "a2");
    refused.wait = (struct cbx_turn_wait){ "ann", "a3", gives_up, &refused };
    assert_int_equal(cbx_turns_take(turns, &refused.wait, &refused.err), CBX_EBUSY);
    assert_string_equal(refused.err.text,
                        "2 programs of this principal wait, the most is 2; try again later");
    start(turns, 2, "bob", "b1");
    refused.wait.principal = "cid";
    assert_int_equal(cbx_turns_take(turns, &refused.wait, &refused.err), CBX_EBUSY);
    assert_string_equal(refused.err.text, "3 programs in all wait, the most is 3; try again later");
    assert_false(refused.waits);
    cbx_turns_end(turns, "ann");
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        while (begun == i) {
            assert_true(cbx_cond_wait_ms(&changed, &lock, DEADLINE_MS));
        }
        const char *run = order[i];
        pthread_mutex_unlock(&lock);
        cbx_turns_end(turns, run[0] == 'a' ? "ann" : "bob");
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(programs[i].thread, NULL);
    }
    cbx_turns_free(turns);
}

static void one_principal_leaves_turns_to_the_others(void **state)
{
    (void)state;
    const struct cbx_turns_config config = {
        .what = "installs", .running = 4, .waiting = 8, .own_running = 2, .own_waiting = 4
    };
    struct cbx_turns *turns = cbx_turns_new(&config);
    struct cbx_turns_stats stats;
    run_at_once(turns, "ann");
    run_at_once(turns, "ann");
    struct program *own = start(turns, 0, "ann", "a1"); /* two turns are free, but not for ann */
    cbx_turns_stats(turns, &stats);
    assert_int_equal(stats.running, 2);
    assert_int_equal(stats.waiting, 1);
    run_at_once(turns, "bob"); /* although one waits that came before */
    cbx_turns_end(turns, "bob");
    cbx_turns_stats(turns, &stats);
    assert_int_equal(stats.waiting, 1);
    cbx_turns_end(turns, "ann");
    await(&own->began);
    pthread_join(own->thread, NULL);
    assert_int_equal(own->result, 0);
    cbx_turns_end(turns, "ann");
    cbx_turns_end(turns, "ann");
    cbx_turns_free(turns);
}

static void who_waits_longest_and_how_long_no_turn_was_given_is_known(void **state)
{
    (void)state;
    struct cbx_turns *turns = make_turns(1, 8, 8);
    struct cbx_turns_stats stats;
    cbx_turns_stats(turns, &stats);
    assert_int_equal(stats.oldest_ms, 0);
    assert_int_equal(stats.held_ms, 0);
    run_at_once(turns, "ann");
    start(turns, 0, "bob", "b1");
    do { /* until the clock advances */
        poll(NULL, 0, 1);
        cbx_turns_stats(turns, &stats);
    } while (stats.oldest_ms == 0);
    assert_true(stats.held_ms >= stats.oldest_ms);
    run_all(turns, "ann", (const int[]){ 0 }, 1);
    cbx_turns_stats(turns, &stats);
    assert_int_equal(stats.oldest_ms, 0);
    assert_int_equal(stats.held_ms, 0);
    cbx_turns_free(turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(of_one_principal_the_first_is_the_first, set_up),
        cmocka_unit_test_setup(between_principals_the_turns_go_round, set_up),
        cmocka_unit_test_setup(one_that_gives_up_leaves_its_place_to_the_next, set_up),
        cmocka_unit_test_setup(so_many_run_at_the_same_time, set_up),
        cmocka_unit_test_setup(too_many_of_one_principal_are_refused_and_others_are_not, set_up),
        cmocka_unit_test_setup(one_principal_leaves_turns_to_the_others, set_up),
        cmocka_unit_test_setup(who_waits_longest_and_how_long_no_turn_was_given_is_known, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
