/* SPDX-License-Identifier: MIT
 * Data in the database survives a restart; an execution that did not end before the restart is an
 * error after it. */
#include "tests/unit/gateway/front/store_rig.h"

#include <pthread.h>

static void gives_back_what_it_took_also_after_a_restart(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "e1", "2026-01-01T00:00:01");
    assert_status(&rig, "e1", "running");
    complete(&rig, "e1");
    for (int i = 0; i < 2; i++, reopen(&rig, 10)) {
        CBX_AUTO_JSON found = NULL;
        CBX_AUTO_JSON expected =
            json_pack("{s:s,s:s,s:s,s:s,s:s,s:{s:s%},s:s,s:s,s:b}", "request_id", "e1",
                      "session_id", "s", "status", "completed", "created_at", "2026-01-01T00:00:01",
                      "completed_at", "2026-01-01T00:00:09", "results", "text", "a\0\xc3\xa9",
                      (size_t)4, "decision", "d", "language", "ipython", "dropped", 0);
        assert_int_equal(cbx_store_get_execution(rig.store, NULL, "e1", &found, &rig.err), 0);
        assert_true(json_equal(found, expected));
    }
    CBX_AUTO_JSON none = NULL;
    assert_int_equal(cbx_store_get_execution(rig.store, NULL, "e2", &none, &rig.err),
                     CBX_ENOTFOUND);
    assert_null(none);
    end(&rig);
}

static void assert_set(struct rig *rig, const char *key, int64_t oldest_ms, const char *set)
{
    CBX_AUTO_DONE(buf) text;
    int64_t made_ms = 0;
    cbx_buf_init(&text, 64);
    int failed = cbx_store_recall_set(rig->store, key, oldest_ms, &text, &made_ms, &rig->err);
    if (failed != (set != NULL ? 0 : CBX_ENOTFOUND)) {
        fail_msg("%s: %d %s", key, failed, rig->err.text);
    }
    assert_string_equal(text.p, set != NULL ? set : "");
}

static void sets_of_packages_survive_a_restart_and_the_newest_stay(void **state)
{
    (void)state;
    struct rig rig;
    char key[16];
    begin(&rig, 10);
    assert_int_equal(cbx_store_remember_set(rig.store, "a", 1000, CBX_STR("six 1.0 -\n"), &rig.err),
                     0);
    assert_int_equal(cbx_store_remember_set(rig.store, "a", 2000, CBX_STR("six 2.0 -\n"), &rig.err),
                     0);
    reopen(&rig, 10);
    assert_set(&rig, "a", 2000, "six 2.0 -\n");
    assert_set(&rig, "a", 2001, NULL);
    assert_set(&rig, "b", 0, NULL);
    assert_int_equal(cbx_store_forget_set(rig.store, "a", &rig.err), 0);
    assert_set(&rig, "a", 0, NULL);
    for (int i = 0; i <= CBX_STORED_SETS; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(
            cbx_store_remember_set(rig.store, key, 3000 + i, CBX_STR("six 2.0 -\n"), &rig.err), 0);
    }
    assert_set(&rig, "k0", 0, NULL);
    assert_set(&rig, "k1", 0, "six 2.0 -\n");
    end(&rig);
}

static void a_stored_set_that_is_too_large_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    CBX_AUTO_DONE(buf) text;
    int64_t made_ms;
    char large[65];
    begin(&rig, 10);
    memset(large, 'x', sizeof(large));
    cbx_buf_init(&text, 64);
    assert_int_equal(cbx_store_remember_set(rig.store, "a", 1,
                                            (struct cbx_str){ .p = large, .len = sizeof(large) },
                                            &rig.err),
                     0);
    assert_int_equal(cbx_store_recall_set(rig.store, "a", 0, &text, &made_ms, &rig.err),
                     CBX_ETOOBIG);
    end(&rig);
}

