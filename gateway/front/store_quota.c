/* SPDX-License-Identifier: MIT
 * Quotas of the store: what is dropped, and when. */
#include "gateway/front/store_internal.h"

#include "policies/base/json.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

/* The row stays, so that its id is known. The code of an open session stays: its next cell is judged
 * with the code of all of them. What runs is never touched; what has ended needs nothing of its row
 * any more, also when the executor does not know yet that its result is stored. */
#define DROP                                                                                       \
    "UPDATE executions SET dropped=(dropped OR results IS NOT NULL), results=NULL,"                \
    " code=CASE WHEN session IN (SELECT id FROM sessions) THEN code ELSE '' END"                   \
    " WHERE completed_at IS NOT NULL"                                                              \
    " AND (results IS NOT NULL OR session NOT IN (SELECT id FROM sessions)) AND "

void cbx_store_limit_counts(struct cbx_store *store)
{
    enum { EVERY = 256 };
    char kept[24], known[24];
    const char *const values[] = { kept, known };
    if (atomic_fetch_add(&store->added, 1) % EVERY != 0) {
        return;
    }
    snprintf(kept, sizeof(kept), "%lld", (long long)store->limits.executions);
    snprintf(known, sizeof(known), "%lld", (long long)store->limits.known);
    cbx_store_execute(store,
                      DROP "rowid IN (SELECT id FROM sizes WHERE id <"
                           " (SELECT max(rowid) FROM executions) - CAST(? AS INTEGER))",
                      values, 1, NULL, NULL);
    cbx_store_execute(store,
                      "DELETE FROM executions WHERE completed_at IS NOT NULL AND session NOT IN"
                      " (SELECT id FROM sessions) AND rowid <"
                      " (SELECT max(rowid) FROM executions) - CAST(? AS INTEGER)",
                      values + 1, 1, NULL, NULL);
}

static int64_t bytes_of(const struct cbx_store *store, const char *session)
{
    return session == NULL
               ? store->all_bytes
               : (int64_t)json_integer_value(json_object_get(store->session_bytes, session));
}

/* One-shots are no session. */
void cbx_store_count_bytes(struct cbx_store *store, const char *session, int64_t bytes)
{
    store->all_bytes += bytes;
    if (session[0] != '\0') {
        json_object_set_new(store->session_bytes, session,
                            json_integer((json_int_t)(bytes_of(store, session) + bytes)));
    }
}

/* With the lock: counts anew. */
int cbx_store_count_all(struct cbx_store *store, struct cbx_err *err)
{
    sqlite3_stmt *rows = cbx_store_prepare(
        store, "SELECT session, sum(code + results) FROM sizes GROUP BY session", NULL, 0);
    int step = SQLITE_ERROR;
    store->all_bytes = 0;
    json_object_clear(store->session_bytes);
    while (rows != NULL && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        cbx_store_count_bytes(store, (const char *)sqlite3_column_text(rows, 0),
                              sqlite3_column_int64(rows, 1));
    }
    cbx_store_release(rows);
    return step == SQLITE_DONE ? 0 : cbx_store_fail(store, err);
}

/* What can be dropped of one row. */
struct droppable {
    int64_t id, bytes;
};
enum { BATCH = 64 };

/* With the lock: the oldest rows of which something can be dropped, of all sessions for NULL. -1 when
 * the database fails. */
static int find_droppable(struct cbx_store *store, const char *session, struct droppable out[BATCH])
{
    const char *const values[] = { session };
    sqlite3_stmt *rows = cbx_store_prepare(
        store,
        "SELECT id, bytes FROM (SELECT s.id AS id, s.results +"
        " CASE WHEN s.session IN (SELECT id FROM sessions) THEN 0 ELSE s.code END AS bytes"
        " FROM sizes s JOIN executions e ON e.rowid=s.id"
        " WHERE (?1 IS NULL OR s.session=?1) AND e.completed_at IS NOT NULL)"
        " WHERE bytes>0 ORDER BY id LIMIT 64",
        values, 1);
    int count = 0, step = SQLITE_ERROR;
    while (rows != NULL && (step = sqlite3_step(rows)) == SQLITE_ROW && count < BATCH) {
        out[count].id = sqlite3_column_int64(rows, 0);
        out[count++].bytes = sqlite3_column_int64(rows, 1);
    }
    cbx_store_release(rows);
    return step == SQLITE_DONE ? count : -1;
}

