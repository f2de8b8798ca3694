/* SPDX-License-Identifier: MIT
 * Quotas of the store: data that is dropped for space, and refusals. */
#include "tests/unit/gateway/front/store_rig.h"

enum { KIB = 1024 };

static const char *owner; /* owner of the executions of try_add */

static int try_add(struct rig *rig, const char *id, const char *session, size_t code_bytes)
{
    CBX_AUTO_MEM char *code = calloc(1, code_bytes + 1);
    memset(code, 'c', code_bytes);
    struct cbx_stored_execution e = { .principal = owner,
                                      .id = id,
                                      .session = session,
                                      .created_at = "2026-01-01T00:00:01",
                                      .decision = "d",
                                      .language = "ipython",
                                      .code = code };
    return cbx_store_add_execution(rig->store, &e, &rig->err);
}

static int try_complete(struct rig *rig, const char *id, size_t bytes)
{
    CBX_AUTO_MEM char *text = calloc(1, bytes + 1);
    memset(text, 'r', bytes);
    CBX_AUTO_JSON results = json_pack("{s:s}", "text", text);
    return cbx_store_set_execution(rig->store, id, "completed", "2026-01-01T00:00:09", results,
                                   &rig->err);
}

static const char *name_of(const char *prefix, int i)
{
    static char names[4][32];
    static int next;
    next = (next + 1) % 4;
    snprintf(names[next], sizeof(names[next]), "%s%d", prefix, i);
    return names[next];
}

static void run_many(struct rig *rig, const char *prefix, const char *session, int count,
                     size_t result_bytes)
{
    for (int i = 0; i < count; i++) {
        const char *id = name_of(prefix, i);
        assert_int_equal(try_add(rig, id, session, 100), 0);
        assert_int_equal(try_complete(rig, id, result_bytes), 0);
    }
}

static void open_session(struct rig *rig, const char *id)
{
    CBX_AUTO_JSON options = json_object();
    assert_int_equal(
        cbx_store_add_session(rig->store, "ann", id, "2026", "default", options, &rig->err), 0);
}

/* Each has results or was dropped; the dropped ones are the first. Returns how many have
 * results. */
static int assert_oldest_dropped(struct rig *rig, const char *prefix, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        CBX_AUTO_JSON found = NULL;
        assert_int_equal(
            cbx_store_get_execution(rig->store, NULL, name_of(prefix, i), &found, &rig->err), 0);
        bool has = json_is_object(json_object_get(found, "results"));
        assert_int_not_equal(json_is_true(json_object_get(found, "dropped")), has);
        assert_true(has || kept == 0);
        kept += has;
        assert_string_equal(json_string_value(json_object_get(found, "status")), "completed");
    }
    return kept;
}

static void the_oldest_results_of_a_session_make_room_for_its_newer_ones(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 1000);
    reopen_limited(&rig, (struct cbx_store_limits){ .session_bytes = 100 * KIB, .short_bytes = 1 });
    open_session(&rig, "s");
    open_session(&rig, "t");
    run_many(&rig, "other", "t", 4, 10 * KIB);
    run_many(&rig, "shot", "", 30, 10 * KIB); /* one-shots count for no session */
    run_many(&rig, "own", "s", 30, 10 * KIB);
    int kept = assert_oldest_dropped(&rig, "own", 30);
    assert_in_range(kept, 7, 9);
    assert_int_equal(assert_oldest_dropped(&rig, "other", 4), 4);
    assert_int_equal(assert_oldest_dropped(&rig, "shot", 30), 30);
    end(&rig);
}

static void the_oldest_results_of_all_make_room_for_newer_ones(void **state)
{
    (void)state;
    struct rig rig;
    struct cbx_store_limits limits = { .store_bytes = 100 * KIB, .short_bytes = 1 };
    begin(&rig, 1000);
    reopen_limited(&rig, limits);
    run_many(&rig, "a", "s", 6, 10 * KIB);
    reopen_limited(&rig, limits); /* what is there is counted */
    run_many(&rig, "b", "", 6, 10 * KIB);
    assert_in_range(assert_oldest_dropped(&rig, "a", 6), 0, 3);
    assert_int_equal(assert_oldest_dropped(&rig, "b", 6), 6);
    end(&rig);
}