static void lists_what_had_not_ended_and_what_ran_in_a_session(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "new", "2026-01-01T00:00:01");
    add(&rig, "running", "2026-01-01T00:00:02");
    add(&rig, "done", "2026-01-01T00:00:03");
    assert_int_equal(cbx_store_set_execution(rig.store, "running", "running", NULL, NULL, &rig.err),
                     0);
    complete(&rig, "done");
    reopen(&rig, 10);
    assert_status(&rig, "new", "running");
    assert_status(&rig, "done", "completed");
    CBX_AUTO_JSON running = NULL;
    CBX_AUTO_JSON history = NULL;
    assert_int_equal(cbx_store_list_running(rig.store, &running, &rig.err), 0);
    assert_int_equal(json_array_size(running), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(running, 1), "id")),
                        "running");
    const struct cbx_store_position first = { 0 };
    assert_int_equal(cbx_store_page_history(rig.store, NULL, "s", &first, 10, &history, &rig.err),
                     0);
    assert_int_equal(json_array_size(history), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(history, 2), "code")),
                        "1");
    end(&rig);
}

/* The results of old ones go, their code stays: it is the past of the session's next cell. */
static void keeps_the_code_of_an_open_session(void **state)
{
    (void)state;
    enum { KEEP = 3, CELLS = 9 };
    struct rig rig;
    begin(&rig, KEEP);
    CBX_AUTO_JSON options = json_object();
    assert_int_equal(
        cbx_store_add_session(rig.store, "ann", "s", "2026", "default", options, &rig.err), 0);
    for (int i = 1; i <= CELLS; i++) {
        char id[16];
        snprintf(id, sizeof(id), "e%d", i);
        add(&rig, id, "2026-01-01T00:00:00");
        complete(&rig, id);
    }
    reopen(&rig, KEEP);
    CBX_AUTO_JSON history = NULL;
    CBX_AUTO_JSON first = NULL;
    CBX_AUTO_JSON last = NULL;
    const struct cbx_store_position start = { 0 };
    assert_int_equal(cbx_store_page_history(rig.store, NULL, "s", &start, 100, &history, &rig.err),
                     0);
    assert_int_equal(json_array_size(history), CELLS);
    assert_int_equal(cbx_store_get_execution(rig.store, NULL, "e1", &first, &rig.err), 0);
    assert_false(json_is_object(json_object_get(first, "results")));
    assert_int_equal(cbx_store_get_execution(rig.store, NULL, "e9", &last, &rig.err), 0);
    assert_true(json_is_object(json_object_get(last, "results")));
    assert_int_equal(cbx_store_remove_session(rig.store, "s", &rig.err), 0);
    reopen(&rig, KEEP);
    assert_dropped(&rig, "e1", true);
    assert_dropped(&rig, "e9", false);
    json_decref(cbx_steal(&history)); /* no reader needs the code of a closed session */
    assert_int_equal(cbx_store_page_history(rig.store, NULL, "s", &start, 1, &history, &rig.err),
                     0);
    assert_string_equal(json_string_value(json_object_get(json_array_get(history, 0), "code")), "");
    end(&rig);
}

static void keeps_the_newest_and_whatever_has_not_ended(void **state)
{
    (void)state;
    enum { KEEP = 3, KNOWN = 7 };
    struct rig rig;
    begin(&rig, KEEP);
    add(&rig, "running", "2026-01-01T00:00:00");
    for (int i = 1; i <= 9; i++) {
        char id[16], created_at[32];
        snprintf(id, sizeof(id), "e%d", i);
        snprintf(created_at, sizeof(created_at), "2026-01-01T00:00:0%d", i);
        add(&rig, id, created_at);
        complete(&rig, id);
    }
    add(&rig, "last", "2026-01-01T00:00:10");
    reopen_limited(&rig, (struct cbx_store_limits){ .executions = KEEP, .known = KNOWN });
    CBX_AUTO_JSON found = NULL;
    assert_int_equal(cbx_store_get_execution(rig.store, NULL, "e2", &found, &rig.err),
                     CBX_ENOTFOUND);
    assert_dropped(&rig, "e3", true); /* its id is known */
    assert_dropped(&rig, "e6", true);
    assert_dropped(&rig, "e7", false);
    assert_status(&rig, "e7", "completed");
    assert_status(&rig, "e9", "completed");
    assert_status(&rig, "running", "running");
    assert_status(&rig, "last", "running");
    end(&rig);
}

