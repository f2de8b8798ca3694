/* SPDX-License-Identifier: MIT
 * Quotas that three replicas count in one database: how many places there are in all, and what
 * becomes of the places of a replica that dies. */
#include "gateway/front/store/store_takeover.h"
#include "gateway/front/store/store_use.h"
#include "tests/unit/gateway/front/store_rig.h"

#include <pthread.h>

enum { REPLICAS = 3, HOUR_MS = 3600000 };

struct cluster_rig {
    struct rig rig;
    struct cbx_store *stores[REPLICAS]; /* of the replicas a, b, c */
};

static void open_all(struct cluster_rig *r)
{
    static const char *const names[] = { "a", "b", "c" };
    begin_closed(&r->rig);
    for (size_t i = 0; i < REPLICAS; i++) {
        size_t replicas = 0;
        int failed = try_open(&r->rig, names[i], (struct cbx_store_limits){ 0 }, &r->stores[i]);
        if (!failed) {
            failed = cbx_store_share_use(r->stores[i], &r->rig.err);
        }
        if (!failed) {
            failed = cbx_store_note_present(r->stores[i], &replicas, &r->rig.err);
        }
        if (failed) {
            fail_msg("%s", r->rig.err.text);
        }
        assert_int_equal(replicas, i + 1);
        assert_true(cbx_store_has_replicas(r->stores[i]));
    }
}

static void close_all(struct cluster_rig *r)
{
    for (size_t i = 0; i < REPLICAS; i++) {
        cbx_store_free(r->stores[i]);
    }
    end(&r->rig);
}

static void run_sql(struct cluster_rig *r, const char *sql)
{
    ask_number(&r->rig, sql);
}

static int take(struct cbx_store *store, const char *id)
{
    struct cbx_err err;
    return cbx_store_take_place(store, "ann", id, 2, &err);
}

static int add_placed(struct cbx_store *store, const char *id)
{
    struct cbx_err err;
    CBX_AUTO_JSON options = json_object();
    return cbx_store_add_placed_session(store, "ann", id, "2026", "p", options, &err);
}

static void open_in_place(struct cbx_store *store, const char *id)
{
    assert_int_equal(take(store, id), 0);
    assert_int_equal(add_placed(store, id), 0);
}

static void sessions_of_all_replicas_and_those_being_opened_count(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    open_all(&r);
    open_in_place(r.stores[0], "1");
    assert_int_equal(take(r.stores[1], "2"), 0);
    assert_int_equal(take(r.stores[2], "3"), CBX_EQUOTA);
    assert_int_equal(cbx_store_take_place(r.stores[2], "bob", "4", 1, &err), 0);
    assert_int_equal(cbx_store_drop_place(r.stores[1], "2", &err), 0); /* it was not opened */
    open_in_place(r.stores[2], "3");
    assert_int_equal(take(r.stores[0], "5"), CBX_EQUOTA);
    assert_int_equal(cbx_store_remove_session(r.stores[2], "3", &err), 0);
    assert_int_equal(take(r.stores[0], "5"), 0); /* the place of a closed session is free */
    close_all(&r);
}

static void a_session_without_a_limit_counts_too(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    CBX_AUTO_JSON options = json_object();
    open_all(&r);
    for (int i = 0; i < 2; i++) {
        char id[] = { (char)('0' + i), '\0' };
        assert_int_equal(cbx_store_add_session(r.stores[i], "ann", id, "2026", "p", options, &err),
                         0);
    }
    assert_int_equal(take(r.stores[2], "2"), CBX_EQUOTA);
    close_all(&r);
}

struct taker {
    struct cbx_store *store;
    char id[16];
    int result;
};

static void *take_one(void *context)
{
    struct taker *taker = context;
    struct cbx_err err;
    taker->result = cbx_store_take_place(taker->store, "ann", taker->id, 5, &err);
    return NULL;
}

