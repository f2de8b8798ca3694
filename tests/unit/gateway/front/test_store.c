/* SPDX-License-Identifier: MIT
 * What is in the database survives a restart; what did not end before it is an error after it. */
#include "gateway/front/store.h"
#include "tests/unit/gateway/scratch.h"

#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>

struct rig {
    struct scratch scratch;
    struct cbx_store *store;
    struct cbx_err err;
};

static void reopen_limited(struct rig *rig, struct cbx_store_limits limits)
{
    cbx_store_free(rig->store);
    rig->store = NULL;
    if (cbx_store_open(rig->scratch.path, &limits, &rig->store, &rig->err) != 0) {
        fail_msg("%s", rig->err.text);
    }
}

static void reopen(struct rig *rig, int keep)
{
    reopen_limited(rig, (struct cbx_store_limits){ .executions = keep });
}

static void begin(struct rig *rig, int keep)
{
    *rig = (struct rig){ 0 };
    scratch_make(&rig->scratch);
    reopen(rig, keep);
}

static void end(struct rig *rig)
{
    cbx_store_free(rig->store);
    scratch_remove(&rig->scratch);
}

static void add(struct rig *rig, const char *id, const char *created_at)
{
    struct cbx_stored_execution e = { .id = id,
                                      .session = "s",
                                      .created_at = created_at,
                                      .decision = "d",
                                      .language = "ipython",
                                      .code = "1" };
    assert_int_equal(cbx_store_add_execution(rig->store, &e, &rig->err), 0);
}

static void complete(struct rig *rig, const char *id)
{
    CBX_AUTO_JSON results = json_pack("{s:s%}", "text", "a\0\xc3\xa9", (size_t)4);
    assert_int_equal(cbx_store_set_execution(rig->store, id, "completed", "2026-01-01T00:00:09",
                                             results, &rig->err),
                     0);
}

static void assert_status(struct rig *rig, const char *id, const char *status)
{
    CBX_AUTO_JSON found = NULL;
    if (cbx_store_get_execution(rig->store, NULL, id, &found, &rig->err) != 0) {
        fail_msg("%s: %s", id, rig->err.text);
    }
    assert_string_equal(json_string_value(json_object_get(found, "status")), status);
}

/* Results were there, and were dropped. */
static void assert_dropped(struct rig *rig, const char *id, bool dropped)
{
    CBX_AUTO_JSON found = NULL;
    if (cbx_store_get_execution(rig->store, NULL, id, &found, &rig->err) != 0) {
        fail_msg("%s: %s", id, rig->err.text);
    }
    if (json_is_true(json_object_get(found, "dropped")) != dropped ||
        json_is_object(json_object_get(found, "results")) == dropped) {
        fail_msg("%s: dropped is not %d", id, dropped);
    }
}

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
    json_decref(cbx_steal(&history)); /* nothing needs the code of a closed session */
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

static int64_t ask_number(struct rig *rig, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/codebox.db", rig->scratch.path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return number;
}

/* With the store closed. */
static void assert_sizes_are_true(struct rig *rig)
{
    assert_int_equal(
        ask_number(rig, "SELECT count(*) FROM executions e LEFT JOIN sizes s ON s.id=e.rowid WHERE"
                        " coalesce(s.code, 0)<>length(e.code) OR"
                        " coalesce(s.results, 0)<>coalesce(length(e.results), 0)"),
        0);
    assert_int_equal(ask_number(rig, "SELECT count(*) FROM sizes WHERE id NOT IN"
                                     " (SELECT rowid FROM executions)"),
                     0);
}

