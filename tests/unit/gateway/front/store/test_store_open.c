/* SPDX-License-Identifier: MIT
 * The files of a store in SQLite: other files than those of a store, tables of older versions, and
 * the list of runs that began. */
#include "tests/unit/gateway/front/store_rig.h"

#include <dirent.h>
#include <sys/stat.h>

static void assert_try(const char *folder, int code, bool is_busy)
{
    bool busy;
    struct cbx_err err = { 0 };
    int failed = cbx_store_try(folder, &busy, &err);
    if (failed != code || busy != is_busy) {
        fail_msg("%s: %d, %s, %s", folder, failed, busy ? "busy" : "free", err.text);
    }
}

static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static void a_try_finds_what_could_not_be_opened_and_changes_nothing(void **state)
{
    (void)state;
    struct rig rig;
    char none[PATH_MAX];
    begin(&rig, 10);
    assert_try(rig.scratch.path, 0, true); /* the store is open */
    cbx_store_free(rig.store);
    rig.store = NULL;
    size_t files = count_files(rig.scratch.path);
    assert_try(rig.scratch.path, 0, false);
    assert_int_equal(count_files(rig.scratch.path), files);
    scratch_write(rig.scratch.path, "codebox.db", CBX_STR("this is no database, and long enough"));
    assert_try(rig.scratch.path, CBX_EIO, false);
    snprintf(none, sizeof(none), "%s/codebox.db", rig.scratch.path);
    assert_int_equal(unlink(none), 0);
    assert_int_equal(mkfifo(none, 0600), 0);
    assert_try(rig.scratch.path, CBX_EIO, false);
    assert_int_equal(unlink(none), 0);
    assert_try(rig.scratch.path, 0, false);
    snprintf(none, sizeof(none), "%s/none", rig.scratch.path);
    assert_try(none, 0, false);
    assert_int_equal(access(none, F_OK), -1);
    end(&rig);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_try_finds_what_could_not_be_opened_and_changes_nothing),
        cmocka_unit_test(rows_of_the_first_version_are_kept),
        cmocka_unit_test(refuses_what_is_no_database),
        cmocka_unit_test(a_torn_or_foreign_line_costs_no_other_run_its_beginning),
        cmocka_unit_test(many_that_began_become_rows_while_it_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
