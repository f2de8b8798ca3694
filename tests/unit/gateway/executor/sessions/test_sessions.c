/* SPDX-License-Identifier: MIT
 * The table of sessions without sandboxes: runs that enter, runs that wait, and the closing of
 * sessions. */
#include "gateway/executor/sessions/sessions.h"
#include "tests/unit/gateway/scratch.h"

#include <pthread.h>
#include <stdatomic.h>

static struct cbx_permit permit_of(const char *session, const char *principal)
{
    struct cbx_permit permit = { .action = CBX_ACTION_RUN };
    snprintf(permit.session, sizeof(permit.session), "%s", session);
    snprintf(permit.principal, sizeof(permit.principal), "%s", principal);
    return permit;
}

static void enqueue(struct cbx_sessions *sessions, const char *session, const char *run,
                    struct cbx_ticket *ticket)
{
    struct cbx_permit permit = permit_of(session, "ann");
    snprintf(permit.decision, sizeof(permit.decision), "%s", run);
    cbx_sessions_enqueue(sessions, session, &permit, ticket);
}

/* Enters as a principal that owns every session here. */
static int close_session(struct cbx_sessions *sessions, const char *id, struct cbx_err *err)
{
    return cbx_sessions_close(sessions, &(struct cbx_session_name){ id, "ann" }, err);
}

static int enter_run(struct cbx_sessions *sessions, struct cbx_ticket *ticket,
                     int64_t ack_timeout_ms, struct cbx_session **out, struct cbx_err *err)
{
    struct cbx_permit permit = permit_of(ticket->session, "ann");
    return cbx_sessions_enter_run(sessions, ticket, &permit, ack_timeout_ms, out, err);
}

static void open_session(struct cbx_sessions *sessions, const char *id)
{
    struct cbx_permit permit = permit_of(id, "ann");
    assert_int_equal(cbx_sessions_reserve(sessions, &permit, NULL), 0);
    cbx_sessions_fill(sessions, id, NULL);
}

static void reserves_each_id_once_and_no_more_than_there_are_places(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(2, NULL, NULL);
    struct cbx_err err;
    struct cbx_permit a = permit_of("a", "ann"), c = permit_of("c", "ann"),
                      none = permit_of("", "ann");
    open_session(sessions, "a");
    assert_int_equal(cbx_sessions_reserve(sessions, &a, &err), CBX_ESTATE);
    /* A run without a session does not count as a session; its slot has the id of its decision. */
    snprintf(none.decision, sizeof(none.decision), "d1");
    assert_int_equal(cbx_sessions_reserve(sessions, &none, &err), 0);
    cbx_sessions_fill(sessions, "d1", NULL);
    open_session(sessions, "b");
    assert_int_equal(cbx_sessions_reserve(sessions, &c, &err), CBX_EBUSY);
    assert_int_equal(cbx_sessions_count(sessions), 2);
    assert_int_equal(close_session(sessions, "a", &err), 0);
    assert_int_equal(close_session(sessions, "a", &err), CBX_ENOTFOUND);
    assert_int_equal(close_session(sessions, "", &err), CBX_ENOTFOUND);
    assert_int_equal(cbx_sessions_reserve(sessions, &c, &err), 0);
    cbx_sessions_fill(sessions, "c", NULL);
    cbx_sessions_free(sessions);
}

static void only_the_principal_that_opened_a_session_enters_it(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(2, NULL, NULL);
    struct cbx_session *entered = NULL;
    struct cbx_err err;
    struct cbx_permit ann = permit_of("a", "ann"), bob = permit_of("a", "bob"),
                      other = permit_of("b", "ann"), none = permit_of("", "");
    open_session(sessions, "a");
    assert_int_equal(cbx_sessions_enter(sessions, bob.session, bob.principal, &entered, &err),
                     CBX_ENOTFOUND);
    assert_int_equal(cbx_sessions_enter(sessions, other.session, other.principal, &entered, &err),
                     CBX_ENOTFOUND);
    assert_int_equal(cbx_sessions_enter(sessions, none.session, none.principal, &entered, &err),
                     CBX_ENOTFOUND);
    assert_null(entered);
    assert_int_equal(cbx_sessions_enter(sessions, ann.session, ann.principal, &entered, &err), 0);
    cbx_sessions_leave(sessions, entered);
    cbx_sessions_free(sessions);
}