/* With the lock, in a transaction: drops the oldest until at most `most` bytes are left, or nothing is
 * left to drop. */
static int drop_oldest(struct cbx_store *store, const char *session, int64_t most,
                       struct cbx_err *err)
{
    struct droppable rows[BATCH];
    int64_t left = bytes_of(store, session);
    int count = BATCH, failed = 0;
    while (!failed && left > most && count > 0) {
        count = find_droppable(store, session, rows);
        failed = count < 0 ? cbx_store_fail(store, err) : 0;
        for (int i = 0; i < count && !failed && left > most; i++) {
            char id[24];
            const char *const values[] = { id };
            snprintf(id, sizeof(id), "%lld", (long long)rows[i].id);
            failed = cbx_store_execute_locked(store, DROP "rowid=CAST(? AS INTEGER)", values, 1,
                                              NULL, err);
            left -= rows[i].bytes;
        }
    }
    return failed ? failed : cbx_store_count_all(store, err);
}

/* With the lock: makes room for `bytes` more below `quota`. The counts may be too high: they are
 * made anew before anything is dropped. More is dropped than is needed, so that a full store does not
 * count with each execution. CBX_ETOOBIG when what cannot be dropped is too much. */
static int make_room_below(struct cbx_store *store, const char *session, int64_t quota,
                           int64_t bytes, struct cbx_err *err)
{
    if (bytes_of(store, session) + bytes <= quota) {
        return 0;
    }
    int failed = cbx_store_count_all(store, err);
    if (failed || bytes_of(store, session) + bytes <= quota) {
        return failed;
    }
    int64_t most = quota - quota / 8 - bytes;
    failed = cbx_store_run(store, "BEGIN") ? drop_oldest(store, session, most > 0 ? most : 0, err)
                                           : cbx_store_fail(store, err);
    if (failed || !cbx_store_run(store, "COMMIT")) {
        failed = failed ? failed : cbx_store_fail(store, err);
        cbx_store_run(store, "ROLLBACK");
        cbx_store_count_all(store, NULL);
        return failed;
    }
    return bytes_of(store, session) + bytes <= quota ? 0 : CBX_ETOOBIG;
}

/* With the lock. */
int cbx_store_make_room(struct cbx_store *store, const char *session, int64_t bytes,
                        struct cbx_err *err)
{
    enum { MIB = 1024 * 1024 };
    int failed = session[0] != '\0'
                     ? make_room_below(store, session, store->limits.session_bytes, bytes, err)
                     : 0;
    if (failed == CBX_ETOOBIG) {
        return cbx_fail(
            err, CBX_ETOOBIG,
            "the code of the session, which cannot be dropped, leaves no room below %lld "
            "MiB; open a new session",
            (long long)(store->limits.session_bytes / MIB));
    }
    failed = failed ? failed : make_room_below(store, NULL, store->limits.store_bytes, bytes, err);
    return failed != CBX_ETOOBIG
               ? failed
               : cbx_fail(err, CBX_EBUSY,
                          "the code of open sessions and what runs leave no room below %lld MiB; "
                          "close sessions, or try again later",
                          (long long)(store->limits.store_bytes / MIB));
}

int cbx_store_check_space(const struct cbx_store *store, int code, struct cbx_err *err)
{
    enum { MIB = 1024 * 1024 };
    struct statvfs status;
    if (store->dir < 0) { /* in memory */
        return 0;
    }
    if (fstatvfs(store->dir, &status) < 0) {
        return cbx_fail(err, code, "the file system of the state directory: %s", strerror(errno));
    }
    int64_t bytes = (int64_t)status.f_bavail * (int64_t)status.f_frsize;
    return bytes >= store->limits.free_bytes
               ? 0
               : cbx_fail(err, code,
                          "the file system of the state directory has %lld MiB free, and the last "
                          "%lld MiB are left to the audit log; free some space",
                          (long long)(bytes / MIB), (long long)(store->limits.free_bytes / MIB));
}

size_t cbx_store_result_max(struct cbx_store *store, const char **reason)
{
    bool full = cbx_store_check_space(store, CBX_EIO, NULL) != 0;
    *reason = full ? "the file system of the state directory is full"
                   : "the results of one execution may not be larger in the store";
    return (size_t)(full ? store->limits.short_bytes : store->limits.execution_bytes);
}
