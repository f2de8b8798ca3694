/* SPDX-License-Identifier: MIT
 * Shared by the tests of the store: a store in its own folder, which can be opened again, and the
 * contents of its rows. The same tests run with PostgreSQL: there it has its own database too. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_STORE_RIG_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_STORE_RIG_H

#include "gateway/database/database.h"
#include "gateway/front/store/store.h"
#include "tests/unit/gateway/front/postgres_rig.h"

#include <limits.h>
#include <sqlite3.h>

static struct cluster *rig_cluster; /* NULL = SQLite */

struct rig {
    struct scratch scratch;
    char database[16];
    struct cbx_store *store;
    struct cbx_err err;
};

/* The store is not open yet. */
static inline void begin_closed(struct rig *rig)
{
    *rig = (struct rig){ 0 };
    scratch_make(&rig->scratch);
    if (rig_cluster != NULL) {
        cluster_add_database(rig_cluster, rig->database);
    }
}

/* A store over a connection of this process. */
static inline int open_url(const char *url, const char *replica, const char *folder,
                           const struct cbx_store_limits *limits, struct cbx_store **out,
                           struct cbx_err *err)
{
    struct cbx_database *database = NULL;
    int failed = cbx_database_open_postgres(url, replica, &database, err);
    if (failed) {
        return failed;
    }
    return cbx_store_open_shared(database, replica, folder, limits, out, err);
}

static inline int try_open(struct rig *rig, const char *replica, struct cbx_store_limits limits,
                           struct cbx_store **out)
{
    if (rig_cluster == NULL) {
        return cbx_store_open(rig->scratch.path, &limits, out, &rig->err);
    }
    struct cluster_url url = cluster_url(rig_cluster, rig->database);
    const char *folder = replica[0] == '\0' ? rig->scratch.path : NULL; /* it is for one store */
    return open_url(url.text, replica, folder, &limits, out, &rig->err);
}

static inline void reopen_limited(struct rig *rig, struct cbx_store_limits limits)
{
    cbx_store_free(rig->store);
    rig->store = NULL;
    if (try_open(rig, "", limits, &rig->store) != 0) {
        fail_msg("%s", rig->err.text);
    }
}

static inline void reopen(struct rig *rig, int keep)
{
    reopen_limited(rig, (struct cbx_store_limits){ .executions = keep });
}

static inline void begin(struct rig *rig, int keep)
{
    begin_closed(rig);
    reopen(rig, keep);
}

static inline void end(struct rig *rig)
{
    cbx_store_free(rig->store);
    scratch_remove(&rig->scratch);
}

static inline void add(struct rig *rig, const char *id, const char *created_at)
{
    struct cbx_stored_execution e = { .id = id,
                                      .session = "s",
                                      .created_at = created_at,
                                      .decision = "d",
                                      .language = "ipython",
                                      .code = "1" };
    assert_int_equal(cbx_store_add_execution(rig->store, &e, &rig->err), 0);
}

static inline void complete(struct rig *rig, const char *id)
{
    CBX_AUTO_JSON results = json_pack("{s:s%}", "text", "a\0\xc3\xa9", (size_t)4);
    assert_int_equal(cbx_store_set_execution(rig->store, id, "completed", "2026-01-01T00:00:09",
                                             results, &rig->err),
                     0);
}

static inline void assert_status(struct rig *rig, const char *id, const char *status)
{
    CBX_AUTO_JSON found = NULL;
    if (cbx_store_get_execution(rig->store, NULL, id, &found, &rig->err) != 0) {
        fail_msg("%s: %s", id, rig->err.text);
    }
    assert_string_equal(json_string_value(json_object_get(found, "status")), status);
}

/* Results were there, and were dropped. */
static inline void assert_dropped(struct rig *rig, const char *id, bool dropped)
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

static inline int64_t ask_number(struct rig *rig, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    char path[PATH_MAX];
    if (rig_cluster != NULL) {
        return cluster_ask(rig_cluster, rig->database, sql);
    }
    snprintf(path, sizeof(path), "%s/codebox.db", rig->scratch.path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return number;
}

/* Call it with the store closed. */
static inline void assert_sizes_are_true(struct rig *rig)
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

static inline json_t *running(struct rig *rig)
{
    json_t *rows = NULL;
    assert_int_equal(cbx_store_list_running(rig->store, &rows, &rig->err), 0);
    return rows;
}

#define FIRST  "00000000-0000-4000-8000-000000000001"
#define SECOND "00000000-0000-4000-8000-000000000002"

static inline void assert_row(const json_t *rows, size_t i, const char *begun,
                              const char *audit_seq)
{
    const json_t *row = json_array_get(rows, i);
    assert_string_equal(json_string_value(json_object_get(row, "begun")), begun);
    assert_string_equal(json_string_value(json_object_get(row, "audit_seq")), audit_seq);
}

/* Runs the tests with SQLite, and with PostgreSQL if it is installed. */
#define run_with_both(tests)                                                                       \
    __extension__({                                                                                \
        struct cluster cluster_;                                                                   \
        int failed_ = cmocka_run_group_tests_name("with SQLite", tests, NULL, NULL);               \
        if (cluster_begin(&cluster_)) {                                                            \
            rig_cluster = &cluster_;                                                               \
            failed_ += cmocka_run_group_tests_name("with PostgreSQL", tests, NULL, NULL);          \
            rig_cluster = NULL;                                                                    \
            cluster_end(&cluster_);                                                                \
        }                                                                                          \
        failed_;                                                                                   \
    })

#endif