struct crowd {
    struct cbx_sessions *sessions;
    atomic_int inside, entered, refused;
    _Atomic int64_t left_ms;
};

static void *enter_often(void *context)
{
    struct crowd *crowd = context;
    struct cbx_permit permit = permit_of("a", "ann");
    for (int i = 0; i < 200; i++) {
        struct cbx_session *session;
        if (cbx_sessions_enter(crowd->sessions, permit.session, permit.principal, &session, NULL) !=
            0) {
            crowd->refused++;
            continue;
        }
        crowd->entered += atomic_fetch_add(&crowd->inside, 1) == 0;
        atomic_fetch_sub(&crowd->inside, 1);
        cbx_sessions_leave(crowd->sessions, session);
    }
    return NULL;
}

static void one_run_enters_at_a_time_and_the_others_wait(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    struct crowd crowd = { .sessions = cbx_sessions_new(1, NULL, NULL) };
    pthread_t threads[THREADS];
    open_session(crowd.sessions, "a");
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, enter_often, &crowd), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(crowd.entered, THREADS * 200);
    assert_int_equal(crowd.refused, 0);
    cbx_sessions_free(crowd.sessions);
}

enum { PATIENCE_MS = 20 };

/* Leaves a result that is not acknowledged. */
static void leave_result(struct crowd *crowd, struct cbx_session *session)
{
    cbx_sessions_begin(crowd->sessions, session, "r", 7);
    crowd->left_ms = cbx_clock_ms();
    cbx_sessions_leave(crowd->sessions, session);
}

static void *enter_impatiently(void *context)
{
    enum { STAY_MS = 5 };
    struct crowd *crowd = context;
    struct cbx_session *session;
    struct cbx_ticket ticket = { .next = NULL };
    enqueue(crowd->sessions, "a", "", &ticket);
    assert_int_equal(enter_run(crowd->sessions, &ticket, PATIENCE_MS, &session, NULL), 0);
    crowd->refused += cbx_clock_ms() < crowd->left_ms + PATIENCE_MS;
    crowd->entered += atomic_fetch_add(&crowd->inside, 1) == 0;
    for (int64_t end = cbx_clock_ms() + STAY_MS; cbx_clock_ms() < end;) {
    }
    atomic_fetch_sub(&crowd->inside, 1);
    cbx_sessions_dequeue(crowd->sessions, &ticket);
    leave_result(crowd, session);
    return NULL;
}

static void each_unacknowledged_result_delays_the_next_run_until_its_timeout(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    struct crowd crowd = { .sessions = cbx_sessions_new(1, NULL, NULL) };
    struct cbx_session *session;
    pthread_t threads[THREADS];
    open_session(crowd.sessions, "a");
    assert_int_equal(cbx_sessions_enter(crowd.sessions, "a", "ann", &session, NULL), 0);
    leave_result(&crowd, session);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, enter_impatiently, &crowd), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(crowd.entered, THREADS);
    assert_int_equal(crowd.refused, 0);
    cbx_sessions_free(crowd.sessions);
}

static void *enter_with_patience(void *context)
{
    struct crowd *crowd = context;
    struct cbx_session *session;
    struct cbx_ticket ticket = { .next = NULL };
    enqueue(crowd->sessions, "a", "", &ticket);
    assert_int_equal(enter_run(crowd->sessions, &ticket, DEADLINE_MS, &session, NULL), 0);
    crowd->inside = 1;
    cbx_sessions_dequeue(crowd->sessions, &ticket);
    cbx_sessions_leave(crowd->sessions, session);
    return NULL;
}

static void a_run_waits_until_the_result_before_it_is_acknowledged(void **state)
{
    (void)state;
    struct crowd crowd = { .sessions = cbx_sessions_new(1, NULL, NULL) };
    struct cbx_session *session;
    pthread_t waiting;
    open_session(crowd.sessions, "a");
    assert_int_equal(cbx_sessions_enter(crowd.sessions, "a", "ann", &session, NULL), 0);
    cbx_sessions_begin(crowd.sessions, session, "r1", 7);
    assert_int_equal(pthread_create(&waiting, NULL, enter_with_patience, &crowd), 0);
    cbx_sessions_leave(crowd.sessions, session);
    /* A call that follows that run again does not wait for its acknowledgement. */
    assert_int_equal(cbx_sessions_enter(crowd.sessions, "a", NULL, &session, NULL), 0);
    cbx_sessions_leave(crowd.sessions, session);
    assert_int_equal(crowd.inside, 0);
    cbx_sessions_acknowledge(crowd.sessions, "r1");
    pthread_join(waiting, NULL);
    assert_int_equal(crowd.inside, 1);
    cbx_sessions_free(crowd.sessions);
}