static void as_many_get_a_place_at_the_same_time_as_may(void **state)
{
    (void)state;
    enum { ROUNDS = 20, TAKERS = 18 };
    struct cluster_rig r;
    open_all(&r);
    for (int round = 0; round < ROUNDS; round++) {
        struct taker takers[TAKERS];
        pthread_t threads[TAKERS];
        int taken = 0;
        for (int i = 0; i < TAKERS; i++) {
            takers[i] = (struct taker){ .store = r.stores[i % REPLICAS] };
            snprintf(takers[i].id, sizeof(takers[i].id), "%d", i);
            assert_int_equal(pthread_create(&threads[i], NULL, take_one, &takers[i]), 0);
        }
        for (int i = 0; i < TAKERS; i++) {
            pthread_join(threads[i], NULL);
            taken += takers[i].result == 0;
            assert_true(takers[i].result == 0 || takers[i].result == CBX_EQUOTA);
        }
        assert_int_equal(taken, 5);
        run_sql(&r, "DELETE FROM openings");
    }
    close_all(&r);
}

static void a_front_that_begins_anew_gives_its_places_back(void **state)
{
    (void)state;
    struct cluster_rig r;
    CBX_AUTO_JSON places = NULL;
    open_all(&r);
    assert_int_equal(take(r.stores[0], "1"), 0);
    assert_int_equal(take(r.stores[1], "2"), 0);
    assert_int_equal(cbx_store_share_use(r.stores[0], &r.rig.err), 0);
    assert_int_equal(take(r.stores[2], "3"), 0);
    assert_int_equal(cbx_store_list_places(r.stores[1], &places, &r.rig.err), 0);
    assert_int_equal(json_array_size(places), 1);
    assert_string_equal(json_string_value(json_array_get(places, 0)), "2");
    close_all(&r);
}

static void sessions_count_once_before_and_after_a_takeover(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    CBX_AUTO_JSON rows = NULL;
    uint64_t generation;
    open_all(&r);
    for (size_t i = 0; i < REPLICAS; i++) {
        assert_int_equal(cbx_store_claim(r.stores[i], &generation, &err), 0);
    }
    open_in_place(r.stores[0], "1");
    assert_int_equal(take(r.stores[0], "2"), 0); /* it dies while it opens this one */
    run_sql(&r, "UPDATE replicas SET seen=seen-7000 WHERE name='a'");
    assert_int_equal(take(r.stores[1], "3"), CBX_EQUOTA);
    assert_int_equal(cbx_store_take_over(r.stores[1], "a", 1, &rows, &err), 0);
    assert_int_equal(take(r.stores[1], "3"), 0);
    assert_int_equal(take(r.stores[2], "4"), CBX_EQUOTA);
    assert_int_equal(add_placed(r.stores[0], "2"), CBX_ESTATE); /* the old owner was only stopped */
    assert_int_equal(cbx_store_remove_session(r.stores[1], "1", &err), 0);
    assert_int_equal(take(r.stores[2], "4"), 0);
    close_all(&r);
}

static void rows_of_a_replica_that_stays_away_count_no_more(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    size_t replicas;
    open_all(&r);
    open_in_place(r.stores[0], "1");
    open_in_place(r.stores[0], "2");
    run_sql(&r, "UPDATE presence SET seen=seen-70000 WHERE replica='a'");
    assert_int_equal(cbx_store_mark_gone(r.stores[1], &err), 0);
    assert_int_equal(take(r.stores[1], "3"), CBX_EQUOTA); /* its sandboxes may still be there */
    assert_int_equal(cbx_store_note_present(r.stores[1], &replicas, &err), 0);
    assert_int_equal(replicas, 2);
    run_sql(&r, "UPDATE presence SET seen=seen-6000 WHERE replica='a'");
    assert_int_equal(take(r.stores[1], "3"), CBX_EQUOTA); /* no replica has marked it as gone */
    assert_int_equal(cbx_store_mark_gone(r.stores[1], &err), 0);
    assert_int_equal(take(r.stores[1], "3"), 0);
    assert_int_equal(cbx_store_note_present(r.stores[0], &replicas, &err), 0); /* it is back */
    assert_int_equal(take(r.stores[1], "4"), CBX_EQUOTA);
    close_all(&r);
}

