/* SPDX-License-Identifier: MIT
 * Takeover in a database that three replicas share: when a replica counts as dead, which replica
 * takes over, and which rows the former owner cannot change any more. */
#include "gateway/front/store/store_takeover.h"
#include "tests/unit/gateway/front/store_rig.h"

#include <pthread.h>

enum { REPLICAS = 3 };

struct cluster_rig {
    struct rig rig;
    struct cbx_store *stores[REPLICAS]; /* of the replicas a, b, c */
    uint64_t generations[REPLICAS];
};

static void open_all(struct cluster_rig *r)
{
    static const char *const names[] = { "a", "b", "c" };
    begin_closed(&r->rig);
    for (size_t i = 0; i < REPLICAS; i++) {
        struct cbx_err err;
        if (try_open(&r->rig, names[i], (struct cbx_store_limits){ 0 }, &r->stores[i]) != 0) {
            fail_msg("%s", r->rig.err.text);
        }
        if (cbx_store_claim(r->stores[i], &r->generations[i], &err) != 0) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(r->generations[i], 1);
    }
}

static void close_all(struct cluster_rig *r)
{
    for (size_t i = 0; i < REPLICAS; i++) {
        cbx_store_free(r->stores[i]);
    }
    end(&r->rig);
}

/* Makes the last sign of life of a replica older; no test waits. */
static void silence(struct cluster_rig *r, const char *name, int ms)
{
    char sql[200];
    snprintf(sql, sizeof(sql),
             "UPDATE replicas SET seen=(SELECT now_ms FROM clock)-%d WHERE name='%s'", ms, name);
    cluster_ask(rig_cluster, r->rig.database, sql);
}

static int64_t ask(struct cluster_rig *r, const char *sql)
{
    return cluster_ask(rig_cluster, r->rig.database, sql);
}

static void add_to(struct cbx_store *store, const char *id, const char *session)
{
    struct cbx_stored_execution e = { .principal = "ann",
                                      .id = id,
                                      .session = session,
                                      .created_at = "2026",
                                      .decision = id,
                                      .language = "ipython",
                                      .code = "1" };
    struct cbx_err err;
    if (cbx_store_add_execution(store, &e, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void add_session(struct cbx_store *store, const char *id)
{
    CBX_AUTO_JSON options = json_object();
    assert_int_equal(cbx_store_add_session(store, "ann", id, "2026", "p", options, NULL), 0);
}

static int set(struct cbx_store *store, const char *id)
{
    CBX_AUTO_JSON results = json_object();
    return cbx_store_set_execution(store, id, "completed", "2026", results, NULL);
}

static size_t count_dead(struct cbx_store *store)
{
    CBX_AUTO_JSON dead = NULL;
    assert_int_equal(cbx_store_list_dead(store, &dead, NULL), 0);
    return json_array_size(dead);
}

static void assert_list(struct cbx_store *store,
                        int (*list)(struct cbx_store *, json_t **, struct cbx_err *),
                        const char *wanted)
{
    CBX_AUTO_JSON found = NULL;
    assert_int_equal(list(store, &found, NULL), 0);
    CBX_AUTO_MEM char *text = json_dumps(found, JSON_COMPACT);
    assert_string_equal(text, wanted);
}

static void a_replica_is_dead_after_six_seconds_of_the_databases_clock(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    open_all(&r);
    silence(&r, "a", CBX_REPLICA_DEAD_MS - 2000);
    assert_int_equal(count_dead(r.stores[1]), 0);
    silence(&r, "a", CBX_REPLICA_DEAD_MS + 10);
    assert_int_equal(count_dead(r.stores[1]), 1);
    assert_int_equal(count_dead(r.stores[0]), 0); /* not for itself */
    assert_int_equal(cbx_store_beat(r.stores[0], 1, &err), 0);
    assert_int_equal(count_dead(r.stores[1]), 0);
    close_all(&r);
}

static void a_replica_that_lives_is_not_taken_over(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    json_t *rows = NULL;
    open_all(&r);
    add_session(r.stores[0], "s");
    assert_int_equal(cbx_store_take_over(r.stores[1], "a", 1, &rows, &err), CBX_ESTATE);
    assert_null(rows);
    assert_int_equal(ask(&r, "SELECT count(*) FROM sessions WHERE replica='a'"), 1);
    assert_int_equal(ask(&r, "SELECT count(*) FROM takeovers"), 0);
    assert_int_equal(cbx_store_beat(r.stores[0], 1, &err), 0);
    close_all(&r);
}

static void sessions_and_unfinished_executions_move_and_results_stay(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    char holder[CBX_REPLICA_NAME_MAX + 1];
    CBX_AUTO_JSON rows = NULL;
    open_all(&r);
    add_session(r.stores[0], "s");
    add_to(r.stores[0], "ended", "s");
    assert_int_equal(set(r.stores[0], "ended"), 0);
    add_to(r.stores[0], "runs", "s");
    add_to(r.stores[2], "of c", "");
    silence(&r, "a", 7000);
    assert_int_equal(cbx_store_take_over(r.stores[1], "a", 1, &rows, &err), 0);
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "id")), "runs");
    const struct {
        const char *id, *holder;
    } held[] = { { "s", "b" }, { "runs", "b" }, { "ended", "a" }, { "of c", "c" } };
    for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
        assert_int_equal(cbx_store_find_holder(r.stores[2], held[i].id, holder, &err), 0);
        assert_string_equal(holder, held[i].holder);
    }
    assert_int_equal(cbx_store_find_holder(r.stores[2], "x", holder, &err), CBX_ENOTFOUND);
    assert_list(r.stores[1], cbx_store_list_held, "[\"a 1 1\",\"b 1 0\"]");
    assert_list(r.stores[0], cbx_store_list_held, "[]");
    assert_list(r.stores[2], cbx_store_list_moved, "[\"a\"]");
    close_all(&r);
}

