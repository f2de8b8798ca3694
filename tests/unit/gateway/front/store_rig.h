/* SPDX-License-Identifier: MIT
 * Shared by the tests of the store: a store in its own folder, which can be opened again, and the
 * contents of its rows. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_STORE_RIG_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_STORE_RIG_H

#include "gateway/front/store/store.h"
#include "tests/unit/gateway/scratch.h"

#include <limits.h>
#include <sqlite3.h>

struct rig {
    struct scratch scratch;
    struct cbx_store *store;
    struct cbx_err err;
};

static inline void reopen_limited(struct rig *rig, struct cbx_store_limits limits)
{
    cbx_store_free(rig->store);
    rig->store = NULL;
    if (cbx_store_open(rig->scratch.path, &limits, &rig->store, &rig->err) != 0) {
        fail_msg("%s", rig->err.text);
    }
}

static inline void reopen(struct rig *rig, int keep)
{
    reopen_limited(rig, (struct cbx_store_limits){ .executions = keep });
}

static inline void begin(struct rig *rig, int keep)
{
    *rig = (struct rig){ 0 };
    scratch_make(&rig->scratch);
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

#endif