static void an_unwanted_result_is_dropped_when_its_run_leaves(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(1, NULL, NULL);
    struct cbx_session *session;
    char place[CBX_NAME_MAX + 1];
    CBX_AUTO_JSON ids = json_pack("[s]", "a");
    CBX_AUTO_JSON wanted = json_pack("[s]", "r1");
    CBX_AUTO_JSON none = json_array();
    open_session(sessions, "a");
    assert_int_equal(cbx_sessions_enter(sessions, "a", "ann", &session, NULL), 0);
    cbx_sessions_begin(sessions, session, "r1", 7);
    cbx_sessions_reconcile(sessions, ids, wanted);
    cbx_sessions_leave(sessions, session);
    assert_int_equal(cbx_sessions_find_run(sessions, "r1", NULL, place, NULL, NULL), 0);
    /* A call of the front that was killed follows it again, while the next front reconciles. */
    assert_int_equal(cbx_sessions_enter(sessions, "a", "ann", &session, NULL), 0);
    cbx_sessions_reconcile(sessions, ids, none);
    assert_int_equal(cbx_sessions_find_run(sessions, "r1", NULL, place, NULL, NULL), 0);
    cbx_sessions_leave(sessions, session);
    assert_int_equal(cbx_sessions_find_run(sessions, "r1", NULL, place, NULL, NULL), CBX_ENOTFOUND);
    assert_int_equal(cbx_sessions_count(sessions), 1);
    cbx_sessions_free(sessions);
}

struct queued {
    struct crowd *crowd;
    struct cbx_ticket ticket;
    int place, refused;
};

static void *enter_in_turn(void *context)
{
    struct queued *q = context;
    struct cbx_session *session;
    q->refused = enter_run(q->crowd->sessions, &q->ticket, DEADLINE_MS, &session, NULL);
    if (!q->refused) {
        q->place = q->crowd->entered++;
    }
    cbx_sessions_dequeue(q->crowd->sessions, &q->ticket);
    if (!q->refused) {
        cbx_sessions_leave(q->crowd->sessions, session);
    }
    return NULL;
}

static void a_run_of_another_policy_does_not_enter(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(1, NULL, NULL);
    struct cbx_session *session = NULL;
    struct cbx_ticket ticket = { .next = NULL };
    struct cbx_err err;
    struct cbx_permit strict = permit_of("a", "ann"), permissive = strict;
    strict.policy_sha256 = cbx_sha256_of(CBX_STR("strict"));
    permissive.policy_sha256 = cbx_sha256_of(CBX_STR("permissive"));
    assert_int_equal(cbx_sessions_reserve(sessions, &strict, &err), 0);
    cbx_sessions_fill(sessions, "a", NULL);
    enqueue(sessions, "a", "r1", &ticket);
    assert_int_equal(cbx_sessions_enter_run(sessions, &ticket, &permissive, 0, &session, &err),
                     CBX_ESTATE);
    assert_non_null(strstr(err.text, "another policy"));
    assert_int_equal(cbx_sessions_enter_run(sessions, &ticket, &strict, 0, &session, &err), 0);
    cbx_sessions_dequeue(sessions, &ticket);
    cbx_sessions_leave(sessions, session);
    cbx_sessions_free(sessions);
}