static void keeps_sessions_over_a_restart(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    CBX_AUTO_JSON options = json_pack("{s:[i,i],s:n}", "a", 1, 2, "b");
    assert_int_equal(cbx_store_add_session(rig.store, "ann", "s1", "2026-01-01T00:00:01", "default",
                                           options, &rig.err),
                     0);
    assert_int_equal(cbx_store_add_session(rig.store, "ann", "s1", "2026-01-01T00:00:01", "default",
                                           options, &rig.err),
                     CBX_EIO);
    char *policy = NULL;
    CBX_AUTO_JSON found = NULL;
    assert_int_equal(cbx_store_get_session(rig.store, NULL, "s1", &policy, &found, &rig.err), 0);
    assert_string_equal(policy, "default");
    assert_true(json_equal(found, options));
    free(policy);
    assert_int_equal(cbx_store_get_session(rig.store, NULL, "s1", NULL, NULL, &rig.err), 0);
    assert_int_equal(cbx_store_remove_session(rig.store, "s1", &rig.err), 0);
    assert_int_equal(cbx_store_remove_session(rig.store, "s1", &rig.err), CBX_ENOTFOUND);
    assert_int_equal(cbx_store_add_session(rig.store, "ann", "s2", "2026-01-01T00:00:01", "default",
                                           options, &rig.err),
                     0);
    reopen(&rig, 10);
    assert_int_equal(cbx_store_get_session(rig.store, NULL, "s2", NULL, NULL, &rig.err), 0);
    CBX_AUTO_JSON list = NULL;
    assert_int_equal(cbx_store_list_sessions(rig.store, NULL, &list, &rig.err), 0);
    assert_int_equal(json_array_size(list), 1);
    end(&rig);
}

static void add_of(struct rig *rig, const char *principal, const char *id)
{
    struct cbx_stored_execution e = { .principal = principal,
                                      .id = id,
                                      .session = "s",
                                      .created_at = "2026-01-01T00:00:01",
                                      .decision = "d",
                                      .language = "ipython",
                                      .code = "1",
                                      .kind = CBX_ENTRY_CELL };
    assert_int_equal(cbx_store_add_execution(rig->store, &e, &rig->err), 0);
    complete(rig, id);
}

static size_t count_of(struct rig *rig, const char *principal, char what)
{
    static const struct cbx_store_position first;
    CBX_AUTO_JSON rows = NULL;
    int failed =
        what == 'l' ? cbx_store_list_sessions(rig->store, principal, &rows, &rig->err)
        : what == 'p'
            ? cbx_store_page_sessions(rig->store, principal, &first, 99, &rows, &rig->err)
            : cbx_store_page_history(rig->store, principal, "s", &first, 99, &rows, &rig->err);
    assert_int_equal(failed, 0);
    return json_array_size(rows);
}

static void rows_of_another_principal_do_not_exist(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    static const char *const principals[] = { "ann", "bob" };
    CBX_AUTO_JSON options = json_object();
    struct cbx_stored_key key = { .request = "r",
                                  .id = "e-ann",
                                  .created_at = "2026-01-01T00:00:01" },
                          other = key;
    add_of(&rig, "ann", "e-ann");
    add_of(&rig, "bob", "e-bob");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(cbx_store_add_session(rig.store, principals[i], i == 0 ? "s-ann" : "s-bob",
                                               "2026-01-01T00:00:01", "p", options, &rig.err),
                         0);
    }
    for (size_t i = 0; i < 2; i++) {
        const char *own = principals[i];
        CBX_AUTO_JSON found = NULL;
        assert_int_equal(
            cbx_store_get_execution(rig.store, own, i == 0 ? "e-ann" : "e-bob", &found, &rig.err),
            0);
        json_t *none = NULL;
        assert_int_equal(
            cbx_store_get_execution(rig.store, own, i == 0 ? "e-bob" : "e-ann", &none, &rig.err),
            CBX_ENOTFOUND);
        assert_int_equal(
            cbx_store_get_session(rig.store, own, i == 0 ? "s-ann" : "s-bob", NULL, NULL, &rig.err),
            0);
        assert_int_equal(
            cbx_store_get_session(rig.store, own, i == 0 ? "s-bob" : "s-ann", NULL, NULL, &rig.err),
            CBX_ENOTFOUND);
        size_t sessions = 99;
        assert_int_equal(cbx_store_count_sessions(rig.store, own, &sessions, &rig.err), 0);
        assert_int_equal(sessions, 1);
        assert_int_equal(count_of(&rig, own, 'l'), 1);
        assert_int_equal(count_of(&rig, own, 'p'), 1);
        assert_int_equal(count_of(&rig, own, 'h'), 1);
    }
    assert_int_equal(count_of(&rig, NULL, 'l'), 2); /* the gateway's own work */
    assert_int_equal(cbx_store_take_key(rig.store, "ann", "k", "2020", &key, &rig.err), 0);
    assert_int_equal(cbx_store_take_key(rig.store, "bob", "k", "2020", &other, &rig.err),
                     0); /* a key of its own */
    assert_int_equal(cbx_store_take_key(rig.store, "ann", "k", "2020", &key, &rig.err), CBX_ESTATE);
    end(&rig);
}