static void the_old_owner_changes_nothing_of_it_any_more(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON rows = NULL;
    CBX_AUTO_JSON options = json_pack("{s:i}", "x", 1);
    open_all(&r);
    add_session(r.stores[0], "s");
    add_to(r.stores[0], "runs", "s");
    silence(&r, "a", 7000);
    assert_int_equal(cbx_store_take_over(r.stores[1], "a", 1, &rows, &err), 0);
    assert_int_equal(cbx_store_beat(r.stores[0], 1, &err), CBX_ESTATE);
    assert_int_equal(set(r.stores[0], "runs"), CBX_ESTATE);
    assert_int_equal(cbx_store_remove_session(r.stores[0], "s", &err), CBX_ENOTFOUND);
    cbx_store_set_options(r.stores[0], "s", options, &err);
    cbx_store_set_decision(r.stores[0], "runs", "other", &err);
    cbx_store_begin_execution(r.stores[0], "runs", 7, &err);
    assert_int_equal(ask(&r, "SELECT count(*) FROM executions WHERE id='runs' AND begun=0 AND"
                             " decision='runs' AND completed_at IS NULL"),
                     1);
    assert_int_equal(ask(&r, "SELECT count(*) FROM sessions WHERE id='s' AND options='{}'"), 1);
    assert_int_equal(set(r.stores[1], "runs"), 0);
    close_all(&r);
}

struct survivor {
    struct cbx_store *store;
    pthread_barrier_t *barrier;
    int failed;
    json_t *rows;
};

static void *survive(void *context)
{
    struct survivor *s = context;
    struct cbx_err err;
    pthread_barrier_wait(s->barrier);
    s->failed = cbx_store_take_over(s->store, "a", 1, &s->rows, &err);
    return NULL;
}

static void one_of_two_survivors_takes_over(void **state)
{
    (void)state;
    struct cluster_rig r;
    pthread_barrier_t barrier;
    pthread_t threads[2];
    open_all(&r);
    add_to(r.stores[0], "runs", "");
    silence(&r, "a", 7000);
    pthread_barrier_init(&barrier, NULL, 2);
    struct survivor survivors[2] = { { r.stores[1], &barrier, 0, NULL },
                                     { r.stores[2], &barrier, 0, NULL } };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, survive, &survivors[i]), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    bool first = survivors[0].failed == 0;
    assert_int_equal(survivors[first ? 1 : 0].failed, CBX_ESTATE);
    assert_int_equal(survivors[first ? 0 : 1].failed, 0);
    assert_int_equal(ask(&r, "SELECT count(*) FROM takeovers"), 1);
    json_decref(survivors[0].rows);
    json_decref(survivors[1].rows);
    pthread_barrier_destroy(&barrier);
    close_all(&r);
}