static void run_many_of(struct rig *rig, const char *principal, const char *prefix, int count)
{
    owner = principal;
    run_many(rig, prefix, "", count, 10 * KIB);
    owner = NULL;
}

static void results_of_the_principal_that_stores_most_are_dropped_first(void **state)
{
    (void)state;
    struct rig rig;
    struct cbx_store_limits limits = { .store_bytes = 200 * KIB, .short_bytes = 1 };
    begin(&rig, 1000);
    reopen_limited(&rig, limits);
    run_many_of(&rig, "ann", "a", 4); /* the oldest */
    run_many_of(&rig, "bob", "b", 60);
    reopen_limited(&rig, limits); /* what is there is counted by principal too */
    run_many_of(&rig, "bob", "c", 20);
    assert_int_equal(assert_oldest_dropped(&rig, "a", 4), 4);
    assert_int_equal(assert_oldest_dropped(&rig, "b", 60), 0);
    run_many_of(&rig, "eve", "e", 30);
    assert_int_equal(assert_oldest_dropped(&rig, "a", 4), 4);
    assert_in_range(assert_oldest_dropped(&rig, "c", 20), 5, 10); /* as many as of eve */
    assert_in_range(assert_oldest_dropped(&rig, "e", 30), 5, 10);
    end(&rig);
}

static void a_principal_has_a_quota_of_its_own(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 1000);
    reopen_limited(&rig, (struct cbx_store_limits){ .principal_bytes = 100 * KIB,
                                                    .store_bytes = 1000 * KIB,
                                                    .short_bytes = 1 });
    run_many_of(&rig, "ann", "a", 5);
    run_many_of(&rig, "bob", "b", 40);
    assert_int_equal(assert_oldest_dropped(&rig, "a", 5), 5);
    assert_in_range(assert_oldest_dropped(&rig, "b", 40), 7, 9);
    /* Code of open sessions cannot be dropped: more of it is refused to this principal alone. */
    open_session(&rig, "s");
    open_session(&rig, "t");
    owner = "bob";
    assert_int_equal(try_add(&rig, "s0", "s", 90 * KIB), 0);
    assert_int_equal(try_add(&rig, "s1", "s", 20 * KIB), CBX_EBUSY);
    assert_non_null(strstr(rig.err.text, "your open sessions"));
    owner = "ann";
    assert_int_equal(try_add(&rig, "t0", "t", 30 * KIB), 0);
    owner = NULL;
    end(&rig);
}

static void each_principal_keeps_its_newest_results(void **state)
{
    (void)state;
    struct rig rig;
    struct cbx_store_limits limits = { .executions = 10, .short_bytes = 1 };
    begin(&rig, 1000);
    reopen_limited(&rig, limits);
    run_many_of(&rig, "ann", "a", 3);
    run_many_of(&rig, "bob", "b", 40);
    reopen_limited(&rig, limits); /* the counts are limited when the store is opened */
    assert_int_equal(assert_oldest_dropped(&rig, "a", 3), 3);
    assert_int_equal(assert_oldest_dropped(&rig, "b", 40), 10);
    end(&rig);
}

static void what_runs_is_never_dropped(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 1000);
    reopen_limited(&rig, (struct cbx_store_limits){ .store_bytes = 100 * KIB, .short_bytes = 1 });
    assert_int_equal(try_add(&rig, "running", "", 50 * KIB), 0);
    run_many(&rig, "a", "", 30, 10 * KIB);
    CBX_AUTO_JSON rows = running(&rig);
    assert_int_equal(json_array_size(rows), 1);
    assert_int_equal(json_string_length(json_object_get(json_array_get(rows, 0), "code")),
                     50 * KIB);
    assert_int_equal(try_complete(&rig, "running", 10 * KIB), 0);
    assert_dropped(&rig, "running", false);
    end(&rig);
}