static void only_the_principal_of_a_session_interrupts_answers_or_closes_it(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(1, NULL, NULL);
    struct cbx_session *session = NULL;
    struct cbx_err err;
    const struct cbx_session_name ann = { "a", "ann" }, bob = { "a", "bob" }, run = { "r1", "bob" },
                                  own_run = { "r1", "ann" };
    open_session(sessions, "a");
    assert_int_equal(cbx_sessions_enter(sessions, "a", "ann", &session, &err), 0);
    cbx_sessions_begin(sessions, session, "r1", 7);
    assert_int_equal(cbx_sessions_interrupt(sessions, &bob, &err), CBX_ENOTFOUND);
    assert_int_equal(cbx_sessions_interrupt(sessions, &run, &err), CBX_ENOTFOUND);
    assert_int_equal(cbx_sessions_input(sessions, &run, CBX_STR("x"), &err), CBX_ENOTFOUND);
    assert_int_equal(cbx_sessions_interrupt(sessions, &ann, &err), 0);
    assert_int_equal(cbx_sessions_interrupt(sessions, &own_run, &err), 0);
    assert_int_equal(cbx_sessions_close(sessions, &bob, &err), CBX_ENOTFOUND);
    cbx_sessions_leave(sessions, session);
    assert_int_equal(cbx_sessions_close(sessions, &ann, &err), 0);
    cbx_sessions_free(sessions);
}

static void a_queued_run_that_is_cancelled_does_not_enter(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(1, NULL, NULL);
    struct cbx_session *session;
    struct cbx_ticket first = { .next = NULL }, second = { .next = NULL };
    struct cbx_err err;
    open_session(sessions, "a");
    enqueue(sessions, "a", "r1", &first);
    enqueue(sessions, "a", "r2", &second);
    assert_false(cbx_sessions_cancel(sessions, "r1", "bob"));
    assert_false(cbx_sessions_cancel(sessions, "r3", "ann"));
    assert_false(cbx_sessions_is_cancelled(sessions, &first));
    assert_true(cbx_sessions_cancel(sessions, "r1", "ann"));
    assert_true(cbx_sessions_is_cancelled(sessions, &first));
    assert_int_equal(enter_run(sessions, &first, 0, &session, &err), CBX_ECANCELLED);
    cbx_sessions_dequeue(sessions, &first);
    assert_false(cbx_sessions_cancel(sessions, "r1", "ann"));
    assert_int_equal(enter_run(sessions, &second, 0, &session, &err), 0);
    cbx_sessions_leave(sessions, session);
    cbx_sessions_dequeue(sessions, &second);
    cbx_sessions_free(sessions);
}

static void a_front_that_starts_cancels_queued_runs_that_it_does_not_know(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(1, NULL, NULL);
    struct cbx_ticket known = { .next = NULL }, unknown = { .next = NULL };
    CBX_AUTO_JSON ids = json_pack("[s]", "a");
    CBX_AUTO_JSON runs = json_pack("[s]", "r1");
    open_session(sessions, "a");
    enqueue(sessions, "a", "r1", &known);
    enqueue(sessions, "a", "r2", &unknown);
    cbx_sessions_reconcile(sessions, ids, runs);
    assert_false(cbx_sessions_is_cancelled(sessions, &known));
    assert_true(cbx_sessions_is_cancelled(sessions, &unknown));
    cbx_sessions_dequeue(sessions, &known);
    cbx_sessions_dequeue(sessions, &unknown);
    cbx_sessions_free(sessions);
}

/* A stale decision: its run never began, so nothing acknowledges its result. */
static void a_run_that_did_not_begin_after_all_delays_no_other(void **state)
{
    (void)state;
    enum { LONG_MS = 60000 };
    struct cbx_sessions *sessions = cbx_sessions_new(1, NULL, NULL);
    struct cbx_session *session;
    struct cbx_ticket first = { .next = NULL }, second = { .next = NULL };
    open_session(sessions, "a");
    enqueue(sessions, "a", "r1", &first);
    assert_int_equal(enter_run(sessions, &first, LONG_MS, &session, NULL), 0);
    cbx_sessions_begin(sessions, session, "r1", 7);
    cbx_sessions_unbegin(sessions, session);
    cbx_sessions_leave(sessions, session);
    cbx_sessions_dequeue(sessions, &first);
    enqueue(sessions, "a", "r2", &second);
    assert_int_equal(enter_run(sessions, &second, LONG_MS, &session, NULL), 0);
    cbx_sessions_leave(sessions, session);
    cbx_sessions_dequeue(sessions, &second);
    cbx_sessions_free(sessions);
}