/* The tables as the first version made them, with one row. */
static void rows_of_the_first_version_are_kept(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    sqlite3 *db;
    char path[PATH_MAX];
    scratch_make(&rig.scratch);
    snprintf(path, sizeof(path), "%s/codebox.db", rig.scratch.path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "CREATE TABLE executions(id TEXT PRIMARY KEY, session TEXT NOT NULL, status "
                     "TEXT NOT NULL, created_at TEXT NOT NULL, completed_at TEXT, results TEXT);"
                     "INSERT INTO executions VALUES('old','s','completed','2026','2026','{}')",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    for (int opened = 0; opened < 2; opened++) {
        reopen(&rig, 10);
        assert_status(&rig, "old", "completed");
    }
    add(&rig, "new", "2027");
    assert_status(&rig, "new", "running");
    cbx_store_free(cbx_steal(&rig.store));
    assert_sizes_are_true(&rig);
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

static void refuses_what_is_no_database(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_store *store = NULL;
    struct cbx_err err;
    scratch_make(&s);
    CBX_AUTO_DONE(buf) noise;
    cbx_buf_init(&noise, 1 << 16);
    for (int i = 0; i < 1000; i++) {
        cbx_buf_add_cstr(&noise, "this is not a database ");
    }
    scratch_write(s.path, "codebox.db", cbx_buf_str(&noise));
    assert_int_equal(cbx_store_open(s.path, NULL, &store, &err), CBX_EIO);
    assert_null(store);
    scratch_remove(&s);
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

static json_t *running(struct rig *rig)
{
    json_t *rows = NULL;
    assert_int_equal(cbx_store_list_running(rig->store, &rows, &rig->err), 0);
    return rows;
}

static void assert_row(const json_t *rows, size_t i, const char *begun, const char *audit_seq)
{
    const json_t *row = json_array_get(rows, i);
    assert_string_equal(json_string_value(json_object_get(row, "begun")), begun);
    assert_string_equal(json_string_value(json_object_get(row, "audit_seq")), audit_seq);
}

#define FIRST  "00000000-0000-4000-8000-000000000001"
#define SECOND "00000000-0000-4000-8000-000000000002"

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

static void a_torn_or_foreign_line_costs_no_other_run_its_beginning(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 100);
    add(&rig, FIRST, "2026-01-01T00:00:01");
    add(&rig, SECOND, "2026-01-01T00:00:02");
    cbx_store_free(rig.store);
    rig.store = NULL;
    scratch_write(rig.scratch.path, "codebox.begun",
                  CBX_STR("garbage\n" SECOND " 5\n../../etc/passwd 1\n" FIRST " 1"));
    reopen(&rig, 100);
    CBX_AUTO_JSON rows = running(&rig);
    assert_row(rows, 0, "0", "0");
    assert_row(rows, 1, "1", "5");
    end(&rig);
}

static void many_that_began_become_rows_while_it_is_open(void **state)
{
    (void)state;
    struct rig rig;
    CBX_AUTO_DONE(buf) lines;
    begin(&rig, 100);
    add(&rig, FIRST, "2026-01-01T00:00:01");
    for (int i = 1; i <= 10000; i++) {
        assert_int_equal(cbx_store_begin_execution(rig.store, FIRST, (uint64_t)i, &rig.err), 0);
    }
    scratch_read(rig.scratch.path, "codebox.begun", &lines);
    assert_true(lines.len < 300 * 1024);
    reopen(&rig, 100);
    CBX_AUTO_JSON rows = running(&rig);
    assert_row(rows, 0, "1", "10000");
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

/* In the order of acceptance, whatever the order of insertion; what ended without having begun had no
 * effect. */
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

/* --- quotas ----------------------------------------------------------------------------------- */

enum { KIB = 1024 };

static const char *owner; /* of what try_add adds */

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

/* Each has results or was dropped; the dropped ones are the first. Returns how many have results. */
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
    run_many(&rig, "shot", "", 30, 10 * KIB); /* one-shots are no session */
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
    assert_in_range(assert_oldest_dropped(&rig, "c", 20), 5, 10); /* as many as eve has */
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
                     0); /* what runs ends */
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

/* At any time: an execution has its results, or it is known that they were dropped, or it runs. */
static void a_kill_while_results_are_dropped_leaves_the_store_whole(void **state)
{
    (void)state;
    struct cbx_store_limits limits = { .store_bytes = 100 * KIB, .short_bytes = 1 };
    for (int round = 0; round < 5; round++) {
        struct rig rig = { 0 };
        int ends[2];
        char byte;
        scratch_make(&rig.scratch);
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
        assert_int_equal(ask_number(&rig, "SELECT count(*) FROM executions WHERE status='completed'"
                                          " AND (results IS NULL)<>dropped"),
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
        cmocka_unit_test(gives_back_what_it_took_also_after_a_restart),
        cmocka_unit_test(lists_what_had_not_ended_and_what_ran_in_a_session),
        cmocka_unit_test(keeps_the_newest_and_whatever_has_not_ended),
        cmocka_unit_test(keeps_the_code_of_an_open_session),
        cmocka_unit_test(rows_of_the_first_version_are_kept),
        cmocka_unit_test(keeps_sessions_over_a_restart),
        cmocka_unit_test(takes_texts_as_texts),
        cmocka_unit_test(refuses_what_is_no_database),
        cmocka_unit_test(serves_many_threads),
        cmocka_unit_test(remembers_which_runs_began_and_by_which_record),
        cmocka_unit_test(a_torn_or_foreign_line_costs_no_other_run_its_beginning),
        cmocka_unit_test(many_that_began_become_rows_while_it_is_open),
        cmocka_unit_test(the_past_of_a_session_is_what_began_or_may_begin),
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
    return cmocka_run_group_tests(tests, NULL, NULL);
}