static void code_of_an_open_session_is_never_dropped_but_more_of_it_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 1000);
    reopen_limited(
        &rig, (struct cbx_store_limits){ .session_bytes = 100 * KIB, .store_bytes = 150 * KIB });
    open_session(&rig, "s");
    open_session(&rig, "t");
    assert_int_equal(try_add(&rig, "s0", "s", 90 * KIB), 0);
    assert_int_equal(try_complete(&rig, "s0", 100), 0);
    assert_int_equal(try_add(&rig, "s1", "s", 20 * KIB), CBX_ETOOBIG);
    assert_non_null(strstr(rig.err.text, "open a new session"));
    assert_int_equal(try_add(&rig, "t0", "t", 50 * KIB), 0);
    assert_int_equal(try_add(&rig, "t1", "t", 20 * KIB), CBX_EBUSY);
    assert_non_null(strstr(rig.err.text, "close sessions"));
    const struct cbx_store_position start = { 0 };
    CBX_AUTO_JSON history = NULL;
    assert_int_equal(cbx_store_page_history(rig.store, NULL, "s", &start, 9, &history, &rig.err),
                     0);
    assert_int_equal(json_string_length(json_object_get(json_array_get(history, 0), "code")),
                     90 * KIB);
    assert_int_equal(cbx_store_remove_session(rig.store, "s", &rig.err), 0);
    assert_int_equal(try_add(&rig, "t1", "t", 20 * KIB), 0); /* the code of the closed one went */
    end(&rig);
}

static void results_that_are_too_large_are_refused_and_short_ones_never(void **state)
{
    (void)state;
    struct rig rig;
    const char *reason;
    begin(&rig, 1000);
    reopen_limited(&rig, (struct cbx_store_limits){ .execution_bytes = 10 * KIB,
                                                    .store_bytes = 20 * KIB,
                                                    .short_bytes = 2 * KIB });
    open_session(&rig, "s");
    assert_int_equal(cbx_store_result_max(rig.store, &reason), 10 * KIB);
    assert_int_equal(try_add(&rig, "a", "s", 19 * KIB), 0);
    assert_int_equal(try_complete(&rig, "a", 11 * KIB), CBX_ETOOBIG);
    assert_status(&rig, "a", "running");
    assert_int_equal(try_complete(&rig, "a", 9 * KIB), CBX_EBUSY); /* no room beside its code */
    assert_status(&rig, "a", "running");
    assert_int_equal(try_complete(&rig, "a", KIB), 0);
    assert_dropped(&rig, "a", false);
    end(&rig);
}

static void the_last_of_the_file_system_is_left_to_the_audit_log(void **state)
{
    (void)state;
    struct rig rig;
    const char *reason;
    CBX_AUTO_JSON options = json_object();
    begin(&rig, 1000);
    assert_int_equal(try_add(&rig, "a", "", 10), 0);
    assert_int_equal(cbx_store_check(rig.store, &rig.err), 0);
    reopen_limited(&rig, (struct cbx_store_limits){ .free_bytes = INT64_MAX });
    assert_int_equal(try_add(&rig, "b", "", 10), CBX_EBUSY);
    assert_non_null(strstr(rig.err.text, "left to the audit log; free some space"));
    assert_int_equal(
        cbx_store_add_session(rig.store, "ann", "s", "2026", "default", options, &rig.err),
        CBX_EBUSY);
    assert_int_equal(cbx_store_check(rig.store, &rig.err), CBX_EIO);
    assert_int_equal(cbx_store_result_max(rig.store, &reason), 16 * KIB);
    assert_non_null(strstr(reason, "full"));
    assert_int_equal(cbx_store_begin_execution(rig.store, "a", 1, &rig.err),
                     0); /* the running execution ends */
    assert_int_equal(try_complete(&rig, "a", 100), 0);
    assert_status(&rig, "a", "completed");
    end(&rig);
}