static int add_waiting(struct cbx_store *store, const char *id)
{
    struct cbx_err err;
    struct cbx_stored_execution e = { .principal = "ann",
                                      .id = id,
                                      .session = "",
                                      .created_at = "2026",
                                      .decision = id,
                                      .language = "ipython",
                                      .code = "1" };
    return cbx_store_add_waiting(store, &e, 2, &err);
}

static void end_execution(struct cbx_store *store, const char *id)
{
    struct cbx_err err;
    assert_int_equal(cbx_store_set_execution(store, id, "completed", "2026", NULL, &err), 0);
}

static void executions_of_all_replicas_wait_until_they_begin(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    open_all(&r);
    assert_int_equal(add_waiting(r.stores[0], FIRST), 0);
    assert_int_equal(add_waiting(r.stores[1], SECOND), 0);
    assert_int_equal(add_waiting(r.stores[2], "3"), CBX_EQUOTA);
    assert_int_equal(cbx_store_begin_execution(r.stores[0], FIRST, 1, &err), 0);
    assert_int_equal(add_waiting(r.stores[2], "3"), 0);
    assert_int_equal(add_waiting(r.stores[2], "4"), CBX_EQUOTA);
    end_execution(r.stores[1], SECOND); /* it was cancelled */
    assert_int_equal(add_waiting(r.stores[2], "4"), 0);
    close_all(&r);
}

static int place(struct cbx_store *store, const char *id)
{
    struct cbx_err err;
    return cbx_store_place_run(store, "ann", id, 1, &err);
}

static void a_run_has_its_place_until_it_ends_and_after_a_takeover(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    CBX_AUTO_JSON rows = NULL;
    uint64_t generation;
    open_all(&r);
    for (size_t i = 0; i < REPLICAS; i++) {
        assert_int_equal(cbx_store_claim(r.stores[i], &generation, &err), 0);
    }
    assert_int_equal(add_waiting(r.stores[0], "1"), 0);
    assert_int_equal(add_waiting(r.stores[1], "2"), 0);
    assert_int_equal(place(r.stores[0], "1"), 0);
    assert_int_equal(place(r.stores[0], "1"), 0); /* its reply was lost */
    assert_int_equal(place(r.stores[1], "2"), CBX_EQUOTA);
    run_sql(&r, "UPDATE replicas SET seen=seen-7000 WHERE name='a'");
    assert_int_equal(cbx_store_take_over(r.stores[2], "a", 1, &rows, &err), 0);
    assert_int_equal(place(r.stores[1], "2"), CBX_EQUOTA);
    assert_int_equal(place(r.stores[2], "1"), 0);
    end_execution(r.stores[2], "1");
    assert_int_equal(place(r.stores[1], "2"), 0);
    close_all(&r);
}