static void
an_owner_that_returns_has_a_new_instance_and_what_was_taken_twice_a_higher_epoch(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    CBX_AUTO_JSON first = NULL;
    CBX_AUTO_JSON second = NULL;
    uint64_t generation = 0;
    open_all(&r);
    add_session(r.stores[0], "s");
    silence(&r, "a", 7000);
    assert_int_equal(cbx_store_take_over(r.stores[1], "a", 1, &first, &err), 0);
    assert_int_equal(count_dead(r.stores[2]), 0); /* it was taken over already */
    assert_int_equal(cbx_store_claim(r.stores[0], &generation, &err), 0);
    assert_int_equal(generation, 2);
    assert_int_equal(cbx_store_beat(r.stores[0], 2, &err), 0);
    assert_list(r.stores[0], cbx_store_list_held, "[\"a 2 0\"]");
    silence(&r, "b", 7000);
    assert_int_equal(cbx_store_take_over(r.stores[2], "b", 1, &second, &err), 0);
    assert_list(r.stores[2], cbx_store_list_held, "[\"a 1 2\",\"b 1 1\",\"c 1 0\"]");
    assert_int_equal(cbx_store_forget_instance(r.stores[2], "a 1 2", &err), 0);
    assert_int_equal(cbx_store_forget_instance(r.stores[2], "a 2 0", &err), 0); /* of another one */
    assert_list(r.stores[2], cbx_store_list_held, "[\"b 1 1\",\"c 1 0\"]");
    assert_list(r.stores[0], cbx_store_list_held, "[\"a 2 0\"]");
    assert_list(r.stores[2], cbx_store_list_moved, "[\"a\",\"b\"]");
    close_all(&r);
}

static void a_restart_that_nobody_noticed_keeps_the_instance(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    uint64_t generation = 0;
    open_all(&r);
    silence(&r, "a", 7000);
    assert_int_equal(cbx_store_claim(r.stores[0], &generation, &err), 0);
    assert_int_equal(generation, 1);
    assert_int_equal(count_dead(r.stores[1]), 0);
    close_all(&r);
}

static void both_logs_learn_of_the_runs_once(void **state)
{
    (void)state;
    struct cluster_rig r;
    struct cbx_err err;
    CBX_AUTO_JSON rows = NULL;
    CBX_AUTO_JSON runs = NULL;
    uint64_t generation;
    open_all(&r);
    add_session(r.stores[0], "s");
    add_to(r.stores[0], "one", "s");
    silence(&r, "a", 7000);
    assert_int_equal(cbx_store_take_over(r.stores[1], "a", 1, &rows, &err), 0);
    assert_list(r.stores[1], cbx_store_list_unnoted,
                "[{\"replica\":\"a\",\"epoch\":\"2\",\"sessions\":\"1\"}]");
    assert_list(r.stores[0], cbx_store_list_unreleased, "[{\"replica\":\"b\",\"epoch\":\"2\"}]");
    assert_int_equal(cbx_store_list_taken(r.stores[1], "a", "2", &runs, &err), 0);
    assert_string_equal(json_string_value(json_array_get(runs, 0)), "one");
    assert_int_equal(cbx_store_set_noted(r.stores[1], "a", "2", &err), 0);
    assert_list(r.stores[1], cbx_store_list_unnoted, "[]");
    assert_int_equal(cbx_store_set_released(r.stores[0], "2", &err), 0);
    assert_list(r.stores[0], cbx_store_list_unreleased, "[]");
    assert_int_equal(cbx_store_claim(r.stores[0], &generation, &err), 0);
    assert_int_equal(ask(&r, "SELECT count(*) FROM taken"), 0); /* no log needs them any more */
    close_all(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replica_is_dead_after_six_seconds_of_the_databases_clock),
        cmocka_unit_test(a_replica_that_lives_is_not_taken_over),
        cmocka_unit_test(sessions_and_unfinished_executions_move_and_results_stay),
        cmocka_unit_test(the_old_owner_changes_nothing_of_it_any_more),
        cmocka_unit_test(one_of_two_survivors_takes_over),
        cmocka_unit_test(
            an_owner_that_returns_has_a_new_instance_and_what_was_taken_twice_a_higher_epoch),
        cmocka_unit_test(a_restart_that_nobody_noticed_keeps_the_instance),
        cmocka_unit_test(both_logs_learn_of_the_runs_once),
    };
    struct cluster cluster;
    if (!cluster_begin(&cluster)) {
        return 0;
    }
    rig_cluster = &cluster;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_end(&cluster);
    return failed;
}