static void fill_forever(struct rig *rig, int note)
{
    for (int i = 0;; i++) {
        const char *id = name_of("k", i);
        if (try_add(rig, id, "", 100) != 0 || try_complete(rig, id, 5 * KIB) != 0 ||
            write(note, "", 1) != 1) {
            _exit(1);
        }
    }
}

/* At any time an execution has its results, or is marked as dropped, or runs. */
static void a_kill_while_results_are_dropped_leaves_the_store_whole(void **state)
{
    (void)state;
    struct cbx_store_limits limits = { .store_bytes = 100 * KIB, .short_bytes = 1 };
    for (int round = 0; round < 5; round++) {
        struct rig rig;
        int ends[2];
        char byte;
        begin_closed(&rig);
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) {
            reopen_limited(&rig, limits);
            fill_forever(&rig, ends[1]);
        }
        close(ends[1]);
        for (int i = 0; i < 60 + 7 * round; i++) {
            assert_int_equal(read(ends[0], &byte, 1), 1);
        }
        kill(pid, SIGKILL);
        await_child(pid);
        close(ends[0]);
        reopen_limited(&rig, limits);
        run_many(&rig, "after", "", 3, 5 * KIB);
        assert_int_equal(assert_oldest_dropped(&rig, "after", 3), 3);
        cbx_store_free(cbx_steal(&rig.store));
        assert_sizes_are_true(&rig);
        assert_in_range(ask_number(&rig, "SELECT sum(code + results) FROM sizes"), 1, 101 * KIB);
        assert_int_equal(ask_number(&rig,
                                    "SELECT count(*) FROM executions WHERE status='completed'"
                                    " AND dropped<>CASE WHEN results IS NULL THEN 1 ELSE 0 END"),
                         0);
        end(&rig);
    }
}

static void sizes_are_true_after_all_that_changes_rows(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 1000);
    reopen_limited(&rig, (struct cbx_store_limits){ .executions = 3, .known = 8 });
    open_session(&rig, "s");
    run_many(&rig, "a", "s", 10, 500);
    run_many(&rig, "b", "", 10, 500);
    assert_int_equal(try_complete(&rig, "b9", 700), 0); /* once more */
    assert_int_equal(try_add(&rig, "empty", "", 0), 0);
    assert_int_equal(cbx_store_set_execution(rig.store, "empty", "running", NULL, NULL, &rig.err),
                     0);
    assert_int_equal(try_complete(&rig, "empty", 100), 0);
    for (int i = 0; i < 2; i++) {
        reopen_limited(&rig, (struct cbx_store_limits){ .executions = 3, .known = 8 });
        cbx_store_free(cbx_steal(&rig.store));
        assert_sizes_are_true(&rig);
        reopen(&rig, 3);
        assert_int_equal(i == 0 ? cbx_store_remove_session(rig.store, "s", &rig.err) : 0, 0);
    }
    end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_results_of_a_session_make_room_for_its_newer_ones),
        cmocka_unit_test(the_oldest_results_of_all_make_room_for_newer_ones),
        cmocka_unit_test(results_of_the_principal_that_stores_most_are_dropped_first),
        cmocka_unit_test(a_principal_has_a_quota_of_its_own),
        cmocka_unit_test(each_principal_keeps_its_newest_results),
        cmocka_unit_test(what_runs_is_never_dropped),
        cmocka_unit_test(code_of_an_open_session_is_never_dropped_but_more_of_it_is_refused),
        cmocka_unit_test(results_that_are_too_large_are_refused_and_short_ones_never),
        cmocka_unit_test(the_last_of_the_file_system_is_left_to_the_audit_log),
        cmocka_unit_test(a_kill_while_results_are_dropped_leaves_the_store_whole),
        cmocka_unit_test(sizes_are_true_after_all_that_changes_rows),
    };
    return run_with_both(tests);
}
