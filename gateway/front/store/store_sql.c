/* SPDX-License-Identifier: MIT
 * Statements of the store: prepared once, run under its lock. */
#include "gateway/front/store/store_internal.h"

#include <stdlib.h>

int cbx_store_fail(struct cbx_store *store, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "the database of the state directory: %s",
                    sqlite3_errmsg(store->db));
}

bool cbx_store_run(struct cbx_store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static sqlite3_stmt *find_prepared(struct cbx_store *store, const char *sql)
{
    size_t i = 0;
    while (i < CBX_STORE_STATEMENTS && store->prepared[i].sql != NULL &&
           store->prepared[i].sql != sql) {
        i++;
    }
    if (i == CBX_STORE_STATEMENTS) {
        abort(); /* one literal more than the table has places */
    }
    if (store->prepared[i].sql == NULL &&
        sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                           &store->prepared[i].statement, NULL) == SQLITE_OK) {
        store->prepared[i].sql = sql;
    }
    return store->prepared[i].statement;
}

sqlite3_stmt *cbx_store_prepare(struct cbx_store *store, const char *sql, const char *const *texts,
                                int count)
{
    sqlite3_stmt *statement = find_prepared(store, sql);
    if (statement == NULL) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (texts[i] != NULL) {
            sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
        }
    }
    return statement;
}

void cbx_store_release(sqlite3_stmt *statement)
{
    if (statement != NULL) {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
    }
}

int cbx_store_execute_locked(struct cbx_store *store, const char *sql, const char *const *texts,
                             int count, int *changed, struct cbx_err *err)
{
    sqlite3_stmt *statement = cbx_store_prepare(store, sql, texts, count);
    int failed = 0;
    if (statement == NULL || sqlite3_step(statement) != SQLITE_DONE) {
        failed = cbx_store_fail(store, err);
    }
    if (changed != NULL) {
        *changed = sqlite3_changes(store->db);
    }
    snprintf(store->failure, sizeof(store->failure), "%s", failed ? sqlite3_errmsg(store->db) : "");
    cbx_store_release(statement);
    return failed;
}

int cbx_store_execute(struct cbx_store *store, const char *sql, const char *const *texts, int count,
                      int *changed, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    int failed = cbx_store_execute_locked(store, sql, texts, count, changed, err);
    pthread_mutex_unlock(&store->lock);
    return failed;
}