static void a_run_counts_as_queued_until_it_is_dequeued_also_while_it_has_entered(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(1, NULL, NULL);
    struct cbx_session *session;
    struct cbx_ticket ticket = { .next = NULL };
    open_session(sessions, "a");
    assert_false(cbx_sessions_is_queued(sessions, "r1", NULL));
    enqueue(sessions, "a", "r1", &ticket);
    assert_int_equal(enter_run(sessions, &ticket, 0, &session, NULL), 0);
    assert_true(cbx_sessions_is_queued(sessions, "r1", NULL));
    assert_true(cbx_sessions_is_queued(sessions, "r1", "ann"));
    assert_false(cbx_sessions_is_queued(sessions, "r1", "bob"));
    cbx_sessions_begin(sessions, session, "r1", 7);
    char place[CBX_NAME_MAX + 1];
    assert_int_equal(cbx_sessions_find_run(sessions, "r1", "ann", place, NULL, NULL), 0);
    assert_int_equal(cbx_sessions_find_run(sessions, "r1", "bob", place, NULL, NULL),
                     CBX_ENOTFOUND);
    cbx_sessions_dequeue(sessions, &ticket);
    cbx_sessions_await_dequeued(sessions, "r1");
    assert_false(cbx_sessions_is_queued(sessions, "r1", NULL));
    cbx_sessions_leave(sessions, session);
    cbx_sessions_free(sessions);
}

static void runs_enter_in_the_order_in_which_they_were_enqueued(void **state)
{
    (void)state;
    enum { RUNS = 12, GONE = 4 };
    struct crowd crowd = { .sessions = cbx_sessions_new(2, NULL, NULL) };
    struct queued queued[RUNS], other = { .crowd = &crowd };
    pthread_t threads[RUNS];
    struct cbx_session *session;
    open_session(crowd.sessions, "a");
    open_session(crowd.sessions, "b");
    for (int i = 0; i < RUNS; i++) {
        queued[i] = (struct queued){ .crowd = &crowd };
        enqueue(crowd.sessions, "a", "", &queued[i].ticket);
    }
    /* Another session has its own order, and a call other than a run is not queued. */
    enqueue(crowd.sessions, "b", "", &other.ticket);
    enter_in_turn(&other);
    assert_int_equal(other.place, 0);
    assert_int_equal(cbx_sessions_enter(crowd.sessions, "a", "ann", &session, NULL), 0);
    for (int i = RUNS - 1; i >= 0; i--) {
        if (i != GONE) {
            assert_int_equal(pthread_create(&threads[i], NULL, enter_in_turn, &queued[i]), 0);
        }
    }
    cbx_sessions_leave(crowd.sessions, session);
    cbx_sessions_dequeue(crowd.sessions, &queued[GONE].ticket);
    cbx_sessions_dequeue(crowd.sessions, &queued[GONE].ticket);
    for (int i = 0, place = 1; i < RUNS; i++) {
        if (i != GONE) {
            pthread_join(threads[i], NULL);
            assert_int_equal(queued[i].refused, 0);
            assert_int_equal(queued[i].place, place++);
        }
    }
    cbx_sessions_free(crowd.sessions);
}

static void *close_a(void *context)
{
    struct crowd *crowd = context;
    crowd->entered = close_session(crowd->sessions, "a", NULL) == 0 ? 1 : -1;
    return NULL;
}

/* Waits until a new run is refused. */
static void await_closing(struct cbx_sessions *sessions)
{
    struct cbx_permit permit = permit_of("a", "ann");
    struct cbx_session *session;
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    while (cbx_sessions_enter(sessions, permit.session, permit.principal, &session, NULL) == 0) {
        cbx_sessions_leave(sessions, session);
        assert_true(cbx_clock_ms() < end);
    }
}

static void closing_waits_for_the_opening_and_refuses_later_entries(void **state)
{
    (void)state;
    struct crowd crowd = { .sessions = cbx_sessions_new(1, NULL, NULL) };
    struct cbx_permit permit = permit_of("a", "ann");
    pthread_t closer;
    /* A session that is being opened counts as entered: the close ends after the fill. */
    assert_int_equal(cbx_sessions_reserve(crowd.sessions, &permit, NULL), 0);
    assert_int_equal(pthread_create(&closer, NULL, close_a, &crowd), 0);
    cbx_sessions_fill(crowd.sessions, "a", NULL);
    await_closing(crowd.sessions);
    pthread_join(closer, NULL);
    assert_int_equal(crowd.entered, 1);
    assert_int_equal(cbx_sessions_count(crowd.sessions), 0);
    cbx_sessions_free(crowd.sessions);
}