static void pages_are_in_the_order_of_bytes(void **state)
{
    (void)state;
    static const char *const ids[] = { "B", "Z-1", "a", "z", "\xc3\xa4" };
    enum { IDS = sizeof(ids) / sizeof(ids[0]) };
    struct rig rig;
    begin(&rig, 10);
    CBX_AUTO_JSON options = json_object();
    for (int i = IDS - 1; i >= 0; i--) {
        assert_int_equal(
            cbx_store_add_session(rig.store, "ann", ids[i], "2026", "p", options, &rig.err), 0);
    }
    struct cbx_store_position after = { 0 };
    for (int i = 0; i < IDS; i++) {
        CBX_AUTO_JSON page = NULL;
        assert_int_equal(cbx_store_page_sessions(rig.store, "ann", &after, 1, &page, &rig.err), 0);
        assert_string_equal(json_string_value(json_object_get(json_array_get(page, 0), "id")),
                            ids[i]);
        snprintf(after.created_at, sizeof(after.created_at), "2026");
        snprintf(after.key, sizeof(after.key), "%s", ids[i]);
    }
    end(&rig);
}

/* A position comes from a client. */
static void a_position_that_is_no_number_is_before_the_first(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        size_t count;
    } positions[] = { { "", 1 },
                      { "x", 1 },
                      { "1x", 0 },
                      { "99999999999999999999", 0 },
                      { "-99999999999999999999", 1 } };
    struct rig rig;
    begin(&rig, 10);
    add(&rig, "e", "2026");
    for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++) {
        CBX_AUTO_JSON page = NULL;
        struct cbx_store_position after = { .created_at = "2026" };
        snprintf(after.key, sizeof(after.key), "%s", positions[i].key);
        assert_int_equal(cbx_store_page_history(rig.store, NULL, "s", &after, 9, &page, &rig.err),
                         0);
        assert_int_equal(json_array_size(page), positions[i].count);
    }
    end(&rig);
}

static void takes_texts_as_texts(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 10);
    static const char *const ids[] = { "'; DROP TABLE executions; --", "" };
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        add(&rig, ids[i], "2026-01-01T00:00:01");
        assert_status(&rig, ids[i], "running");
    }
    end(&rig);
}

struct worker {
    struct rig *rig;
    int number, wrong;
};

static void *add_many(void *context)
{
    struct worker *w = context;
    for (int i = 0; i < 30; i++) {
        char id[16];
        CBX_AUTO_JSON found = NULL;
        snprintf(id, sizeof(id), "%d-%d", w->number, i);
        struct cbx_stored_execution e = { .id = id,
                                          .session = "s",
                                          .created_at = "2026-01-01T00:00:01",
                                          .decision = "d",
                                          .language = "ipython",
                                          .code = "1" };
        w->wrong += cbx_store_add_execution(w->rig->store, &e, NULL) != 0 ||
                    cbx_store_set_execution(w->rig->store, id, "completed", "2026-01-01T00:00:02",
                                            NULL, NULL) != 0 ||
                    cbx_store_get_execution(w->rig->store, NULL, id, &found, NULL) != 0 ||
                    strcmp(json_string_value(json_object_get(found, "request_id")), id) != 0;
    }
    return NULL;
}

static void serves_many_threads(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    struct rig rig;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    begin(&rig, 1000);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .rig = &rig, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    end(&rig);
}

static void remembers_which_runs_began_and_by_which_record(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 100);
    add(&rig, FIRST, "2026-01-01T00:00:01");
    add(&rig, SECOND, "2026-01-01T00:00:02");
    assert_int_equal(cbx_store_begin_execution(rig.store, SECOND, 77, &rig.err), 0);
    reopen(&rig, 100);
    CBX_AUTO_JSON rows = running(&rig);
    assert_row(rows, 0, "0", "0");
    assert_row(rows, 1, "1", "77");
    reopen(&rig, 100);
    CBX_AUTO_JSON again = running(&rig);
    assert_row(again, 1, "1", "77");
    end(&rig);
}