static int64_t left_at(struct cbx_store *store)
{
    struct cbx_err err;
    int64_t left_ms = 0;
    if (cbx_store_get_cpu(store, "ann", HOUR_MS / 10, &left_ms, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return left_ms;
}

static int charge(struct cbx_store *store, const char *id, int64_t cpu_ms)
{
    struct cbx_err err;
    return cbx_store_charge_cpu(store, id, cpu_ms, HOUR_MS / 10, &err);
}

/* Tests whose time passes may take a second. */
static void processor_time_is_one_bucket_and_an_execution_is_charged_once(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    open_all(&r);
    assert_int_equal(add_waiting(r.stores[0], "1"), 0);
    assert_int_equal(add_waiting(r.stores[0], "2"), 0);
    assert_int_equal(left_at(r.stores[1]), HOUR_MS / 10);
    assert_int_equal(charge(r.stores[0], "1", 300000), 0);
    assert_int_equal(charge(r.stores[0], "1", 300000), 0);
    assert_int_equal(charge(r.stores[1], "2", 300000), 0); /* another replica has it */
    assert_in_range(left_at(r.stores[1]), 60000, 61000);
    assert_int_equal(charge(r.stores[0], "2", 100000), 0);
    assert_in_range(left_at(r.stores[2]) + 100000, 60000, 61000); /* 40 s more than there was */
    run_sql(&r, "UPDATE cpu SET at_ms=at_ms-1800000");            /* half an hour */
    assert_in_range(left_at(r.stores[2]), 140000, 141000);
    assert_int_equal(cbx_store_forget_cpu(r.stores[2], &err), 0);
    assert_in_range(left_at(r.stores[2]), 140000, 141000);
    run_sql(&r, "UPDATE cpu SET at_ms=at_ms-72000000");
    assert_int_equal(left_at(r.stores[2]), HOUR_MS / 10);
    close_all(&r);
}

/* A gateway that is killed meanwhile must not begin the run again. */
static void a_beginning_that_the_database_does_not_take_is_in_the_list_of_this_host(void **state)
{
    (void)state;
    struct rig rig;
    struct cbx_err err;
    begin(&rig, 10);
    assert_int_equal(cbx_store_share_use(rig.store, &err), 0);
    add(&rig, FIRST, "2026");
    ask_number(&rig, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                     " WHERE datname=current_database() AND pid<>pg_backend_pid()");
    assert_int_equal(cbx_store_begin_execution(rig.store, FIRST, 7, &err), 0);
    assert_int_equal(ask_number(&rig, "SELECT begun FROM executions"), 0);
    reopen(&rig, 10);
    CBX_AUTO_JSON rows = running(&rig);
    assert_row(rows, 0, "1", "7");
    end(&rig);
}

static void a_database_that_is_away_gives_no_place(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    int64_t left_ms = -1;
    open_all(&r);
    assert_int_equal(add_waiting(r.stores[0], "1"), 0);
    run_sql(&r, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname=current_database() AND pid<>pg_backend_pid()");
    assert_int_equal(take(r.stores[0], "1"), CBX_EIO);
    assert_int_equal(place(r.stores[0], "1"), CBX_EIO);
    assert_int_equal(add_waiting(r.stores[1], "2"), CBX_EIO);
    assert_int_equal(cbx_store_get_cpu(r.stores[2], "ann", 1, &left_ms, &err), CBX_EIO);
    assert_int_equal(left_ms, -1);
    close_all(&r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_of_all_replicas_and_those_being_opened_count),
        cmocka_unit_test(a_session_without_a_limit_counts_too),
        cmocka_unit_test(as_many_get_a_place_at_the_same_time_as_may),
        cmocka_unit_test(a_front_that_begins_anew_gives_its_places_back),
        cmocka_unit_test(sessions_count_once_before_and_after_a_takeover),
        cmocka_unit_test(rows_of_a_replica_that_stays_away_count_no_more),
        cmocka_unit_test(executions_of_all_replicas_wait_until_they_begin),
        cmocka_unit_test(a_run_has_its_place_until_it_ends_and_after_a_takeover),
        cmocka_unit_test(processor_time_is_one_bucket_and_an_execution_is_charged_once),
        cmocka_unit_test(a_beginning_that_the_database_does_not_take_is_in_the_list_of_this_host),
        cmocka_unit_test(a_database_that_is_away_gives_no_place),
    };
    struct cluster cluster;
    int failed = 0;
    if (cluster_begin(&cluster)) {
        rig_cluster = &cluster;
        failed = cmocka_run_group_tests(tests, NULL, NULL);
        cluster_end(&cluster);
    }
    return failed;
}