static void expires_what_is_idle_and_nothing_that_is_busy_or_just_made(void **state)
{
    (void)state;
    struct cbx_sessions *sessions = cbx_sessions_new(3, NULL, NULL);
    struct cbx_permit busy = permit_of("busy", "ann"), slow = permit_of("slow", "ann");
    struct cbx_session *entered;
    assert_int_equal(cbx_sessions_reserve(sessions, &slow, NULL), 0);
    open_session(sessions, "busy");
    assert_int_equal(cbx_sessions_enter(sessions, busy.session, busy.principal, &entered, NULL), 0);
    open_session(sessions, "idle");
    int64_t later = cbx_clock_ms() + 1000;
    assert_int_equal(cbx_sessions_expire(sessions, later, 100000), 0);
    assert_int_equal(cbx_sessions_expire(sessions, later, 500), 1);
    assert_int_equal(cbx_sessions_count(sessions), 2);
    cbx_sessions_leave(sessions, entered);
    int64_t start = cbx_clock_ms();
    while (cbx_clock_ms() < start + 2) {
    }
    int64_t filled = cbx_clock_ms(); /* idle time begins when the sandbox is there */
    cbx_sessions_fill(sessions, "slow", NULL);
    close_session(sessions, "busy", NULL);
    assert_int_equal(cbx_sessions_expire(sessions, filled, 1), 0);
    assert_int_equal(cbx_sessions_count(sessions), 1);
    cbx_sessions_free(sessions);
}

static atomic_bool stop_expiring;

static void *expire_all_the_time(void *context)
{
    while (!stop_expiring) {
        cbx_sessions_expire(context, INT64_MAX, 0);
    }
    return NULL;
}

static void closes_all_while_others_expire_and_open(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct cbx_sessions *sessions = cbx_sessions_new(4, NULL, NULL);
        pthread_t thread;
        stop_expiring = false;
        open_session(sessions, "a");
        open_session(sessions, "b");
        assert_int_equal(pthread_create(&thread, NULL, expire_all_the_time, sessions), 0);
        cbx_sessions_close_all(sessions, false);
        assert_int_equal(cbx_sessions_count(sessions), 0);
        struct cbx_permit permit = permit_of("c", "ann");
        struct cbx_err err;
        assert_int_equal(cbx_sessions_reserve(sessions, &permit, &err), CBX_ESTATE);
        stop_expiring = true;
        pthread_join(thread, NULL);
        cbx_sessions_free(sessions);
    }
    cbx_sessions_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserves_each_id_once_and_no_more_than_there_are_places),
        cmocka_unit_test(only_the_principal_that_opened_a_session_enters_it),
        cmocka_unit_test(one_run_enters_at_a_time_and_the_others_wait),
        cmocka_unit_test(an_unwanted_result_is_dropped_when_its_run_leaves),
        cmocka_unit_test(a_run_of_another_policy_does_not_enter),
        cmocka_unit_test(only_the_principal_of_a_session_interrupts_answers_or_closes_it),
        cmocka_unit_test(a_run_counts_as_queued_until_it_is_dequeued_also_while_it_has_entered),
        cmocka_unit_test(runs_enter_in_the_order_in_which_they_were_enqueued),
        cmocka_unit_test(a_queued_run_that_is_cancelled_does_not_enter),
        cmocka_unit_test(a_front_that_starts_cancels_queued_runs_that_it_does_not_know),
        cmocka_unit_test(a_run_that_did_not_begin_after_all_delays_no_other),
        cmocka_unit_test(a_run_waits_until_the_result_before_it_is_acknowledged),
        cmocka_unit_test(each_unacknowledged_result_delays_the_next_run_until_its_timeout),
        cmocka_unit_test(closing_waits_for_the_opening_and_refuses_later_entries),
        cmocka_unit_test(expires_what_is_idle_and_nothing_that_is_busy_or_just_made),
        cmocka_unit_test(closes_all_while_others_expire_and_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