static void add_entry(struct rig *rig, const char *id, enum cbx_entry_kind kind, int64_t turn)
{
    struct cbx_stored_execution e = { .id = id,
                                      .session = "s",
                                      .created_at = "2026-01-01T00:00:01",
                                      .decision = "",
                                      .language = "python",
                                      .code = id,
                                      .kind = kind,
                                      .name = kind == CBX_ENTRY_FILE ? "a.py" : "",
                                      .turn = turn };
    assert_int_equal(cbx_store_add_execution(rig->store, &e, &rig->err), 0);
}

static void assert_past(struct rig *rig, int64_t after, int64_t before, const char *expected)
{
    CBX_AUTO_JSON page = NULL;
    CBX_AUTO_DONE(buf) codes;
    size_t i;
    const json_t *row;
    cbx_buf_init(&codes, 1024);
    assert_int_equal(cbx_store_page_past(rig->store, "s", after, before, 100, &page, &rig->err), 0);
    json_array_foreach(page, i, row)
    {
        cbx_buf_printf(&codes, "%.1s%s ", json_string_value(json_object_get(row, "code")),
                       json_string_value(json_object_get(row, "kind")));
    }
    assert_string_equal(codes.p, expected);
}

/* In the order of acceptance, whatever the order of insertion; executions that ended without having
 * begun had no effect. */
static void the_past_of_a_session_is_what_began_or_may_begin(void **state)
{
    (void)state;
    struct rig rig;
    static const char a[] = "a0000000-0000-4000-8000-000000000000",
                      b[] = "b0000000-0000-4000-8000-000000000000",
                      c[] = "c0000000-0000-4000-8000-000000000000",
                      d[] = "d0000000-0000-4000-8000-000000000000";
    begin(&rig, 100);
    assert_int_equal(cbx_store_last_turn(rig.store), 0);
    add_entry(&rig, b, CBX_ENTRY_FILE, 2);
    add_entry(&rig, a, CBX_ENTRY_CELL, 1);
    add_entry(&rig, d, CBX_ENTRY_RESET, 4);
    add_entry(&rig, c, CBX_ENTRY_CELL, 3);
    assert_past(&rig, 0, 100, "a1 b2 c1 d3 ");
    assert_past(&rig, 1, 4, "b2 c1 ");
    assert_int_equal(cbx_store_begin_execution(rig.store, a, 1, &rig.err), 0);
    for (int i = 0; i < 3; i++) {
        static const char *const ended[] = { a, b, c };
        assert_int_equal(cbx_store_set_execution(rig.store, ended[i], "error",
                                                 "2026-01-01T00:00:02", NULL, &rig.err),
                         0);
    }
    assert_past(&rig, 0, 100, "a1 d3 ");
    reopen(&rig, 100);
    assert_past(&rig, 0, 100, "a1 d3 ");
    assert_int_equal(cbx_store_last_turn(rig.store), 4);
    end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_packages_survive_a_restart_and_the_newest_stay),
        cmocka_unit_test(a_stored_set_that_is_too_large_is_refused),
        cmocka_unit_test(gives_back_what_it_took_also_after_a_restart),
        cmocka_unit_test(lists_what_had_not_ended_and_what_ran_in_a_session),
        cmocka_unit_test(keeps_the_newest_and_whatever_has_not_ended),
        cmocka_unit_test(keeps_the_code_of_an_open_session),
        cmocka_unit_test(keeps_sessions_over_a_restart),
        cmocka_unit_test(rows_of_another_principal_do_not_exist),
        cmocka_unit_test(pages_are_in_the_order_of_bytes),
        cmocka_unit_test(a_position_that_is_no_number_is_before_the_first),
        cmocka_unit_test(takes_texts_as_texts),
        cmocka_unit_test(serves_many_threads),
        cmocka_unit_test(remembers_which_runs_began_and_by_which_record),
        cmocka_unit_test(the_past_of_a_session_is_what_began_or_may_begin),
    };
    return run_with_both(tests);
}
